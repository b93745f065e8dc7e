import Application
import TestKit
import Wire

/// An administrator, an app, and a person who uses it.
struct Scene: Sendable {
    let server: TestServer
    let admin: SignedIn
    let device: SignedIn

    static func with(
        _ change: (inout Settings) -> Void = { _ in }, _ body: (Scene) async throws -> Void
    ) async throws {
        try await TestServer.with(change) { server in try await body(try await make(on: server)) }
    }

    /// A scene that tests share which publish nothing; it lives as long as the tests do.
    static func shared(_ body: (Scene) async throws -> Void) async throws {
        try await body(try await Shared.one.scene())
    }

    func enrolled() async throws -> EnrolledDevice { try await Shared.one.enrolled() }

    func publish(
        _ values: String, over revision: Int, query: String = "", by author: SignedIn? = nil
    ) async throws -> Client.Answer {
        let body = "{\"values\": \(values), \"reason\": \"A test\"}"
        return try await put(body, query: query, headers: [("If-Match", "\"\(revision)\"")], by: author)
    }

    func put(
        _ body: String, app: String = "suite-app", query: String = "", headers: [(String, String)] = [],
        by author: SignedIn? = nil
    ) async throws -> Client.Answer {
        let author = author ?? admin
        let all = [("Authorization", "Bearer \(author.accessToken)"), ("Content-Type", "application/json")] + headers
        return try await author.client.send(
            "PUT", "/v1/apps/\(app)/config\(query)", headers: all, body: Array(body.utf8))
    }

    fileprivate static func make(on server: TestServer) async throws -> Scene {
        let admin = try await server.signInAdmin()
        try await server.makeApp("suite-app", by: admin)
        _ = try await server.makePerson("ada", by: admin)
        return Scene(server: server, admin: admin, device: try await server.signIn("ada", app: "suite-app"))
    }
}

private actor Shared {
    static let one = Shared()

    private var making: Task<Scene, any Error>?
    private var enrolling: Task<EnrolledDevice, any Error>?

    func scene() async throws -> Scene {
        let task = making ?? Task { try await Scene.make(on: try await TestServer.start()) }
        making = task
        return try await task.value
    }

    func enrolled() async throws -> EnrolledDevice {
        let scene = try await scene()
        let task = enrolling ?? Task { try await scene.device.enrol() }
        enrolling = task
        return try await task.value
    }
}
