import CMicroHTTPD
import Glibc

/// Keeps the bytes of a body alive while the library sends them, so that they are not copied.
final class SentBytes: Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Turns a `Response` into the library's own and queues it.
enum Answer {
    /// Queues a response on the library's thread; false when the library refuses it.
    ///
    /// For HEAD the whole body is handed over all the same: the library takes its length and sends none of it.
    static func queue(_ response: Response, on handle: OpaquePointer) -> Bool {
        guard let made = make(response.body) else { return false }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers {
            _ = MHD_add_response_header(made, name, value)
        }
        return MHD_queue_response(handle, UInt32(clamping: response.status), made) == .YES
    }

    private static func make(_ body: Body) -> OpaquePointer? {
        guard case .bytes(let bytes) = body, !bytes.isEmpty else {
            return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        }
        let owner = SentBytes(bytes)
        // The array's storage lives as long as its owner, which the library releases through `bytesFreed`.
        let start = owner.bytes.withUnsafeBytes { UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        return MHD_create_response_from_buffer_with_free_callback_cls(
            bytes.count, start, bytesFreed, Unmanaged.passRetained(owner).toOpaque())
    }
}
