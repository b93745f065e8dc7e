import CSodium
public import Domain

/// Randomness from the operating system.
public struct SystemEntropy: Entropy {
    public init() {
        Sodium.start()
    }

    public func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            randombytes_buf(base, buffer.count)
        }
        return bytes
    }
}
