package import Crypto
import Domain
package import Wire

/// A device with keys it made itself, enrolled for a session.
package struct EnrolledDevice: Sendable {
    package let owner: SignedIn
    package let id: UUID
    package let identity: SigningKey
    package let agreementKey: [UInt8]

    /// The same device at another node.
    package func at(_ site: any Site) -> EnrolledDevice {
        EnrolledDevice(owner: owner.at(site), id: id, identity: identity, agreementKey: agreementKey)
    }

    /// A message to explicit devices, with `text` standing in for ciphertext.
    package func message(
        _ id: UUID, to recipients: [(account: UUID, devices: [UUID])], text: String, more: [(String, JSON)] = []
    ) -> JSON {
        let recipients = recipients.map { recipient -> JSON in
            let envelopes = recipient.devices.map { device -> JSON in
                [
                    "deviceId": .string(device.description), "keyVersion": 1,
                    "ciphertext": .string(Base64.encode(Array(text.utf8))),
                ]
            }
            return [
                "accountId": .string(recipient.account.description), "deviceListVersion": 0,
                "envelopes": .array(envelopes),
            ]
        }
        var object: JSON.Object = ["id": .string(id.description), "recipients": .array(recipients)]
        for (name, value) in more { object[name] = value }
        return .object(object)
    }

    /// Sends a message to one other device; the answer as it came.
    package func send(_ text: String, to other: EnrolledDevice, id: UUID? = nil) async throws -> Client.Answer {
        let entropy = SystemEntropy()
        let id = id ?? entropy.uuid(at: owner.server.clock.now())
        let body = message(id, to: [(other.owner.account, [other.id])], text: text)
        return try await owner.call("POST", "/v1/messages", body)
    }
}

extension SignedIn {
    /// Makes keys and enrols this session's device.
    package func enrol(name: String = "iPhone", platform: String = "iOS") async throws -> EnrolledDevice {
        let identity = SigningKey.generate()
        let agreementKey = SystemEntropy().x25519PublicKey()
        let answer = try await enrol(identity, agreementKey, name: name, platform: platform)
        guard answer.status == 201, let id = answer["id"]?.text.flatMap(UUID.init) else {
            throw TestServer.Fault("enrol: \(answer.status) \(answer.text)")
        }
        return EnrolledDevice(owner: self, id: id, identity: identity, agreementKey: agreementKey)
    }

    package func enrol(
        _ identity: SigningKey, _ agreementKey: [UInt8], name: String = "iPhone", platform: String = "iOS"
    ) async throws -> Client.Answer {
        let proof = EnrolmentProof.message(
            issuer: server.issuer, accountID: AccountID(account), sessionID: SessionID(session),
            identityKey: identity.publicKey, agreementKey: agreementKey)
        return try await call(
            "POST", "/v1/devices",
            [
                "name": .string(name), "platform": .string(platform),
                "identityKey": .string(Base64.encode(identity.publicKey)),
                "agreementKey": .string(Base64.encode(agreementKey)),
                "signature": .string(Base64.encode(identity.sign(proof))),
            ])
    }
}

extension SystemEntropy {
    /// A public key that passes: any canonical point of full order does, and nobody decrypts here.
    fileprivate func x25519PublicKey() -> [UInt8] {
        while true {
            var key = bytes(32)
            key[31] &= 0x7F
            if X25519.isAcceptable(publicKey: key) { return key }
        }
    }
}
