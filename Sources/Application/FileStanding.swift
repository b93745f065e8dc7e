import Glibc

/// Who besides its owner can do something with a file.
struct FileStanding: Sendable {
    let owner: uid_t
    let mode: mode_t
    let isRegular: Bool

    /// Why the program should not believe the file; `nil` when only root or the program's own user could have written it.
    var objection: String? {
        guard isRegular else { return "is not a regular file" }
        guard owner == 0 || owner == geteuid() else { return "belongs to another user (\(owner))" }
        guard mode & 0o022 == 0 else { return "can be written by others (mode \(octal)); chmod go-w" }
        return nil
    }

    /// Whether people who are neither its owner nor in its group can read it.
    var isOpenToAll: Bool { mode & 0o007 != 0 }

    var octal: String { "0" + String(mode & 0o777, radix: 8) }
}
