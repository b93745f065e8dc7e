import Glibc
import Synchronization
package import Wire

/// What a server process writes to standard error, line by line as it comes.
package final class ProcessLog: Sendable {
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Waiting {
        let id: Int
        let match: @Sendable (JSON) -> Bool
        let continuation: CheckedContinuation<JSON?, Never>
    }

    private struct State {
        var lines: [String] = []
        var isOver = false
        var waiting: [Waiting] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    package var lines: [String] { state.withLock { $0.lines } }

    /// The lines that are JSON.
    package var entries: [JSON] { lines.compactMap(Self.parse) }

    package func event(
        _ name: String, within limit: Duration = .seconds(30),
        where match: @escaping @Sendable (JSON) -> Bool = { _ in true }
    ) async throws -> JSON {
        try await first("the event \(name)", within: limit) { $0["event"]?.text == name && match($0) }
    }

    /// The first line that matches, of those that are there or come; throws when none does in time or can any more.
    package func first(
        _ what: String, within limit: Duration, _ match: @escaping @Sendable (JSON) -> Bool
    ) async throws -> JSON {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let timer = Task { [weak self] in
            try await Task.sleep(for: limit)
            self?.giveUp(id)
        }
        defer { timer.cancel() }
        let found = await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> JSON?? in
                if let there = state.lines.lazy.compactMap(Self.parse).first(where: match) { return .some(there) }
                if state.isOver { return .some(nil) }
                state.waiting.append(Waiting(id: id, match: match, continuation: continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
        guard let found else {
            throw Missing(description: "\(what) did not come:\n" + lines.suffix(20).joined(separator: "\n"))
        }
        return found
    }

    private func giveUp(_ id: Int) {
        let late = state.withLock { state -> Waiting? in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        late?.continuation.resume(returning: nil)
    }

    /// Blocks until the other end is closed by all who hold it.
    func read(_ descriptor: Int32) {
        defer { close(descriptor) }
        var rest: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            rest += chunk[..<count]
            while let end = rest.firstIndex(of: 0x0A) {
                add(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeFirst(end + 1)
            }
        }
        if !rest.isEmpty { add(String(decoding: rest, as: UTF8.self)) }
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.continuation.resume(returning: nil) }
    }

    private func add(_ line: String) {
        let json = Self.parse(line)
        let served = state.withLock { state -> [Waiting] in
            state.lines.append(line)
            guard let json else { return [] }
            let served = state.waiting.filter { $0.match(json) }
            state.waiting.removeAll { one in served.contains { $0.id == one.id } }
            return served
        }
        for one in served { one.continuation.resume(returning: json) }
    }

    private static func parse(_ line: String) -> JSON? { try? JSON.parse(Array(line.utf8)) }
}
