import CSodium

/// Bytes that exist once, in guarded memory, and are wiped when their owner lets go.
///
/// Read-only after creation, so any number of threads may read at once.
public struct SecretBytes: ~Copyable, Sendable {
    public let count: Int
    private let address: UInt
    private let isGuarded: Bool

    /// As many random bytes as asked for.
    public init(random count: Int) {
        self.init(count: count) { randombytes_buf($0, count) }
    }

    /// The bytes given, whose own storage is wiped when nobody else holds it.
    public init(copying bytes: consuming [UInt8]) {
        self.init(count: bytes.count) { target in
            bytes.withUnsafeMutableBufferPointer { source in
                guard let base = source.baseAddress else { return }
                target.update(from: base, count: source.count)
                sodium_memzero(base, source.count)
            }
        }
    }

    /// Bytes written in place, so that no copy of them is ever made.
    init<Fault: Error>(count: Int, writing write: (UnsafeMutablePointer<UInt8>) throws(Fault) -> Void) throws(Fault) {
        Sodium.start()
        let guarded = sodium_malloc(count)
        // Guarded memory can run out (locked pages, mappings); the secret is then wiped all the same.
        let base = guarded ?? UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        self.count = count
        self.address = UInt(bitPattern: base)
        self.isGuarded = guarded != nil
        try write(base.initializeMemory(as: UInt8.self, repeating: 0, count: count))
        if isGuarded { sodium_mprotect_readonly(base) }
    }

    deinit {
        guard let base = UnsafeMutableRawPointer(bitPattern: address) else { return }
        if isGuarded {
            sodium_free(base)
        } else {
            sodium_memzero(base, count)
            base.deallocate()
        }
    }

    /// Lends the bytes for the duration of a call.
    public borrowing func withBytes<Result, Fault: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Fault) -> Result
    ) throws(Fault) -> Result {
        try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
    }

    /// The same, in the element type that libsodium's functions take.
    borrowing func withOctets<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        guard let octets = UnsafePointer<UInt8>(bitPattern: address) else {
            preconditionFailure("a secret has an address")
        }
        return body(octets)
    }

    /// The same for functions that call their bytes characters.
    borrowing func withCharacters<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withOctets { octets in
            octets.withMemoryRebound(to: CChar.self, capacity: count) { body($0) }
        }
    }

    /// Overwrites an array in a way the compiler may not leave out.
    public static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }
}
