import Crypto
import Glibc
import Testing

@Suite struct SecretTests {
    @Test func `a secret lends the bytes it was made of`() {
        let secret = SecretBytes(copying: [3, 1, 4, 1, 5])
        #expect(secret.count == 5)
        #expect(secret.withBytes { Array($0) } == [3, 1, 4, 1, 5])
    }

    @Test func `an empty secret lends nothing`() {
        #expect(SecretBytes(copying: []).withBytes { $0.count } == 0)
    }

    @Test func `copying leaves an array that is still in use as it was`() {
        let source: [UInt8] = [1, 2, 3]
        let secret = SecretBytes(copying: source)
        #expect(source == [1, 2, 3])
        #expect(secret.withBytes { Array($0) } == source)
    }

    @Test func `wiping leaves only zeros`() {
        var bytes: [UInt8] = [1, 2, 3]
        SecretBytes.wipe(&bytes)
        #expect(bytes == [0, 0, 0])
        var none: [UInt8] = []
        SecretBytes.wipe(&none)
        #expect(none.isEmpty)
    }

    @Test func `random secrets and random bytes do not repeat`() {
        let one = SecretBytes(random: 32).withBytes { Array($0) }
        let other = SecretBytes(random: 32).withBytes { Array($0) }
        #expect(one != other)
        let entropy = SystemEntropy()
        #expect(entropy.bytes(32) != entropy.bytes(32))
        #expect((0...3).map { entropy.bytes($0).count } == [0, 1, 2, 3])
    }

    @Test func `secrets that are let go give their memory back, also after a refusal`() throws {
        let sealing = countingRootKey().subkey(.sealing)
        let before = try mappings()
        for _ in 0..<4000 {
            _ = SecretBytes(random: 32)
            #expect(throws: SealingFault.self) { try SigningKey(opening: [1, 2, 3], by: sealing) }
        }
        // Each guarded secret takes several mappings, so a leak would show as thousands.
        #expect(try mappings() < before + 2000)
    }

    private func mappings() throws -> Int {
        let file = try #require(fopen("/proc/self/maps", "r"))
        defer { fclose(file) }
        var lines = 0
        while case let byte = getc(file), byte != EOF {
            if byte == 0x0a { lines += 1 }
        }
        return lines
    }
}
