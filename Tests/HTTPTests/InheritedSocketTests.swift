import Glibc
import HTTP
import TestKit
import Testing

/// Sockets that listened before the server and go on after it.
@Suite(.serialized) struct InheritedSocketTests {
    @Test("Who connects between two servers on one socket waits for the second")
    func handedOn() async throws {
        let socket = try ListeningSocket()
        let first = try Scene { $0.inheritedSocket = dup(socket.descriptor) }
        #expect(first.server.port == socket.port)
        #expect(try await Self.ask(socket.port).status == 200)
        await first.server.drain(grace: .seconds(1))
        let waiting = try await blocking {
            let client = try RawClient(port: socket.port)
            try client.send("GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return client
        }
        let second = try Scene { $0.inheritedSocket = dup(socket.descriptor) }
        #expect(try await blocking { try waiting.answer().status } == 200)
        #expect(second.server.figures.acceptedTotal == 1)
        await second.server.drain(grace: .seconds(1))
    }

    @Test("A descriptor that is no listening TCP socket is refused")
    func otherDescriptors() async throws {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        let plain = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(plain) }
        for descriptor in [pair[0], plain, 1_000_000] {
            #expect(throws: ServerFault.notListening(descriptor)) { try Scene { $0.inheritedSocket = descriptor } }
        }
    }

    private static func ask(_ port: Int) async throws -> RawClient.Answer {
        try await blocking {
            let client = try RawClient(port: port)
            try client.send("GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return try client.answer()
        }
    }
}
