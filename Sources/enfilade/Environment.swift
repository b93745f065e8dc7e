import Application

enum Environment {
    /// The environment that the process was started with, as the kernel keeps it.
    static let variables: [String: String] = {
        var variables: [String: String] = [:]
        for line in File.bytes(of: "/proc/self/environ").split(separator: 0) {
            let parts = line.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            variables[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
        }
        return variables
    }()
}
