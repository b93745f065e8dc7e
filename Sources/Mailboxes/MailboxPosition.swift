import Domain
import Wire

/// Where a reader stands in a mailbox: everything up to `seq` was seen.
struct MailboxPosition: Hashable, Sendable {
    let epoch: Int64
    let seq: Int64

    init(epoch: Int64, seq: Int64) {
        self.epoch = epoch
        self.seq = seq
    }

    /// Two varints; `nil` for anything else.
    init?(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let position = MailboxPosition(from: &reader), reader.isAtEnd else { return nil }
        self = position
    }

    init?(from reader: inout ByteReader) {
        guard let epoch = try? reader.varint(), let seq = try? reader.varint() else { return nil }
        guard epoch <= UInt64(Sequence.limit), seq <= UInt64(Sequence.limit) else { return nil }
        self.init(epoch: Int64(epoch), seq: Int64(seq))
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        write(to: &writer)
        return writer.finish()
    }

    func write(to writer: inout ByteWriter) {
        writer.varint(UInt64(clamping: epoch))
        writer.varint(UInt64(clamping: seq))
    }
}

/// A position and whose it is, as `next` of a page says it: opaque to clients, the same on every node.
struct MailboxCursor: Hashable, Sendable {
    private static let version: UInt8 = 1

    let device: DeviceID
    let app: AppID
    let position: MailboxPosition

    init(device: DeviceID, app: AppID, position: MailboxPosition) {
        self.device = device
        self.app = app
        self.position = position
    }

    init?(_ text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        var reader = ByteReader(bytes)
        guard let version = try? reader.byte(), version == Self.version, let device = try? reader.uuid(),
            let name = try? reader.bytes(), let app = AppID(String(decoding: name, as: UTF8.self)),
            let position = MailboxPosition(from: &reader), reader.isAtEnd
        else { return nil }
        self.init(device: DeviceID(device), app: app, position: position)
    }

    var text: String {
        var writer = ByteWriter(capacity: 96)
        writer.byte(Self.version)
        writer.uuid(device.uuid)
        writer.bytes(Array(app.text.utf8))
        position.write(to: &writer)
        return Base64URL.encode(writer.finish())
    }
}
