package import Wire

/// A UUID that says whose it is: an account's is not a device's.
package struct ID<Subject>: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let uuid: UUID

    package init(_ uuid: UUID) { self.uuid = uuid }

    package init?(_ text: String) {
        guard let uuid = UUID(text) else { return nil }
        self.uuid = uuid
    }

    package var description: String { uuid.description }

    package static func < (left: ID, right: ID) -> Bool { left.uuid < right.uuid }
}

package enum AccountSubject {}
package enum DeviceSubject {}
package enum SessionSubject {}
package enum MailboxSubject {}
package enum MessageSubject {}
package enum AuditEntrySubject {}

package typealias AccountID = ID<AccountSubject>
package typealias DeviceID = ID<DeviceSubject>
package typealias SessionID = ID<SessionSubject>
package typealias MailboxID = ID<MailboxSubject>
/// Chosen by the sender; unique for its device.
package typealias MessageID = ID<MessageSubject>
package typealias AuditEntryID = ID<AuditEntrySubject>

/// The name an administrator gives an app; also its OAuth `client_id`.
package struct AppID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// Takes `^[a-z][a-z0-9-]{1,62}$` and nothing else.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (2...63).contains(bytes.count), let first = bytes.first, Self.isLetter(first) else { return nil }
        guard bytes.allSatisfy({ Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }) else { return nil }
        self.text = text
    }

    /// For values that were parsed before they were stored.
    package init(stored text: String) { self.text = text }

    package var description: String { text }

    package static func < (left: AppID, right: AppID) -> Bool { left.text < right.text }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
}
