import Glibc

/// Small files of the operator.
public enum File {
    /// The first line of a file of at most 64 KiB, without its end; `nil` when it cannot be read.
    public static func firstLine(of path: String) -> String? {
        read(path, upTo: 65_536).flatMap(firstLine(of:))
    }

    /// The first line, without its end; `nil` when it is no UTF-8.
    static func firstLine(of bytes: [UInt8]) -> String? {
        let line = bytes.prefix { $0 != 0x0A }
        return String(validating: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }

    /// What a small file holds; nothing when it cannot be read.
    public static func bytes(of path: String) -> [UInt8] { read(path, upTo: 1_048_576) ?? [] }

    /// A small file and who else can get at it, looked at through the same descriptor; `nil` when it cannot be read.
    static func opened(_ path: String) -> (bytes: [UInt8], standing: FileStanding)? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        let standing = FileStanding(
            owner: facts.st_uid, mode: facts.st_mode, isRegular: facts.st_mode & S_IFMT == S_IFREG)
        guard let bytes = standing.isRegular ? read(descriptor, upTo: 1_048_576) : [] else { return nil }
        return (bytes, standing)
    }

    private static func read(_ path: String, upTo limit: Int) -> [UInt8]? {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor, upTo: limit)
    }

    private static func read(_ descriptor: Int32, upTo limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }
}
