import CSodium
import Synchronization

/// A password could not be hashed: the memory that its cost asks for is not there.
public struct PasswordFault: Error, Equatable, CustomStringConvertible {
    public var description: String { "not enough memory to hash a password at the configured cost" }
}

/// Passwords as argon2id in PHC string form.
///
/// Every call here is meant to be slow and blocks its thread: run it on a lane. Passwords given as bytes are wiped.
public enum PasswordHash {
    /// What one hash costs.
    public struct Cost: Hashable, Sendable {
        /// Passes over the memory.
        public let opslimit: Int
        /// Memory in bytes.
        public let memlimit: Int

        /// Two passes over 64 MiB.
        public static let standard = Cost(passes: 2, bytes: 64 << 20)
        /// The least that argon2id takes.
        ///
        /// For tests: it protects nothing.
        public static let minimum = Cost(
            passes: Int(crypto_pwhash_argon2id_OPSLIMIT_MIN), bytes: Int(crypto_pwhash_argon2id_MEMLIMIT_MIN))

        /// A cost of 1 to 64 passes over 8 KiB to 4 GiB; `nil` outside.
        public init?(opslimit: Int, memlimit: Int) {
            guard (1...64).contains(opslimit), (8 << 10...4 << 30).contains(memlimit) else { return nil }
            self.init(passes: opslimit, bytes: memlimit)
        }

        private init(passes: Int, bytes: Int) {
            opslimit = passes
            memlimit = bytes
        }
    }

    private static let decoys = Mutex<[Cost: String]>([:])

    /// A new hash of a password.
    public static func hash(_ password: consuming [UInt8], cost: Cost = .standard) throws(PasswordFault) -> String {
        let secret = SecretBytes(copying: password)
        let size = Int(crypto_pwhash_STRBYTES)
        let text = secret.withCharacters { characters in
            Sodium.output(size) { target in
                target.withMemoryRebound(to: CChar.self, capacity: size) {
                    crypto_pwhash_str_alg(
                        $0, characters, UInt64(secret.count), UInt64(cost.opslimit), cost.memlimit,
                        crypto_pwhash_ALG_ARGON2ID13)
                }
            }
        }
        guard let text else { throw PasswordFault() }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// A new hash of a password's UTF-8.
    public static func hash(_ password: String, cost: Cost = .standard) throws(PasswordFault) -> String {
        try hash(Array(password.utf8), cost: cost)
    }

    /// Whether the password is the hash's; without a hash (an unknown name) `false` after the same time.
    public static func verify(_ password: consuming [UInt8], hash: String?, cost: Cost = .standard) -> Bool {
        let secret = SecretBytes(copying: password)
        guard let hash else {
            if let decoy = decoy(cost: cost) { _ = matches(secret, hash: decoy) }
            return false
        }
        return matches(secret, hash: hash)
    }

    /// The same for a password's UTF-8.
    public static func verify(_ password: String, hash: String?, cost: Cost = .standard) -> Bool {
        verify(Array(password.utf8), hash: hash, cost: cost)
    }

    /// Whether a hash was made at another cost or by another function, to be replaced at the next sign-in.
    public static func needsRehash(_ hash: String, cost: Cost = .standard) -> Bool {
        Sodium.start()
        return !hash.hasPrefix(crypto_pwhash_argon2id_STRPREFIX)
            || crypto_pwhash_str_needs_rehash(hash, UInt64(cost.opslimit), cost.memlimit) != 0
    }

    /// A hash of a password nobody knows, kept from its first use; `nil` while memory is short.
    ///
    /// Asked for once at start, so that the first unknown name does not take twice the time.
    @discardableResult
    public static func decoy(cost: Cost = .standard) -> String? {
        if let known = decoys.withLock({ $0[cost] }) { return known }
        guard let made = try? hash(SystemEntropy().bytes(32), cost: cost) else { return nil }
        return decoys.withLock { known in
            let kept = known[cost] ?? made
            known[cost] = kept
            return kept
        }
    }

    private static func matches(_ secret: borrowing SecretBytes, hash: String) -> Bool {
        let size = secret.count
        return secret.withCharacters { crypto_pwhash_str_verify(hash, $0, UInt64(size)) } == 0
    }
}
