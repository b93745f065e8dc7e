internal import Glibc

/// A new folder where temporary ones go (`TMPDIR`), for its maker alone; `nil` when it cannot be made.
package func makeTemporaryFolder(_ prefix: String) -> String? {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    // mkdtemp(3) puts something else in the place of these six.
    var template = Array("\(parent)/\(prefix)\(String(repeating: "X", count: 6))".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
