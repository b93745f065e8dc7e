/// A server that tests talk to: in this process or in its own.
package protocol Site: Sendable {
    var port: Int { get }
    var issuer: String { get }
    var database: String { get }
    var clock: ManualClock { get }

    /// A client for one person, with a connection of its own.
    func makeClient() -> Client
}

extension Site {
    package func makeClient() -> Client { Client(port: port) }
}
