import Glibc

/// Memory that a parked stream does not need.
enum Pages {
    private static let size = UInt(max(sysconf(Int32(_SC_PAGESIZE)), 4096))

    /// Gives the whole pages of a scratch buffer back to the system; its contents become zeros.
    ///
    /// Half of a connection's memory pool was written to by the library when it shrank its read buffer. We may fill the
    /// buffer with anything, so we may also fill it with nothing: an idle stream then costs a third.
    static func release(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        let start = UInt(bitPattern: base)
        let first = (start + size - 1) / size * size
        let end = (start + UInt(buffer.count)) / size * size
        guard end > first else { return }
        madvise(base + Int(first - start), Int(end - first), MADV_DONTNEED)
    }
}
