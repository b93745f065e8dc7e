import Crypto
import Testing

@Suite struct PasswordHashTests {
    private let cheap = PasswordHash.Cost.minimum

    @Test func `a hash is argon2id, salted, and verifies its password only`() throws {
        let hash = try PasswordHash.hash("correct horse", cost: cheap)
        #expect(hash.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
        #expect(try PasswordHash.hash("correct horse", cost: cheap) != hash)
        #expect(PasswordHash.verify("correct horse", hash: hash, cost: cheap))
        #expect(!PasswordHash.verify("correct horsE", hash: hash, cost: cheap))
        #expect(!PasswordHash.verify("correct horse ", hash: hash, cost: cheap))
        #expect(!PasswordHash.verify("", hash: hash, cost: cheap))
    }

    @Test func `bytes and text of a password are the same password`() throws {
        let hash = try PasswordHash.hash("Zoë", cost: cheap)
        #expect(PasswordHash.verify([0x5a, 0x6f, 0xc3, 0xab], hash: hash, cost: cheap))
    }

    @Test func `an empty password and one with a NUL are hashed whole`() throws {
        #expect(PasswordHash.verify("", hash: try PasswordHash.hash("", cost: cheap), cost: cheap))
        let hash = try PasswordHash.hash("a\u{0}b", cost: cheap)
        #expect(!PasswordHash.verify("a", hash: hash, cost: cheap))
        #expect(!PasswordHash.verify("a\u{0}c", hash: hash, cost: cheap))
    }

    @Test func `a hash made by the reference implementation verifies`() {
        let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
        #expect(PasswordHash.verify("password", hash: hash, cost: cheap))
        #expect(!PasswordHash.verify("passwore", hash: hash, cost: cheap))
    }

    @Test(arguments: ["", "x", "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA", "$2b$12$abcdefghijklmnopqrstuv"])
    func `a damaged hash verifies nothing and asks to be replaced`(hash: String) {
        #expect(!PasswordHash.verify("", hash: hash, cost: cheap))
        #expect(PasswordHash.needsRehash(hash, cost: cheap))
    }

    @Test func `a hash asks to be replaced when its cost or function is another`() throws {
        let dearer = try #require(PasswordHash.Cost(opslimit: 2, memlimit: 16 << 10))
        let hash = try PasswordHash.hash("p", cost: cheap)
        #expect(!PasswordHash.needsRehash(hash, cost: cheap))
        #expect(PasswordHash.needsRehash(hash, cost: dearer))
        #expect(PasswordHash.needsRehash(try PasswordHash.hash("p", cost: dearer), cost: cheap))
        let older = "$argon2i" + hash.dropFirst("$argon2id".count)
        #expect(PasswordHash.needsRehash(older, cost: cheap))
    }

    @Test func `an unknown name is refused, whatever the password`() {
        #expect(!PasswordHash.verify("p", hash: nil, cost: cheap))
        #expect(!PasswordHash.verify("", hash: nil, cost: cheap))
    }

    @Test func `the decoy is one valid hash for each cost`() throws {
        let decoy = try #require(PasswordHash.decoy(cost: cheap))
        #expect(PasswordHash.decoy(cost: cheap) == decoy)
        #expect(!PasswordHash.needsRehash(decoy, cost: cheap))
        #expect(!PasswordHash.verify("p", hash: decoy, cost: cheap))
        let dearer = try #require(PasswordHash.Cost(opslimit: 2, memlimit: 16 << 10))
        #expect(PasswordHash.decoy(cost: dearer) != decoy)
    }

    @Test func `an unknown name takes the time of a known one`() throws {
        let cost = try #require(PasswordHash.Cost(opslimit: 4, memlimit: 4 << 20))
        let hash = try PasswordHash.hash("known", cost: cost)
        PasswordHash.decoy(cost: cost)
        let known = fastest { _ = PasswordHash.verify("wrong", hash: hash, cost: cost) }
        let unknown = fastest { _ = PasswordHash.verify("wrong", hash: nil, cost: cost) }
        // Far wider than the noise, far narrower than leaving the hash out.
        #expect(unknown > known / 4 && known > unknown / 4)
    }

    @Test(arguments: [
        (0, 64 << 20), (65, 64 << 20), (-1, 64 << 20), (2, 0), (2, (8 << 10) - 1), (2, (4 << 30) + 1), (2, -1),
    ])
    func `a cost out of range is refused`(opslimit: Int, memlimit: Int) {
        #expect(PasswordHash.Cost(opslimit: opslimit, memlimit: memlimit) == nil)
    }

    private func fastest(_ work: () -> Void) -> Duration {
        (0..<5).map { _ in ContinuousClock().measure(work) }.min() ?? .zero
    }
}
