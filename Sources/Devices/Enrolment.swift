import API
import Crypto
import Domain

/// A device's request to be enrolled.
struct Enrolment: Sendable {
    let description: DeviceDescription
    let identityKey: [UInt8]
    let agreementKey: [UInt8]
    let signature: [UInt8]

    init(_ fields: inout Fields) {
        description = DeviceDescription(
            name: fields.text("name", DeviceDescription.nameLength),
            platform: fields.choice("platform", of: DeviceDescription.Platform.self)?.rawValue ?? "",
            model: fields.optionalText("model", DeviceDescription.modelLength),
            osVersion: fields.optionalText("osVersion", DeviceDescription.versionLength),
            appVersion: fields.optionalText("appVersion", DeviceDescription.versionLength))
        identityKey = fields.bytes("identityKey", Ed25519.keySize...Ed25519.keySize)
        agreementKey = fields.bytes("agreementKey", X25519.keySize...X25519.keySize)
        signature = fields.bytes("signature", Ed25519.signatureSize...Ed25519.signatureSize)
    }

    /// Why this proves nothing; `nil` when it proves possession of the identity key, to this server and for this session.
    func flaw(issuer: String, account: AccountID, session: SessionID) -> Flaw? {
        guard Ed25519.isAcceptable(publicKey: identityKey) else { return .identityKey }
        guard X25519.isAcceptable(publicKey: agreementKey) else { return .agreementKey }
        let message = EnrolmentProof.message(
            issuer: issuer, accountID: account, sessionID: session, identityKey: identityKey, agreementKey: agreementKey
        )
        guard Ed25519.verify(signature: signature, message: message, publicKey: identityKey) else { return .signature }
        return nil
    }

    /// What is wrong with a proof; the words are those of the audit log.
    enum Flaw: String {
        case identityKey = "bad-identity-key"
        case agreementKey = "bad-agreement-key"
        case signature = "bad-signature"

        var failure: Failure {
            switch self {
            case .identityKey: .invalid("/identityKey", "is not a canonical Ed25519 public key of full order")
            case .agreementKey: .invalid("/agreementKey", "is not a canonical X25519 public key of full order")
            case .signature: .invalid("/signature", "is not the identity key's over the enrolment text of this session")
            }
        }
    }
}
