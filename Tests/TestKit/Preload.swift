internal import Glibc

/// Builds C source into a library for `LD_PRELOAD`, with the compiler that comes with the toolchain.
package func buildPreload(_ source: String, as library: String) throws {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    try Command(
        ["sh", "-c", "exec clang -shared -fPIC -O1 -Wall -Werror -o \"$1\" \"$2\"", "sh", library, source],
        environment: ["PATH": path]
    ).run()
}
