import CSodium
import Foundation

/// A device's keys as an app on Apple's systems would hold them in CryptoKit.
struct Keys {
    let identity: Data
    let agreement: Data
    private let identitySecret: [UInt8]
    private let agreementSecret: [UInt8]

    init() {
        var publicKey = [UInt8](repeating: 0, count: 32)
        var secret = [UInt8](repeating: 0, count: 64)
        crypto_sign_keypair(&publicKey, &secret)
        (identity, identitySecret) = (Data(publicKey), secret)
        secret = [UInt8](repeating: 0, count: 32)
        crypto_box_keypair(&publicKey, &secret)
        (agreement, agreementSecret) = (Data(publicKey), secret)
    }

    /// Proof that this device holds the keys, bound to the session that enrols it.
    func proof(issuer: String, account: UUID, session: UUID) -> Data {
        let lines = [
            "enfilade-enrol-v1", issuer, account.uuidString.lowercased(), session.uuidString.lowercased(),
            "ed25519:" + identity.base64EncodedString(), "x25519:" + agreement.base64EncodedString(),
        ]
        let text = Array(lines.map { $0 + "\n" }.joined().utf8)
        var signature = [UInt8](repeating: 0, count: 64)
        crypto_sign_detached(&signature, nil, text, UInt64(text.count), identitySecret)
        return Data(signature)
    }

    static func seal(_ text: String, for key: Data) -> Data {
        let plain = Array(text.utf8)
        var sealed = [UInt8](repeating: 0, count: plain.count + 48)
        crypto_box_seal(&sealed, plain, UInt64(plain.count), Array(key))
        return Data(sealed)
    }

    func open(_ sealed: Data) -> String? {
        var plain = [UInt8](repeating: 0, count: max(0, sealed.count - 48))
        let status = crypto_box_seal_open(
            &plain, Array(sealed), UInt64(sealed.count), Array(agreement), agreementSecret)
        return status == 0 ? String(decoding: plain, as: UTF8.self) : nil
    }
}

func sha256(_ text: String) -> Data {
    let bytes = Array(text.utf8)
    var hash = [UInt8](repeating: 0, count: 32)
    crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
    return Data(hash)
}

extension Data {
    var base64url: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
