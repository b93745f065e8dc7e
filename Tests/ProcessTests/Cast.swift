// ProcessTests: the program as it is run for real, in processes of its own that are killed, stopped and cut off from
// their database, and the command line around it. Nothing here looks inside a process.
import TestKit
import Wire

/// People with enrolled devices: senders, and receivers whose mailboxes the test follows.
struct Cast: Sendable {
    let admin: SignedIn
    let senders: [EnrolledDevice]
    let receivers: [EnrolledDevice]

    /// Makes the accounts, one app and the devices; `receivers` says how many devices each receiving person has.
    static func enrol(on site: any Site, senders: Int, receivers: [Int]) async throws -> Cast {
        let admin = try await site.signInAdmin()
        try await site.makeApp("chat", by: admin)
        var sending: [EnrolledDevice] = []
        for number in 0..<senders {
            _ = try await site.makePerson("sender\(number)", by: admin)
            sending.append(try await site.signIn("sender\(number)", app: "chat").enrol())
        }
        var receiving: [EnrolledDevice] = []
        for (number, devices) in receivers.enumerated() {
            _ = try await site.makePerson("receiver\(number)", by: admin)
            for _ in 0..<devices {
                receiving.append(try await site.signIn("receiver\(number)", app: "chat").enrol())
            }
        }
        return Cast(admin: admin, senders: sending, receivers: receiving)
    }

    /// Every receiving device, by person.
    var addresses: [(account: UUID, devices: [UUID])] {
        Dictionary(grouping: receivers, by: \.owner.account)
            .map { (account: $0.key, devices: $0.value.map(\.id)) }
    }
}

extension Duration {
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}

extension JSON {
    var number: Int { integer.map { Int($0) } ?? -1 }
}
