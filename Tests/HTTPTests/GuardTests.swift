import HTTP
import Synchronization
import TestKit
import Testing

@Suite struct GuardTests {
    @Test(arguments: HostileRequests.wellFormed)
    func servesWhatIsWellFormed(_ row: RawCase) async throws {
        try await check(row)
    }

    @Test(arguments: HostileRequests.ambiguous)
    func refusesWhatCanBeReadInTwoWays(_ row: RawCase) async throws {
        try await check(row)
    }

    @Test(arguments: HostileRequests.unsupported)
    func refusesWhatIsNotSupported(_ row: RawCase) async throws {
        try await check(row)
    }

    private func check(_ row: RawCase) async throws {
        let scene = try Scene { $0.workers = 2 }
        try await blocking {
            let client = try scene.client()
            try client.send(row.request.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
            for status in row.statuses {
                let answer = row.fate == .closedByLibrary ? try client.head() : try client.answer()
                #expect(answer.status == status, "\(row.name)")
                if row.fate == .closed, status >= 400 {
                    #expect(answer.header("Connection")?.lowercased() == "close", "\(row.name)")
                }
            }
            switch row.fate {
            case .open: try GuardTests.checkOpen(client, row)
            case .closed: #expect(try client.isEnded())
            case .closedByLibrary: _ = try client.rest()
            }
        }
        await scene.server.drain(grace: .seconds(5))
        #expect(scene.executed.withLock { $0 } == row.executed + (row.fate == .open ? ["item"] : []))
        #expect(scene.exchanges.withLock { $0.allSatisfy { $0.status != 0 } })
    }

    private static func checkOpen(_ client: RawClient, _ row: RawCase) throws {
        if row.statuses == [100] {
            try client.send("abc")
            #expect(try client.answer().text == "abc")
        }
        try client.send("GET /items/probe HTTP/1.1\r\nHost: x\r\n\r\n")
        let probe = try client.answer()
        #expect(probe.status == 200)
        #expect(probe.text == "probe")
    }
}
