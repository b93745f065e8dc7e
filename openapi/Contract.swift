/// The wire contract, embedded so that `/openapi.yaml` is always that of the running binary.
public enum Contract {
    public static var document: [UInt8] { PackageResources.openapi_yaml }
}
