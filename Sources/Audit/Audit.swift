public import API
public import Domain
public import Store

/// Audit: the log of who did what, put in an order that never changes, and shown to auditors.
///
/// It reads entries and gives them their index; it never writes one for another feature (each act writes its own, in its
/// own transaction), and never changes or deletes one: the database role of the server may not.
public struct Audit: Sendable {
    /// How the log stands, as this node last saw it.
    public struct Figures: Sendable {
        /// Entries that have no index yet.
        public var pending = 0
        /// The newest index; `nil` while the log is empty.
        public var lastIndex: Int64?
    }

    private let database: Database
    private let sequencer: Sequencer
    private let reads = ReadNotes()

    public init(database: Database, observe: @escaping Observe) {
        self.database = database
        sequencer = Sequencer(database: database, observe: observe)
    }

    public var endpoints: [Mounted] { [ListEntries(database: database, reads: reads).mounted] }

    public var services: [any Service] { [sequencer] }

    public var figures: Figures { sequencer.figures }
}
