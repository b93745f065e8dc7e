import HTTP
import Synchronization
import TestKit
import Testing

@Suite struct GuardTests {
    @Test(arguments: HostileRequests.served + HostileRequests.servedHeads + HostileRequests.servedTargets)
    func servesWhatIsWellFormed(_ row: RawCase) async throws {
        try await check(row)
    }

    @Test(arguments: HostileRequests.lengths + HostileRequests.codings + HostileRequests.chunks)
    func refusesWhatMayEndInTwoPlaces(_ row: RawCase) async throws {
        try await check(row)
    }

    @Test(arguments: HostileRequests.fields + HostileRequests.targets + HostileRequests.lines)
    func refusesWhatCanBeReadInTwoWays(_ row: RawCase) async throws {
        try await check(row)
    }

    @Test(arguments: HostileRequests.limits + HostileRequests.mediaTypes)
    func refusesWhatIsTooLargeOrNotTaken(_ row: RawCase) async throws {
        try await check(row)
    }

    private func check(_ row: RawCase) async throws {
        let scene = try Scene {
            $0.workers = 2
            // Version 1.0 never answers a method that fills its memory: only the deadline ends that.
            $0.headerTimeout = .seconds(4)
        }
        let outcome = row.outcome
        try await blocking {
            let client = try scene.client()
            try client.send(row.request.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
            var statuses: [Int] = []
            for expected in outcome.statuses {
                let answer = try GuardTests.answer(client, row)
                statuses.append(answer.status)
                guard case .closed = outcome.fate, expected >= 400 else { continue }
                #expect(answer.header("Connection")?.lowercased() == "close")
            }
            #expect(statuses == outcome.statuses, "\(row.name)")
            try GuardTests.checkEnd(client, row)
        }
        await scene.server.drain(grace: .seconds(5))
        let isOpen = if case .open = outcome.fate { true } else { false }
        #expect(scene.executed.withLock { $0 } == outcome.executed + (isOpen ? ["item"] : []))
        #expect(scene.exchanges.withLock { $0.allSatisfy { $0.status != 0 } })
    }

    private static func answer(_ client: RawClient, _ row: RawCase) throws -> RawClient.Answer {
        if case .closedByLibrary = row.outcome.fate { return try client.head() }
        return try client.answer(isHead: row.request.hasPrefix("HEAD"))
    }

    private static func checkEnd(_ client: RawClient, _ row: RawCase) throws {
        switch row.outcome.fate {
        case .open: try checkOpen(client, row.outcome)
        case .closed, .closedSilently: #expect(try client.isEnded())
        case .closedByLibrary(let heads):
            let rest = String(decoding: try client.rest(), as: UTF8.self)
            #expect(
                rest.split(separator: "HTTP/1.", omittingEmptySubsequences: false).count == heads,
                "\(row.name): \(rest)")
        }
    }

    private static func checkOpen(_ client: RawClient, _ outcome: RawCase.Expected) throws {
        if outcome.statuses == [100] {
            try client.send("abc")
            #expect(try client.answer().text == "abc")
        }
        try client.send("GET /items/probe HTTP/1.1\r\nHost: x\r\n\r\n")
        let probe = try client.answer()
        #expect(probe.status == 200)
        #expect(probe.text == "probe")
    }
}
