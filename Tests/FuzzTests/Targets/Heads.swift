@testable import HTTP

/// A head cut apart as the library does it: forgiving, and only pointing at what it found.
///
/// It ends a line at CR, LF or both, takes blanks after the colon away, joins folded lines and skips none.
struct CutHead {
    private let bytes: [UInt8]
    private var method = 0..<0
    private var target = 0..<0
    private var version = 0..<0
    private var fields: [(name: Range<Int>, value: Range<Int>)] = []
    private var end = 0

    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        var at = 0
        guard let line = Self.line(bytes, &at) else { return nil }
        let words = Self.words(bytes, line)
        // Whoever calls the reader has looked at the version.
        guard words.count == 3, bytes[words[2]].elementsEqual("HTTP/1.1".utf8) else { return nil }
        (method, target, version) = (words[0], words[1], words[2])
        while let line = Self.line(bytes, &at) {
            guard !line.isEmpty else {
                end = at
                return
            }
            guard let colon = line.first(where: { bytes[$0] == UInt8(ascii: ":") }) else { return nil }
            var start = colon + 1
            while start < line.upperBound, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
            fields.append((line.lowerBound..<colon, start..<line.upperBound))
        }
        return nil
    }

    func show(to reader: inout HeadReader) {
        bytes.withUnsafeBufferPointer { buffer in
            let base = UInt(bitPattern: buffer.baseAddress)
            func place(_ offset: Int) -> UInt { base &+ UInt(offset) }
            reader.takeLine(
                method: place(method.lowerBound), methodLength: method.count, target: place(target.lowerBound),
                targetLength: target.count, version: place(version.lowerBound))
            for (name, value) in fields {
                reader.takeField(
                    name: UnsafeBufferPointer(rebasing: buffer[name]),
                    value: UnsafeBufferPointer(rebasing: buffer[value]))
            }
            reader.takeEnd(place(end))
        }
    }

    /// The next line without its end; nil when the bytes end before it does.
    private static func line(_ bytes: [UInt8], _ at: inout Int) -> Range<Int>? {
        guard let stop = bytes[at...].firstIndex(where: { $0 == 0x0D || $0 == 0x0A }) else { return nil }
        defer { at = stop + (bytes[stop] == 0x0D && stop + 1 < bytes.count && bytes[stop + 1] == 0x0A ? 2 : 1) }
        return at..<stop
    }

    private static func words(_ bytes: [UInt8], _ line: Range<Int>) -> [Range<Int>] {
        bytes[line].split(separator: 0x20).map { $0.startIndex..<$0.endIndex }
    }
}

/// A head read by the grammar of RFC 9112 and nothing else.
struct StrictHead {
    /// Nil when the bytes are no head.
    let fields: [(name: String, value: String)]?

    init(_ bytes: [UInt8]) { fields = Self.fields(bytes) }

    private static func fields(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        var rest = bytes[...]
        guard take(&rest) != nil else { return nil }
        while let line = take(&rest) {
            guard !line.isEmpty else { return fields }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return nil }
            var value = line[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
            while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
            fields.append((String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return nil
    }

    /// The next line, ended by CR LF and holding neither.
    private static func take(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let stop = rest.firstIndex(of: 0x0D), stop + 1 < rest.endIndex, rest[stop + 1] == 0x0A else { return nil }
        let line = rest[..<stop]
        rest = rest[(stop + 2)...]
        return line.contains(0x0A) ? nil : line
    }
}
