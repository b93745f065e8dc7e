import Configuration
import Crypto
import Domain
import HTTP
import Login
import Mailboxes
import Updates
import Wire

// The operator's settings as each room wants them.

extension Settings {
    var passwordCost: PasswordHash.Cost {
        PasswordHash.Cost(opslimit: 2, memlimit: passwordMemory * 1024 * 1024) ?? .standard
    }

    var login: Login.Settings {
        var login = Login.Settings()
        login.accessTokenLife = .seconds(accessTokenSeconds)
        login.sessionLimit = .seconds(sessionDays * 86_400)
        return login
    }

    var mailboxLimits: Mailboxes.Limits {
        var limits = Mailboxes.Limits()
        limits.ciphertextBytes = ciphertextBytes
        limits.envelopes = envelopes
        limits.bodyBytes = messageBytes
        limits.mailboxItems = Int64(mailboxItems)
        limits.mailboxBytes = Int64(mailboxBytes)
        limits.maximumAge = .seconds(mailboxDays * 86_400)
        return limits
    }

    var configurationLimits: Configuration.Limits {
        var limits = Configuration.Limits()
        limits.bytes = configurationBytes
        return limits
    }

    var updates: Updates.Settings {
        var updates = Updates.Settings()
        updates.streamsPerDevice = streamsPerDevice
        updates.streamsPerAccount = streamsPerAccount
        return updates
    }

    var server: Server.Settings {
        var server = Server.Settings()
        server.address = listenAddress
        server.port = listenPort
        server.inheritedSocket = inheritedSocket
        server.workers = workers
        server.connectionLimit = connections
        server.connectionsPerAddress = connectionsPerAddress
        // A proxy on this machine that nobody named would be all its clients at once.
        server.countsLoopback = false
        server.bodiesInFlight = bodiesInFlightBytes
        server.headerBytes = headerBytes
        server.targetBytes = urlBytes
        // Both, and as much again for the library's own bookkeeping of them.
        server.connectionMemory = max(16 * 1024, 2 * (headerBytes + urlBytes))
        server.streams.heartbeat = Frame(ServerSentEvent(event: "heartbeat", data: Array("{}".utf8)))
        return server
    }

    /// The listener for whoever watches: few connections, and threads that nobody else uses.
    var monitor: Server.Settings? {
        guard !monitorAddress.isEmpty else { return nil }
        var server = Server.Settings()
        server.address = monitorAddress
        server.port = monitorPort
        server.workers = 2
        server.connectionLimit = 256
        server.connectionsPerAddress = 64
        server.idleTimeout = .seconds(15)
        return server
    }
}
