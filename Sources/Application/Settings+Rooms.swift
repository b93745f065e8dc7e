import Accounts
import Configuration
import Crypto
import Devices
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
        login.signIns = scaled(login.signIns)
        login.byPlace = scaled(login.byPlace)
        return login
    }

    var accounts: Accounts.Settings {
        var accounts = Accounts.Settings()
        accounts.directory = scaled(accounts.directory)
        return accounts
    }

    var devices: Devices.Settings {
        var devices = Devices.Settings()
        devices.changes = scaled(devices.changes)
        return devices
    }

    /// What one account may ask on one node, whatever it is.
    var requests: Rate { scaled(Rate("requests", per: .account, burst: 2_000, every: .milliseconds(5))) }

    /// Every rate that somebody may run into.
    var rates: [Rate] {
        let mailboxes = mailboxLimits
        return [
            requests, login.byPlace, login.signIns, accounts.directory, devices.changes, configurationLimits.reports,
            mailboxes.sendsOfDevice, mailboxes.sendsOfAccount, mailboxes.sendsToDevice,
        ].filter(\.isLimited)
    }

    private func scaled(_ rate: Rate) -> Rate { rate.scaled(toPercent: rateLimitPercent) }

    var mailboxLimits: Mailboxes.Limits {
        var limits = Mailboxes.Limits()
        limits.ciphertextBytes = ciphertextBytes
        limits.envelopes = envelopes
        limits.bodyBytes = messageBytes
        limits.mailboxItems = Int64(mailboxItems)
        limits.mailboxBytes = Int64(mailboxBytes)
        limits.sendsOfDevice = scaled(limits.sendsOfDevice)
        limits.sendsOfAccount = scaled(limits.sendsOfAccount)
        limits.longestLine = .milliseconds(longestWait)
        limits.lockWait = lockTimeout / 4
        limits.maximumAge = .seconds(mailboxDays * 86_400)
        return limits
    }

    var configurationLimits: Configuration.Limits {
        var limits = Configuration.Limits()
        limits.bytes = configurationBytes
        limits.reports = scaled(limits.reports)
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

extension Settings {
    /// Says what is not wrong, but perhaps not meant.
    func advise(_ observe: Observe) {
        let isLoopback = listenAddress.hasPrefix("127.") || listenAddress == "::1" || listenAddress == "localhost"
        guard trustedProxies.isEmpty, !isLoopback || issuer.hasPrefix("https://") else { return }
        observe(
            .advice(
                isLoopback
                    ? "ENFILADE_TRUSTED_PROXIES names no proxy: clients share one address, and limits by address are off"
                    : "ENFILADE_TRUSTED_PROXIES names no proxy: behind one, all clients would share its address"))
    }
}
