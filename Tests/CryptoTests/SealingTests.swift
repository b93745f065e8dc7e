import Crypto
import Testing
import Wire

@Suite struct SealingTests {
    private let sealing = countingRootKey().subkey(.sealing)

    @Test(arguments: [0, 1, 32, 1000]) func `what was sealed opens again`(size: Int) throws {
        let plain = SystemEntropy().bytes(size)
        let sealed = sealing.seal(plain, for: "column")
        #expect(sealed.count == size + 41)
        #expect(try sealing.open(sealed, for: "column") == plain)
    }

    @Test func `a value sealed by another implementation opens`() throws {
        let sealed = try bytes(
            "01404142434445464748494a4b4c4d4e4f5051525354555657"
                + "b941dfcd782d7dc57b61229cb6374edfa28c3298f3f27e2acb3da165fc912968a2e1f220b4e41fc71d9b7f")
        #expect(try sealing.open(sealed, for: "one column") == Array("a signing seed of the house".utf8))
    }

    @Test func `the same value is never sealed the same way twice`() {
        #expect(sealing.seal([1], for: "column") != sealing.seal([1], for: "column"))
    }

    @Test func `every changed bit is refused`() {
        let sealed = sealing.seal([1, 2, 3], for: "column")
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: SealingFault.self) { try sealing.open(changed, for: "column") }
        }
    }

    @Test func `every shortened or lengthened value is refused`() {
        let sealed = sealing.seal([1, 2, 3], for: "column")
        for size in 0..<sealed.count {
            #expect(throws: SealingFault.self) { try sealing.open(Array(sealed.prefix(size)), for: "column") }
        }
        #expect(throws: SealingFault.self) { try sealing.open(sealed + [0], for: "column") }
    }

    @Test func `another context or another root key does not open it`() {
        let sealed = sealing.seal([1], for: "column")
        #expect(throws: SealingFault.self) { try sealing.open(sealed, for: "other column") }
        let stranger = RootKey(SecretBytes(random: RootKey.size)).subkey(.sealing)
        #expect(throws: SealingFault.self) { try stranger.open(sealed, for: "column") }
    }
}
