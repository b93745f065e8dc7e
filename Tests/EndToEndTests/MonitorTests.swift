import Application
import TestKit
import Testing

/// The listener for whoever watches.
@Suite struct MonitorTests {
    @Test("Health, readiness and metrics answer on their own listener while the other takes no connection any more")
    func answersWhenFull() async throws {
        try await TestServer.with {
            $0.monitorAddress = "127.0.0.1"
            $0.connections = 8
        } _: { server in
            let port = try #require(server.monitorPort)
            let main = server.port
            // At the monitor's port: the other's connections are counted here.
            try await until("ready") {
                try await blocking {
                    let client = try RawClient(port: port)
                    try client.send("GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    return try client.answer().status == 200
                }
            }
            let (taken, waiting) = try await blocking {
                let taken = try (0..<8).map { _ in try RawClient(port: main) }
                for client in taken {
                    try client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try client.answer().status == 200)
                }
                let waiting = try RawClient(port: main)
                try waiting.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                return (taken, waiting)
            }
            try await blocking {
                for path in ["/healthz", "/readyz", "/metrics"] {
                    let client = try RawClient(port: port)
                    try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    let answer = try client.answer()
                    #expect(answer.status == 200, "\(path)")
                    guard path == "/metrics" else { continue }
                    #expect(answer.text.contains("\nenfilade_http_connections 8\n"))
                    #expect(answer.text.contains("\nenfilade_http_connections_timed_out_total{stage=\"head\"} 0\n"))
                    #expect(answer.text.contains("\nenfilade_http_body_bytes 0\n"))
                }
                for client in taken { client.close() }
                #expect(try waiting.answer().status == 200)
            }
        }
    }

    @Test("Nothing but health and metrics is on the monitor's listener, and the other keeps asking for the token")
    func nothingElse() async throws {
        try await TestServer.with {
            $0.monitorAddress = "127.0.0.1"
        } _: { server in
            let port = try #require(server.monitorPort)
            try await blocking {
                let client = try RawClient(port: port)
                for path in ["/v1/capabilities", "/v1/session", "/oauth2/authorize", "/openapi.yaml", "/"] {
                    try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try client.answer().status == 404, "\(path)")
                }
                try client.send("POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().status == 405)
            }
            #expect(try await server.client.send("GET", "/metrics").status == 401)
        }
    }

    @Test("Peers on this machine may have more connections than one address elsewhere")
    func loopback() async throws {
        try await TestServer.with {
            $0.connectionsPerAddress = 1
        } _: { server in
            let port = server.port
            try await blocking {
                let clients = try (0..<5).map { _ in try RawClient(port: port) }
                for client in clients {
                    try client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try client.answer().status == 200)
                }
            }
        }
    }

    @Test("An escaped letter in a path is another path", arguments: ["/v1/%61pps", "/%76%31/apps", "/%6detrics"])
    func escapedLiteral(_ path: String) async throws {
        try await TestServer.with { server in
            let answer = try await server.client.send("GET", path)
            #expect(answer.status == 404)
        }
    }
}
