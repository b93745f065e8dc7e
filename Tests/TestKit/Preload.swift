internal import Glibc

/// Builds C source into a library for `LD_PRELOAD`, with the compiler that comes with the toolchain or the system.
package func buildPreload(_ source: String, as library: String) throws {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    let script = "exec $(command -v clang || command -v cc) -shared -fPIC -O1 -Wall -Werror -o \"$1\" \"$2\""
    try Command(["sh", "-c", script, "sh", library, source], environment: ["PATH": path]).run()
}
