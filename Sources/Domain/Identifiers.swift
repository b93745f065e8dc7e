public import Wire

/// A UUID that says whose it is: an account's is not a device's.
public struct ID<Subject>: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) { self.uuid = uuid }

    public init?(_ text: String) {
        guard let uuid = UUID(text) else { return nil }
        self.uuid = uuid
    }

    public var description: String { uuid.description }

    public static func < (left: ID, right: ID) -> Bool { left.uuid < right.uuid }
}

public enum AccountSubject {}
public enum DeviceSubject {}
public enum SessionSubject {}
public enum MailboxSubject {}
public enum MessageSubject {}
public enum AuditEntrySubject {}

public typealias AccountID = ID<AccountSubject>
public typealias DeviceID = ID<DeviceSubject>
public typealias SessionID = ID<SessionSubject>
public typealias MailboxID = ID<MailboxSubject>
/// Chosen by the sender; unique for its device.
public typealias MessageID = ID<MessageSubject>
public typealias AuditEntryID = ID<AuditEntrySubject>

/// The name an administrator gives an app; also its OAuth `client_id`.
public struct AppID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    /// Takes `^[a-z][a-z0-9-]{1,62}$` and nothing else.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (2...63).contains(bytes.count), let first = bytes.first, Self.isLetter(first) else { return nil }
        guard bytes.allSatisfy({ Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }) else { return nil }
        self.text = text
    }

    /// For values that were parsed before they were stored.
    public init(stored text: String) { self.text = text }

    public var description: String { text }

    public static func < (left: AppID, right: AppID) -> Bool { left.text < right.text }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
}
