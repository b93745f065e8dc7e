/// What this binary is.
public enum Program {
    public static let version = "0.1.0"
}
