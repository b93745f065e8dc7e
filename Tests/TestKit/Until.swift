/// Asks until it is so, and fails after the limit, saying what never was.
package func until(
    _ what: String, within limit: Duration = .seconds(30), _ isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !isSo() {
        guard ContinuousClock.now < end else { throw TestServer.Fault("it never was so: \(what)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}
