import CSodium
import Glibc

/// The root key at rest: one line of base64 in a file that only its owner can reach.
extension RootKey {
    /// More than any key needs; longer files are refused, not read.
    private static let fileLimit = 1024

    /// Reads the root key from its file.
    public static func load(path: String) throws(RootKeyFault) -> RootKey {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .missing(path: path) : .unreadable(path: path, errno: errno)
        }
        defer { close(descriptor) }
        try check(descriptor, path: path)
        var line = try read(descriptor, path: path)
        defer { SecretBytes.wipe(&line) }
        return try decode(line, path: path)
    }

    /// Makes a new root key and writes it to a file that must not exist yet.
    @discardableResult
    public static func create(path: String) throws(RootKeyFault) -> RootKey {
        let secret = SecretBytes(random: size)
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == EEXIST ? .alreadyExists(path: path) : .unwritable(path: path, errno: errno)
        }
        var line = encode(secret)
        defer { SecretBytes.wipe(&line) }
        let written = write(line, to: descriptor)
        guard close(descriptor) == 0, written == 0 else {
            let number = written == 0 ? errno : written
            unlink(path)
            throw .unwritable(path: path, errno: number)
        }
        syncDirectory(of: path)
        return RootKey(secret)
    }

    private static func check(_ descriptor: Int32, path: String) throws(RootKeyFault) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .unreadable(path: path, errno: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        let mode = facts.st_mode & 0o777
        guard !isExposed(mode, owner: facts.st_uid, reader: geteuid()) else { throw .exposed(path: path, mode: mode) }
    }

    /// Whether others than the reader can get at the file.
    ///
    /// What root lets somebody read is root's decision: so systemd hands credentials over, by an access list that shows
    /// as a group's right.
    static func isExposed(_ mode: mode_t, owner: uid_t, reader: uid_t) -> Bool {
        let isHandedOver = owner == 0 && reader != 0
        return mode & (isHandedOver ? 0o037 : 0o077) != 0
    }

    private static func read(_ descriptor: Int32, path: String) throws(RootKeyFault) -> [UInt8] {
        var line = [UInt8](repeating: 0, count: fileLimit + 1)
        var count = 0
        while count < line.count {
            let step = line.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if step < 0 && errno == EINTR { continue }
            guard step >= 0 else { throw .unreadable(path: path, errno: errno) }
            if step == 0 { break }
            count += step
        }
        guard count <= fileLimit else { throw .notBase64(path: path) }
        // Shrinking in place: a slice would leave a second copy behind.
        line.removeLast(line.count - count)
        return line
    }

    private static func decode(_ line: [UInt8], path: String) throws(RootKeyFault) -> RootKey {
        let length = line.last == UInt8(ascii: "\n") ? line.count - 1 : line.count
        var decoded = 0
        var accepted = false
        // Room for a longer key than allowed, so that its length can be named.
        let secret = SecretBytes(count: fileLimit) { target in
            accepted = line.withUnsafeBytes { text in
                sodium_base642bin(
                    target, fileLimit,
                    text.bindMemory(to: CChar.self).baseAddress, length, nil, &decoded, nil,
                    sodium_base64_VARIANT_ORIGINAL) == 0
            }
        }
        guard accepted else { throw .notBase64(path: path) }
        guard decoded == size else { throw .wrongLength(path: path, bytes: decoded) }
        return RootKey(
            SecretBytes(count: size) { target in
                secret.withOctets { target.update(from: $0, count: size) }
            })
    }

    private static func encode(_ secret: borrowing SecretBytes) -> [UInt8] {
        let capacity = sodium_base64_encoded_len(secret.count, sodium_base64_VARIANT_ORIGINAL)
        var line = [UInt8](repeating: 0, count: capacity)
        secret.withOctets { source in
            line.withUnsafeMutableBytes { buffer in
                guard let text = buffer.bindMemory(to: CChar.self).baseAddress else { return }
                sodium_bin2base64(
                    text, capacity, source, secret.count,
                    sodium_base64_VARIANT_ORIGINAL)
            }
        }
        // The terminating NUL becomes the end of the line.
        line[capacity - 1] = UInt8(ascii: "\n")
        return line
    }

    /// Writes everything and waits for the disk; answers an errno, 0 when done.
    private static func write(_ line: [UInt8], to descriptor: Int32) -> Int32 {
        var count = 0
        while count < line.count {
            let step = line.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if step < 0 && errno == EINTR { continue }
            guard step > 0 else { return step < 0 ? errno : EIO }
            count += step
        }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    /// Makes the new name itself durable.
    ///
    /// A directory that cannot be synced does not make the key wrong.
    private static func syncDirectory(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
