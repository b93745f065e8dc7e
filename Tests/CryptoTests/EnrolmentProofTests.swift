import CSodium
import Crypto
import Domain
import Testing
import Wire

/// The published vector of device enrolment: clients check their own assembly and signature against it.
@Suite struct EnrolmentProofTests {
    private static let identitySeed = [UInt8](1...32)
    private static let agreementSecret = [UInt8](33...64)
    private static let text = """
        enfilade-enrol-v1
        https://enfilade.example
        01936f2b-7c40-7d15-9b3e-2f6a8c1d0e57
        01936f2b-9a11-7f02-8c44-51b7d3e9a6f0
        ed25519:ebVWLo/mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ=
        x25519:WGmv9FBUlzLLqu1eXfmzCm2jHLDldCutWtShp2jxpns=

        """
    private static let signature =
        "qg48ZCkpyYbSjNjpkpc+HR9w9rKdExKSRG0vnwGuX4UKRzMMZJnI6Bz1K65TQKrfCMiAGTNSfRUJXAbsu4r9AA=="

    @Test func `the published vector holds`() throws {
        let key = try #require(SigningKey(seed: Self.identitySeed))
        var agreementKey = [UInt8](repeating: 0, count: X25519.keySize)
        #expect(crypto_scalarmult_base(&agreementKey, Self.agreementSecret) == 0)
        // Upper-case ids name the same account and session, so they are signed in lower case.
        let message = EnrolmentProof.message(
            issuer: "https://enfilade.example",
            accountID: try #require(AccountID("01936F2B-7C40-7D15-9B3E-2F6A8C1D0E57")),
            sessionID: try #require(SessionID("01936f2b-9a11-7f02-8c44-51b7d3e9a6f0")),
            identityKey: key.publicKey, agreementKey: agreementKey)
        #expect(String(decoding: message, as: UTF8.self) == Self.text)
        #expect(Base64.encode(key.sign(message)) == Self.signature)
        #expect(Ed25519.isAcceptable(publicKey: key.publicKey))
        #expect(X25519.isAcceptable(publicKey: agreementKey))
    }

    @Test func `a proof made for another server, account, session or key does not verify`() throws {
        let key = try #require(SigningKey(seed: Self.identitySeed))
        let signature = try #require(Base64.decode(Self.signature))
        let lines = Self.text.split(separator: "\n").map(String.init)
        for index in lines.indices {
            var changed = lines
            changed[index] += "a"
            let message = Array((changed.joined(separator: "\n") + "\n").utf8)
            #expect(!Ed25519.verify(signature: signature, message: message, publicKey: key.publicKey))
        }
        #expect(Ed25519.verify(signature: signature, message: Array(Self.text.utf8), publicKey: key.publicKey))
        let withoutLastLineFeed = Array(Self.text.utf8.dropLast())
        #expect(!Ed25519.verify(signature: signature, message: withoutLastLineFeed, publicKey: key.publicKey))
    }
}
