import Wire

/// A request target taken apart (RFC 9112 §3.2).
struct Target: Sendable {
    enum Form: Sendable, Equatable {
        /// `*`, for OPTIONS only.
        case asterisk
        case path(String)
    }

    let form: Form
    let query: [(name: String, value: String)]

    var rawPath: String {
        switch form {
        case .asterisk: "*"
        case .path(let path): path
        }
    }

    /// Reads the raw bytes of a target.
    ///
    /// - Throws: `badRequest` when the target is no path, absolute URI or asterisk, or its query is malformed;
    ///   `uriTooLong` over `limit` bytes.
    init(_ bytes: [UInt8], limit: Int) throws(Refusal) {
        guard bytes.count <= limit else { throw Refusal(.uriTooLong, "The request target is too long.") }
        guard !bytes.isEmpty, bytes.allSatisfy(Target.mayOccur) else {
            throw Refusal(.badRequest, "The request target holds a byte that must be escaped.")
        }
        if bytes == [0x2A] {
            (form, query) = (.asterisk, [])
            return
        }
        let origin = try Target.originForm(bytes)
        let cut = origin.firstIndex(of: 0x3F) ?? origin.endIndex
        form = .path(String(decoding: origin[..<cut], as: UTF8.self))
        guard cut < origin.endIndex else {
            query = []
            return
        }
        guard let pairs = FormCoding.decode(Array(origin[(cut + 1)...])) else {
            throw Refusal(.badRequest, "The query is malformed.")
        }
        query = pairs
    }

    /// Visible ASCII but for characters that some parsers read as a separator.
    private static func mayOccur(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != 0x23 && byte != 0x5C
    }

    /// The path and query; `http://host` in front is dropped, as only our own names lead here.
    private static func originForm(_ bytes: [UInt8]) throws(Refusal) -> ArraySlice<UInt8> {
        if bytes[0] == 0x2F { return bytes[...] }
        let lowered = bytes.prefix(8).map(Text.lowered)
        for scheme in ["http://", "https://"] where lowered.starts(with: scheme.utf8) {
            let rest = bytes.dropFirst(scheme.utf8.count)
            let cut = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
            guard cut > rest.startIndex, !rest[..<cut].contains(0x40) else { break }
            if cut < rest.endIndex, rest[cut] == 0x2F { return rest[cut...] }
            return ([0x2F] + rest[cut...])[...]
        }
        throw Refusal(.badRequest, "The request target is neither a path nor an absolute URI.")
    }
}
