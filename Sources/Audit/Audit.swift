package import API
package import Domain
package import Store

/// Audit: the log of who did what, put in an order that never changes, and shown to auditors.
///
/// It reads entries and gives them their index; it never writes one for another feature (each act writes its own, in its
/// own transaction), and never changes or deletes one: the database role of the server may not.
package struct Audit: Sendable {
    /// How the log stands, as this node last saw it.
    package struct Figures: Sendable {
        /// Entries that have no index yet.
        package var pending = 0
        /// The newest index; `nil` while the log is empty.
        package var lastIndex: Int64?
    }

    private let database: Database
    private let sequencer: Sequencer
    private let reads = ReadNotes()

    package init(database: Database, observe: @escaping Observe) {
        self.database = database
        sequencer = Sequencer(database: database, observe: observe)
    }

    package var endpoints: [Mounted] { [ListEntries(database: database, reads: reads).mounted] }

    package var services: [any Service] { [sequencer] }

    package var figures: Figures { sequencer.figures }
}
