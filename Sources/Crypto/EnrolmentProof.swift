public import Domain
import Wire

/// What a device signs with its identity key to enrol.
///
/// It proves possession of that key to one server, for one account and session.
public enum EnrolmentProof {
    /// The signed text: UTF-8 lines, each ending in a line feed; ids in lower case, keys in padded base64.
    public static func message(
        issuer: String, accountID: AccountID, sessionID: SessionID, identityKey: [UInt8], agreementKey: [UInt8]
    ) -> [UInt8] {
        let lines = [
            "enfilade-enrol-v1",
            issuer,
            accountID.description,
            sessionID.description,
            "ed25519:" + Base64.encode(identityKey),
            "x25519:" + Base64.encode(agreementKey),
        ]
        return lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }
}
