import Application
import Domain
import Glibc
import Lanes
import TestKit
import Testing
import Wire

@Suite(.timeLimit(.minutes(5))) struct LogLineTests {
    @Test("Lines that many threads write at once stay whole, the longest too", arguments: [true, false])
    func whole(isPipe: Bool) async throws {
        let folder = try #require(makeTemporaryFolder("enfilade-log-"))
        defer {
            unlink("\(folder)/log")
            rmdir(folder)
        }
        let path = "\(folder)/log"
        try #require(isPipe ? mkfifo(path, 0o600) == 0 : close(creat(path, 0o600)) == 0)
        // Opening a pipe waits for its other end. Nothing here may be inherited by the programs of other tests: a pipe that
        // somebody else can still write to has no end.
        let reader = Lane(name: "reader")
        async let early: [UInt8] = isPipe ? reader.run { Self.readAll(path) } : []
        let writing = await Lane(name: "opener").run { open(path, O_WRONLY | O_APPEND | O_CLOEXEC) }
        let log = Log(descriptor: writing, clock: SystemClock())
        // Nothing is longer: each of its bytes is escaped as six, and there is more of it than a line takes.
        let cause = String(repeating: "\u{1}", count: 2_000)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let lane = Lane(name: "writer-\(number)")
                group.addTask {
                    await lane.run {
                        for _ in 0..<200 {
                            log.note(.failed(requestID: "writer-\(number)", route: "/v1/somewhere", cause: cause))
                        }
                    }
                }
            }
        }
        close(writing)
        let bytes = isPipe ? await early : Self.readAll(path)
        let lines = bytes.split(separator: 0x0A).map { try? JSON.parse(Array($0)) }
        #expect(lines.count == 1_600)
        #expect(lines.allSatisfy { $0?["cause"]?.text?.hasSuffix("…") == true })
    }

    @Test("Lines of requests come by themselves, all of them, whole and before what is told after them")
    func gathered() async throws {
        let folder = try #require(makeTemporaryFolder("enfilade-log-"))
        defer {
            unlink("\(folder)/log")
            rmdir(folder)
        }
        let path = "\(folder)/log"
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let log = Log(descriptor: descriptor, clock: SystemClock())
        for number in 1...100 { log.note(.request(Self.request("\(number)"))) }
        try await until("a hundred lines") { Self.lines(path).count == 100 }
        log.note(.request(Self.request("101")))
        log.note(.stopped)
        let lines = Self.lines(path)
        #expect(lines.compactMap { $0?["requestId"]?.text } == (1...101).map(String.init))
        #expect(lines.last??["event"] == "stopped")
    }

    private static func request(_ id: String) -> RequestObservation {
        RequestObservation(
            method: "GET", route: "/v1/session", status: 200, seconds: 0, requestID: id, peer: "192.0.2.1", client: nil,
            bytesIn: 0, bytesOut: 0, ending: "completed")
    }

    private static func lines(_ path: String) -> [JSON?] {
        readAll(path).split(separator: 0x0A).map { try? JSON.parse(Array($0)) }
    }

    private static func readAll(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return all }
            all += chunk[..<count]
        }
    }
}
