import CSodium

/// The libsodium runtime.
public enum Sodium {
    private static let started: Void = {
        // Fails only on a machine without any source of randomness; nothing here could work on one.
        precondition(sodium_init() >= 0, "libsodium found no source of randomness")
    }()

    /// Makes libsodium ready; harmless when it already is.
    public static func start() {
        _ = started
    }

    /// The bytes that a call writes, or `nil` when it refuses.
    static func output(_ count: Int, _ write: (UnsafeMutablePointer<UInt8>) -> CInt) -> [UInt8]? {
        start()
        var accepted = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let base = buffer.baseAddress, write(base) == 0 else { return }
            accepted = true
            initialized = count
        }
        return accepted ? bytes : nil
    }

    /// The bytes of a call that refuses only wrong lengths, which its caller has fixed.
    static func certain(_ count: Int, _ write: (UnsafeMutablePointer<UInt8>) -> CInt) -> [UInt8] {
        guard let bytes = output(count, write) else { preconditionFailure("libsodium refused fixed lengths") }
        return bytes
    }
}
