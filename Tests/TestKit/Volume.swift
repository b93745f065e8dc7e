internal import Glibc

/// A small volume in memory that a test can fill.
///
/// It goes with this process. Calls block.
package final class Volume: Sendable {
    package let path: String

    /// Nil where mounting is not allowed: only root may, and not in every container.
    package init?(megabytes: Int) {
        guard geteuid() == 0, let folder = makeTemporaryFolder("enfilade-volume-") else { return nil }
        path = folder
        do {
            try Command(["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=1777", "enfilade-test", path]).run()
            let script = #"read -r _; umount -l "$1"; rmdir "$1""#
            try Command(["setsid", "sh", "-c", script, "sh", path]).leave()
        } catch {
            rmdir(path)
            return nil
        }
    }

    /// A folder on it that belongs to PostgreSQL.
    package func folder(_ name: String) throws -> String {
        try Command(["install", "-d", "-o", "postgres", "-m", "700", "\(path)/\(name)"]).run()
        return "\(path)/\(name)"
    }

    /// Takes all the room that is left.
    package func fill() throws {
        try Command(["sh", "-c", #"dd if=/dev/zero of="$1/ballast" bs=4k status=none || true"#, "sh", path]).run()
    }

    package func free() throws {
        try Command(["rm", "-f", "\(path)/ballast"]).run()
    }
}
