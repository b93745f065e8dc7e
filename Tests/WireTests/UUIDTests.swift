import Testing

@testable import Wire

@Suite struct UUIDTests {
    @Test("The published example of version 7 (RFC 9562, A.6) comes out of its time and random bits")
    func publishedVersion7() {
        let made = UUID.v7(milliseconds: 0x017F_22E2_79B0, entropy: (0xCC3, 0x18C4_DC0C_0C07_398F))
        #expect(made.description == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test(
        "Published examples of other versions are read and written back in lower case",
        arguments: [
            "C232AB00-9414-11EC-B3C8-9F6BDECED846",
            "5df41881-3aed-3515-88a7-2f4a814cf09e",
            "919108F7-52D1-4320-9BAC-F847DB4148A8",
            "2ed6657d-e927-568b-95e1-2665a8aea6a2",
            "00000000-0000-0000-0000-000000000000",
            "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        ])
    func published(text: String) throws {
        let uuid = try #require(UUID(text))
        #expect(uuid.description == text.lowercased())
        #expect(UUID(text.uppercased()) == uuid)
        #expect(UUID(bytes: uuid.bytes) == uuid)
    }

    @Test(
        "Anything but 8-4-4-4-12 digits is refused",
        arguments: [
            "", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
            "017f22e279b07cc398c4dc0c0c07398f", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
            "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
            "017f22e27-9b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4_dc0c0c07398f",
            " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n",
            "+17f22e2-79b0-7cc3-98c4-dc0c0c07398f", "é17f22e-79b0-7cc3-98c4-dc0c0c07398fa",
        ])
    func refused(text: String) {
        #expect(UUID(text) == nil)
    }

    @Test("Sixteen bytes make an identifier, fifteen and seventeen do not")
    func lengths() {
        #expect(UUID(bytes: [UInt8](repeating: 1, count: 16)) != nil)
        #expect(UUID(bytes: [UInt8](repeating: 1, count: 15)) == nil)
        #expect(UUID(bytes: [UInt8](repeating: 1, count: 17)) == nil)
    }

    @Test(
        "Version and variant stand whatever the entropy, and times beyond 48 bits are clamped",
        arguments: [
            (Int64.min, "00000000-0000-7"), (-1, "00000000-0000-7"), (0, "00000000-0000-7"),
            (1 << 48, "ffffffff-ffff-7"), (Int64.max, "ffffffff-ffff-7"),
        ])
    func clamped(milliseconds: Int64, prefix: String) {
        for entropy in [UInt64.min, .max] {
            let uuid = UUID.v7(milliseconds: milliseconds, entropy: (entropy, entropy))
            #expect(uuid.description.hasPrefix(prefix))
            #expect(uuid.low >> 62 == 2)
        }
    }

    @Test("Order follows time, text and bytes alike")
    func order() throws {
        var generator = Generator(seed: 7)
        for _ in 0..<500 {
            let one = UUID(high: generator.next(), low: generator.next())
            let other = UUID(high: generator.number(below: 2) == 0 ? one.high : generator.next(), low: generator.next())
            #expect((one < other) == (one.description < other.description))
            #expect((one < other) == one.bytes.lexicographicallyPrecedes(other.bytes))
            #expect(UUID(one.description) == one)
        }
        let earlier = UUID.v7(milliseconds: 1_000, entropy: (.max, .max))
        #expect(earlier < UUID.v7(milliseconds: 1_001, entropy: (0, 0)))
    }
}
