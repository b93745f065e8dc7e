import Glibc

/// Why a root-key file was not used; each description says what the operator can do.
public enum RootKeyFault: Error, Equatable, CustomStringConvertible {
    case missing(path: String)
    case alreadyExists(path: String)
    case notAFile(path: String)
    case exposed(path: String, mode: UInt32)
    case notBase64(path: String)
    case wrongLength(path: String, bytes: Int)
    case unreadable(path: String, errno: Int32)
    case unwritable(path: String, errno: Int32)

    public var description: String {
        switch self {
        case .missing(let path):
            "no root key at \(path): restore it from backup, or make one for a new installation "
                + "with (umask 077; head -c 32 /dev/urandom | base64 > \(path))"
        case .alreadyExists(let path):
            "\(path) already exists and is kept: replacing a root key makes everything sealed by it unreadable"
        case .notAFile(let path):
            "\(path) is not a regular file: name the file that holds the root key"
        case .exposed(let path, let mode):
            "\(path) can be reached by other users (mode 0\(String(mode, radix: 8))): run chmod 600 \(path)"
        case .notBase64(let path):
            "\(path) does not hold one line of base64: restore it from backup"
        case .wrongLength(let path, let bytes):
            "\(path) holds \(bytes) bytes where a root key has 32: restore it from backup"
        case .unreadable(let path, let number):
            "\(path) cannot be read (\(Self.text(number))): it must belong to the user the server runs as"
        case .unwritable(let path, let number):
            "\(path) cannot be written (\(Self.text(number))): check its directory's owner and free space"
        }
    }

    private static func text(_ number: Int32) -> String {
        String(cString: strerror(number))
    }
}
