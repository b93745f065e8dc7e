import Crypto
import Testing
import Wire

@Suite struct JWSTests {
    private let key: SigningKey
    private let keys: [String: [UInt8]]
    private let good: String

    init() throws {
        key = try rfcKey()
        keys = [key.keyID: key.publicKey]
        good = JWS.sign(type: "at+jwt", payload: Array(#"{"sub":"a"}"#.utf8), key: key)
    }

    @Test func `the signature of RFC 8037 A.4 is made again`() throws {
        let input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        #expect(
            Base64URL.encode(key.sign(Array(input.utf8)))
                == "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
    }

    @Test func `a signed payload comes back, under a header of three members`() throws {
        #expect(try JWS.verify(good, keys: keys, type: "at+jwt") == Array(#"{"sub":"a"}"#.utf8))
        let header = try #require(Base64URL.decode(String(good.prefix { $0 != "." })))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"EdDSA","kid":"\#(key.keyID)","typ":"at+jwt"}"#)
    }

    @Test(arguments: ["at+jwt", "AT+JWT", "application/at+jwt", "Application/At+Jwt"])
    func `the type is compared without case and prefix`(type: String) throws {
        let text = JWS.sign(type: type, payload: [1], key: key)
        #expect(try JWS.verify(text, keys: keys, type: "at+jwt") == [1])
        #expect(try JWS.verify(good, keys: keys, type: type) == Array(#"{"sub":"a"}"#.utf8))
    }

    @Test(
        arguments: [
            (#"{"alg":"none","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"None","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"HS256","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"RS256","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"ES256","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"eddsa","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"EdDSA ","kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":["EdDSA"],"kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":null,"kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"kid":"K","typ":"at+jwt"}"#, .algorithm),
            (#"{"alg":"EdDSA","kid":"other","typ":"at+jwt"}"#, .unknownKey),
            (#"{"alg":"EdDSA","kid":"","typ":"at+jwt"}"#, .unknownKey),
            (#"{"alg":"EdDSA","kid":1,"typ":"at+jwt"}"#, .unknownKey),
            (#"{"alg":"EdDSA","typ":"at+jwt"}"#, .unknownKey),
            (#"{"alg":"EdDSA","kid":"K","typ":"JWT"}"#, .type),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt+x"}"#, .type),
            (#"{"alg":"EdDSA","kid":"K","typ":"text/at+jwt"}"#, .type),
            (#"{"alg":"EdDSA","kid":"K","typ":"application/application/at+jwt"}"#, .type),
            (#"{"alg":"EdDSA","kid":"K","typ":["at+jwt"]}"#, .type),
            (#"{"alg":"EdDSA","kid":"K","typ":""}"#, .type),
            (#"{"alg":"EdDSA","kid":"K"}"#, .type),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt","crit":["exp"],"exp":1}"#, .critical),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt","crit":[]}"#, .critical),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt","b64":false}"#, .critical),
            (#"{"alg":"none","alg":"EdDSA","kid":"K","typ":"at+jwt"}"#, .malformed),
            (#"{"alg":"EdDSA","kid":"K","kid":"K","typ":"at+jwt"}"#, .malformed),
            (#"{"alg":"EdDSA","kid":"K","typ":"JWT","t\u0079p":"at+jwt"}"#, .malformed),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt"} x"#, .malformed),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt""#, .malformed),
            (#"{"alg":"EdDSA","kid":"K","typ":"at+jwt","a":[[[[[[1]]]]]]}"#, .malformed),
            (#"["EdDSA","K","at+jwt"]"#, .malformed),
            (#""EdDSA""#, .malformed),
            ("", .malformed),
        ] as [(String, JWSFault)])
    func `a header that says anything else is refused, though well signed`(header: String, fault: JWSFault) {
        let text = signed(header: header.replacing(#""K""#, with: #""\#(key.keyID)""#), by: key)
        #expect(throws: fault) { try JWS.verify(text, keys: keys, type: "at+jwt") }
    }

    @Test func `members nobody asked for are ignored, above all a key that comes along`() throws {
        let stranger = SigningKey.generate()
        let jwk = String(decoding: JWK.okp(stranger.publicKey, keyID: key.keyID), as: UTF8.self)
        let header = #"{"alg":"EdDSA","kid":"\#(key.keyID)","typ":"at+jwt","jwk":\#(jwk)}"#
        #expect(throws: JWSFault.signature) {
            try JWS.verify(signed(header: header, by: stranger), keys: keys, type: "at+jwt")
        }
        #expect(try JWS.verify(signed(header: header, by: key), keys: keys, type: "at+jwt") == [0x7b, 0x7d])
    }

    @Test(arguments: [
        "", ".", "..", "...", "H", "H.P", "H.P.", ".P.S", "H..S", "H.P.S.", ".H.P.S", "H.P.S.S", "H.P.S.S.S", "H.P.S=",
        "H=.P.S", "H.P=.S", " H.P.S", "H.P.S\n", "H.P.S ", "H. P.S", "H+.P.S", "H.P/.S", "H.P.é", "H.P.S\u{0}", "P.H.S",
        "S.P.H", "H.H.S", "H.P.P", "H.S.P", "P.P.S",
    ])
    func `a text in another shape is refused`(shape: String) {
        let parts = good.split(separator: ".").map(String.init)
        let text = shape.replacing("H", with: "\u{1}").replacing("P", with: "\u{2}").replacing("S", with: "\u{3}")
            .replacing("\u{1}", with: parts[0]).replacing("\u{2}", with: parts[1]).replacing("\u{3}", with: parts[2])
        #expect(throws: JWSFault.self) { try JWS.verify(text, keys: keys, type: "at+jwt") }
    }

    @Test func `every single changed character is refused`() {
        for index in good.indices {
            for character in ["A", "B", "_", "=", "."] where character != String(good[index]) {
                let text = good[..<index] + character + good[good.index(after: index)...]
                #expect(throws: JWSFault.self) { try JWS.verify(String(text), keys: keys, type: "at+jwt") }
            }
        }
    }

    @Test func `unused bits at the end of the signature are refused`() throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let character = try #require(good.last)
        let last = try #require(alphabet.firstIndex(of: character))
        for bits in 1...15 {
            let text = good.dropLast() + String(alphabet[last ^ bits])
            #expect(throws: JWSFault.malformed) { try JWS.verify(String(text), keys: keys, type: "at+jwt") }
        }
    }

    @Test func `a signature by another key, of another text or of another length is refused`() {
        let other = SigningKey.generate()
        let input = good.split(separator: ".").prefix(2).joined(separator: ".")
        let signatures = [
            other.sign(Array(input.utf8)), key.sign(Array("x.y".utf8)), Array(key.sign(Array(input.utf8)).dropLast()),
            key.sign(Array(input.utf8)) + [0], [],
        ]
        for signature in signatures {
            let text = input + "." + Base64URL.encode(signature)
            #expect(throws: JWSFault.signature) { try JWS.verify(text, keys: keys, type: "at+jwt") }
        }
        #expect(throws: JWSFault.unknownKey) { try JWS.verify(good, keys: [:], type: "at+jwt") }
    }

    @Test func `a text of 4 KiB is read and one byte more is not`() throws {
        var payload = [UInt8](repeating: 0x20, count: 3000)
        while JWS.sign(type: "at+jwt", payload: payload, key: key).utf8.count > JWS.maximumSize { payload.removeLast() }
        let fits = JWS.sign(type: "at+jwt", payload: payload, key: key)
        #expect(try JWS.verify(fits, keys: keys, type: "at+jwt") == payload)
        let over = JWS.sign(type: "at+jwt", payload: payload + [0x20, 0x20], key: key)
        #expect(throws: JWSFault.tooLarge) { try JWS.verify(over, keys: keys, type: "at+jwt") }
    }

    private func signed(header: String, by key: SigningKey) -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode([0x7b, 0x7d])
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }
}
