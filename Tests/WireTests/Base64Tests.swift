import Testing

@testable import Wire

@Suite struct Base64Tests {
    @Test(
        "The vectors of RFC 4648 §10 hold in both directions",
        arguments: [
            ("", "", ""), ("f", "Zg==", "66"), ("fo", "Zm8=", "666f"), ("foo", "Zm9v", "666f6f"),
            ("foob", "Zm9vYg==", "666f6f62"), ("fooba", "Zm9vYmE=", "666f6f6261"),
            ("foobar", "Zm9vYmFy", "666f6f626172"),
        ])
    func published(plain: String, base64: String, hex: String) {
        let bytes = Array(plain.utf8)
        let unpadded = String(base64.prefix { $0 != "=" })
        #expect(Base64.encode(bytes) == base64)
        #expect(Base64.decode(base64) == bytes)
        #expect(Base64URL.encode(bytes) == unpadded)
        #expect(Base64URL.decode(unpadded) == bytes)
        #expect(Hex.encode(bytes) == hex)
        #expect(Hex.decode(hex.uppercased()) == bytes)
    }

    @Test("Each alphabet has its own last two symbols")
    func alphabets() {
        #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
        #expect(Base64URL.encode([0xFB, 0xFF, 0xBF]) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64URL.decode("+/+/") == nil)
    }

    @Test(
        "Standard base64 refuses all but the one spelling",
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "Zm8", "Zm8==", "=", "==", "====", "Zm9v=", "Zm9v==", "Zm9v====", "Z===", "Zh==",
            "Zm9=", "Zm9vYh==", "Zg==Zg==", "Zg=a", "=Zg=", "Z=g=", "Zm 9v", " Zm9v", "Zm9v\n", "Zm9v\r\n", "Zm9*",
            "Zm9\u{0}",
            "Zmé", "Zm9vé===", "ＺＺ",
        ])
    func refusedStandard(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(
        "URL base64 refuses padding, stray bits and impossible lengths",
        arguments: [
            "Z", "Zg==", "Zm8=", "Zm9vY", "Zh", "Zm9", "Zm9vYh", "Zm9v=", "Z g", "Zg\n", "Zg.", "é", "Zm9vZm9vZ",
        ])
    func refusedURL(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(
        "Hex refuses odd lengths and strangers", arguments: ["0", "000", "0g", "g0", "0x00", " 00", "00 ", "é", "--"])
    func refusedHex(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test("Bytes of every length come back, and one changed symbol is never taken for the same bytes")
    func roundTrip() {
        var generator = Generator(seed: 64)
        for length in 0..<300 {
            let bytes = generator.bytes(length)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
            var changed = Array(Base64URL.encode(bytes).utf8)
            guard !changed.isEmpty else { continue }
            let place = generator.number(below: changed.count)
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(Base64URL.decode(String(decoding: changed, as: UTF8.self)) != bytes)
        }
    }

    @Test("A text that is decoded is the text its bytes are encoded to")
    func canonical() {
        var generator = Generator(seed: 65)
        let symbols = Array("ABwxyz019+/=-_ ")
        for _ in 0..<20_000 {
            let text = String(
                (0..<generator.number(below: 9)).map { _ in symbols[generator.number(below: symbols.count)] })
            if let bytes = Base64.decode(text) { #expect(Base64.encode(bytes) == text) }
            if let bytes = Base64URL.decode(text) { #expect(Base64URL.encode(bytes) == text) }
        }
    }
}
