import Application
import Domain

enum CreateKey: Verb {
    static let name = "key create"
    static let summary = "make a root key file"
    static let help = """
        usage: enfilade key create FILE

        Writes 32 random bytes as base64 to FILE with mode 0600; refuses when FILE exists. All nodes of one database
        need the same file. Keep a copy apart from the database's backups: without it nobody stays signed in.
        """

    static func run(_ arguments: Arguments) async throws -> Int32 {
        try arguments.allow(plain: 1)
        guard let path = arguments.plain.first else { throw UsageFault(detail: "FILE is needed") }
        try Owner.createKey(at: path)
        Output.print("created \(path)")
        return 0
    }
}
