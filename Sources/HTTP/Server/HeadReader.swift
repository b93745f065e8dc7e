/// Reads the fields of one request head and remembers the first reason to refuse them.
///
/// The library hands out fields that it has already cut apart in its read buffer. Where the pieces lie says how they
/// were separated: exactly one field line per CR LF, or not. That is how NUL bytes, bare line feeds, folded lines and
/// doubled spaces are noticed although the library has removed them.
struct HeadReader {
    /// How the body is delimited.
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    struct Limits: Sendable {
        var fieldBytes: Int
        var fieldCount: Int
        var targetBytes: Int
    }

    private let limits: Limits
    private let checksLayout: Bool
    private var cursor: UInt = 0
    private var bytes = 0
    private(set) var headers = Headers()
    /// Those of the fields that the server itself obeys.
    private var obeyed: [(field: Obeyed, value: String)] = []
    private(set) var refusal: Refusal?

    init(limits: Limits, checksLayout: Bool) {
        self.limits = limits
        self.checksLayout = checksLayout
    }

    mutating func refuse(_ kind: Refusal.Kind, _ detail: StaticString) {
        if refusal == nil { refusal = Refusal(kind, detail) }
    }

    /// The request line: addresses of its three parts in the buffer and the lengths of the first two.
    mutating func takeLine(method: UInt, methodLength: Int, target: UInt, targetLength: Int, version: UInt) {
        guard checksLayout else { return }
        let isPlain =
            method &+ UInt(methodLength) &+ 1 == target && target &+ UInt(targetLength) &+ 1 == version
        if !isPlain { refuse(.badRequest, "The request line is malformed.") }
        cursor = version &+ 8 &+ 2
    }

    mutating func takeField(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        checkLayout(name, value)
        bytes += name.count + value.count + 4
        guard bytes <= limits.fieldBytes, headers.fields.count < limits.fieldCount else {
            return refuse(.headersTooLarge, "The header fields are too large or too many.")
        }
        guard !name.isEmpty, name.allSatisfy(Text.isTokenByte) else {
            return refuse(.badRequest, "A header field name is malformed.")
        }
        guard value.allSatisfy(Text.isFieldByte) else {
            return refuse(.badRequest, "A header field value holds a control character.")
        }
        let field = Obeyed(name)
        var bytes = value[...]
        // To the library `chunked` with a blank behind it is something else, so it must be to us.
        while field != .transferEncoding, let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        let value = String(decoding: bytes, as: UTF8.self)
        headers.add(String(decoding: name, as: UTF8.self), value)
        if let field { obeyed.append((field, value)) }
    }

    private func count(_ field: Obeyed) -> Int {
        var count = 0
        for known in obeyed where known.field == field { count += 1 }
        return count
    }

    private func all(_ field: Obeyed, are isGood: (String) -> Bool) -> Bool {
        for known in obeyed where known.field == field && !isGood(known.value) { return false }
        return true
    }

    private func first(_ field: Obeyed) -> String? { obeyed.first { $0.field == field }?.value }

    /// The end of the head, which lies behind an empty line and nothing else.
    mutating func takeEnd(_ end: UInt) {
        guard checksLayout, end != cursor &+ 2 else { return }
        refuse(.badRequest, "The header fields do not end with one empty line.")
    }

    private mutating func checkLayout(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard checksLayout, refusal == nil else { return }
        let nameAt = UInt(bitPattern: name.baseAddress)
        let valueAt = UInt(bitPattern: value.baseAddress)
        let colon = nameAt &+ UInt(name.count)
        guard nameAt == cursor, valueAt > colon, valueAt &- colon < 8192 else {
            return refuse(.badRequest, "The header fields are not separated by CRLF.")
        }
        cursor = valueAt &+ UInt(value.count) &+ 2
    }

    /// Rules that need all fields: `Host`, framing, `Expect` and fields that must not be repeated.
    mutating func finish(minorVersion: Int) -> Framing {
        let hosts = count(.host)
        if hosts > 1 || hosts == 0 && minorVersion > 0 || !all(.host, are: HeadReader.isHost) {
            refuse(.badRequest, "Exactly one Host header field is required.")
        }
        if count(.contentType) > 1 || count(.authorization) > 1 || count(.contentEncoding) > 1 {
            refuse(.badRequest, "A header field that must be unique is repeated.")
        }
        if minorVersion > 0, count(.expect) > 1 || !all(.expect, are: HeadReader.isKnownExpectation) {
            refuse(.expectationFailed, "Only the expectation 100-continue is known.")
        }
        return framing(minorVersion: minorVersion)
    }

    /// What a host and port are made of (RFC 3986 §3.2.2); nothing that elsewhere separates them from something else.
    private static func isHost(_ value: String) -> Bool {
        let bytes = value.utf8.span
        for index in bytes.indices where !isHostByte(bytes[index]) { return false }
        return !bytes.isEmpty
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "\"", "/", "\\", "?", "#", "@", "<", ">", "^", "`", "{", "|", "}": false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    private static func isKnownExpectation(_ value: String) -> Bool { Text.equalIgnoringCase(value, "100-continue") }

    private mutating func framing(minorVersion: Int) -> Framing {
        if let coding = first(.transferEncoding) {
            let isPlain = count(.transferEncoding) == 1 && count(.contentLength) == 0 && minorVersion > 0
            guard isPlain, Text.equalIgnoringCase(coding, "chunked") else {
                refuse(.badRequest, "The transfer coding is not exactly chunked, or contradicts other fields.")
                return .none
            }
            return .chunked
        }
        guard let length = first(.contentLength) else { return .none }
        guard count(.contentLength) == 1, !length.isEmpty, length.utf8.allSatisfy(Text.isDigit) else {
            refuse(.badRequest, "Content-Length is malformed or repeated.")
            return .none
        }
        guard length.utf8.count < 19, let count = Int(length) else {
            refuse(.payloadTooLarge, "Content-Length is too large.")
            return .none
        }
        return .length(count)
    }
}

/// Fields whose number or value decides how a request is read.
private enum Obeyed: String {
    case host = "host"
    case expect = "expect"
    case contentType = "content-type"
    case contentLength = "content-length"
    case contentEncoding = "content-encoding"
    case transferEncoding = "transfer-encoding"
    case authorization = "authorization"

    init?(_ name: UnsafeBufferPointer<UInt8>) {
        // No two of them have the same length, and few others have any of theirs.
        let candidate: Obeyed
        switch name.count {
        case 4: candidate = .host
        case 6: candidate = .expect
        case 12: candidate = .contentType
        case 13: candidate = .authorization
        case 14: candidate = .contentLength
        case 16: candidate = .contentEncoding
        case 17: candidate = .transferEncoding
        default: return nil
        }
        let text = candidate.rawValue
        let wanted = text.utf8.span
        for index in wanted.indices where wanted[index] != Text.lowered(name[index]) { return nil }
        self = candidate
    }
}
