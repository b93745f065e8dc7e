import Crypto
import Testing

@Suite struct PKCETests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test func `RFC 7636 appendix B holds`() {
        #expect(PKCE.challenge(verifier: Self.verifier) == Self.challenge)
        #expect(PKCE.matches(verifier: Self.verifier, challenge: Self.challenge))
    }

    @Test(arguments: [
        verifier, String(repeating: "a", count: 43), String(repeating: "~", count: 128),
        "-._~0000000000000000000000000000000000000000",
    ])
    func `a verifier of 43 to 128 unreserved characters is taken`(verifier: String) {
        #expect(PKCE.isWellFormed(verifier: verifier))
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 42), String(repeating: "a", count: 129), "+\(verifier)", "/\(verifier)",
        "=\(verifier)", " \(verifier)", "%\(verifier)", "\u{0}\(verifier)", "é\(verifier)", "\(verifier)\n",
    ])
    func `any other verifier is refused`(verifier: String) {
        #expect(!PKCE.isWellFormed(verifier: verifier))
        #expect(!PKCE.matches(verifier: verifier, challenge: PKCE.challenge(verifier: verifier)))
    }

    @Test(arguments: [
        "", String(challenge.dropLast()), "\(challenge)A", "\(challenge)=", "\(challenge.dropLast())N",
        "\(challenge.dropFirst())+", "\(challenge.dropFirst()) ",
    ])
    func `a challenge that is not 32 bytes in canonical base64url is refused`(challenge: String) {
        #expect(PKCE.isWellFormed(challenge: Self.challenge))
        #expect(!PKCE.isWellFormed(challenge: challenge))
    }

    @Test func `another verifier, a malformed one or the plain method do not match`() {
        let short = "short"
        #expect(!PKCE.matches(verifier: Self.verifier + "a", challenge: Self.challenge))
        #expect(!PKCE.matches(verifier: short, challenge: PKCE.challenge(verifier: short)))
        #expect(!PKCE.matches(verifier: Self.verifier, challenge: Self.verifier))
        #expect(!PKCE.matches(verifier: Self.verifier, challenge: ""))
    }
}
