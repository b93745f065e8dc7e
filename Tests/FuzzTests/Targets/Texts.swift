@testable import Wire

extension FuzzTarget {
    static let texts = [
        FuzzTarget("base64", longest: 256) { bytes in
            expect(Base64.decode(Base64.encode(bytes)) == bytes, "base64 brings every byte back")
            expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes, "base64url brings every byte back")
            let text = bytes.anyText
            if let read = Base64.decode(text) { expect(same(Base64.encode(read), text), "base64 has one spelling") }
            if let read = Base64URL.decode(text) {
                expect(same(Base64URL.encode(read), text), "base64url has one spelling")
            }
        },
        FuzzTarget("hex", longest: 128) { bytes in
            expect(Hex.decode(Hex.encode(bytes)) == bytes, "hexadecimal digits bring every byte back")
            guard let read = Hex.decode(bytes.anyText) else { return }
            expect(same(Hex.encode(read), bytes.anyText.lowercased()), "hexadecimal digits differ in case only")
        },
        FuzzTarget("percent", longest: 256) { bytes in
            if let text = bytes.text, !bytes.contains(0) {
                let written = PercentCoding.encode(text)
                expect(PercentCoding.decode(written).map { same($0, text) } == true, "an escaped text comes back")
                expect(written.utf8.count <= 3 * bytes.count, "an escape takes three bytes at most")
            }
            for plusIsSpace in [false, true] {
                guard let read = PercentCoding.decode(bytes.anyText, plusIsSpace: plusIsSpace) else { continue }
                expect(!read.utf8.contains(0), "no NUL is read")
                expect(read.utf8.count <= bytes.anyText.utf8.count, "reading escapes never makes a text longer")
            }
        },
        FuzzTarget("form", longest: 2048) { bytes in
            guard let pairs = FormCoding.decode(bytes) else { return }
            expect(pairs.count <= FormCoding.maximumPairs, "a form has no more pairs than allowed")
            let written = FormCoding.encode(pairs.map { ($0.name, $0.value) })
            let again = FormCoding.decode(Array(written.utf8)) ?? []
            expect(again.count == pairs.count, "a form written again has as many pairs")
            for (one, other) in zip(pairs, again) {
                expect(
                    same(one.name, other.name) && same(one.value, other.value), "a form written again reads the same")
            }
        },
        FuzzTarget("html", longest: 256) { bytes in
            let text = bytes.anyText
            let escaped = HTMLText.escape(text)
            expect(!escaped.utf8.contains { "<>\"'".utf8.contains($0) }, "nothing can open a tag or end an attribute")
            expect(same(unescaped(escaped), text), "an escaped text means what it meant")
        },
        FuzzTarget("uuid", longest: 40) { bytes in
            if let uuid = UUID(bytes: bytes) {
                expect(uuid.bytes == bytes, "the bytes of an identifier come back")
                expect(UUID(uuid.description) == uuid, "its text comes back")
            }
            guard let uuid = UUID(bytes.anyText) else { return }
            expect(same(uuid.description, bytes.anyText.lowercased()), "texts of an identifier differ in case only")
        },
    ]

    private static func unescaped(_ text: String) -> String {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        let references: [(String, String)] = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
        ]
        while let byte = rest.first {
            if let (reference, meaning) = references.first(where: { rest.starts(with: $0.0.utf8) }) {
                output += meaning.utf8
                rest = rest.dropFirst(reference.utf8.count)
            } else {
                output.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
