import API
import Domain
import HTTP
import Testing
import Wire

@testable import Audit

@Suite struct FilterTests {
    @Test(
        "An action is taken whole, or as a beginning up to a dot",
        arguments: [
            ("device.enrolled", ["device.enrolled"]),
            ("session.refresh-token-reused", ["session.refresh-token-reused"]),
            ("app.*", ["app.created", "app.changed", "app.removed"]),
            ("nothing.like-it", ["nothing.like-it"]),
            ("nothing.*", []),
        ])
    func actions(text: String, names: [String]) throws {
        #expect(try #require(Filter.Action(text)).names == names)
    }

    @Test(
        "What is neither is refused",
        arguments: ["", "*", "app*", "app.", ".app", "App.created", "app.*.x", "a b", "app.**"])
    func badActions(text: String) {
        #expect(Filter.Action(text) == nil)
    }

    @Test("An index goes on behind it, a next goes on at it")
    func cursors() {
        #expect(Cursor("0") == Cursor(start: 1))
        #expect(Cursor("12") == Cursor(start: 13))
        #expect(Cursor(Cursor(start: 13).text) == Cursor(start: 13))
        #expect(Cursor(Cursor(start: 0).text) == Cursor(start: 0))
    }

    @Test(
        "What is no place in the log is refused", arguments: ["", "i", "-1", "x3", "i-1", "1.5", "99999999999999999"])
    func badCursors(text: String) {
        #expect(Cursor(text) == nil)
    }
}

@Suite struct ReadNotesTests {
    private let start = Instant(microseconds: 1_790_000_000_000_000)

    @Test("The same question of the same session is due again after a minute, another one at once")
    func due() throws {
        let notes = ReadNotes()
        let reading = ReadNotes.Reading(session: SessionID(UUID(high: 1, low: 1)), filter: try filter([]))
        let other = ReadNotes.Reading(session: reading.session, filter: try filter([("action", "app.*")]))
        let stranger = ReadNotes.Reading(session: SessionID(UUID(high: 2, low: 2)), filter: reading.filter)
        #expect(notes.isDue(reading, at: start))
        notes.note(reading, at: start)
        #expect(!notes.isDue(reading, at: start + .seconds(59)))
        #expect(notes.isDue(reading, at: start + .seconds(60)))
        #expect(notes.isDue(other, at: start))
        #expect(notes.isDue(stranger, at: start))
    }

    @Test("A flood of questions costs more entries, not memory without end")
    func flood() throws {
        let notes = ReadNotes()
        let filter = try filter([])
        let readings = (0..<5_000).map {
            ReadNotes.Reading(session: SessionID(UUID(high: 0, low: UInt64($0))), filter: filter)
        }
        for reading in readings { notes.note(reading, at: start) }
        #expect(try notes.isDue(#require(readings.first), at: start))
        #expect(try !notes.isDue(#require(readings.last), at: start))
    }

    private func filter(_ query: [(name: String, value: String)]) throws -> Filter {
        let peer = Address(bytes: [127, 0, 0, 1], port: 1)
        let request = Request(head: RequestHead(method: .get, rawPath: "/v1/audit/entries", query: query, peer: peer))
        return try Filter(try request.parameters("actor", "action", "target", "outcome", "from", "to"))
    }
}
