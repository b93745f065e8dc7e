import API
import Domain
import Wire

/// Where a stream stands in all of its sources: the `id:` of its events (WHATWG HTML §9.2).
///
/// Base64url of a version byte, the device, the app, and each source's letter with its position. It is a claim of the
/// client's, and no more is taken from it than where to go on: whose stream it is, the token says.
struct StreamCursor: Equatable {
    private static let version: UInt8 = 1
    /// Room for every source there may ever be, and no more.
    private static let limit = 512

    let device: DeviceID
    let app: AppID
    var positions: [UInt8: Position]

    init(device: DeviceID, app: AppID, positions: [UInt8: Position]) {
        self.device = device
        self.app = app
        self.positions = positions
    }

    /// Reads what a client sent back; refused when it is another stream's, or none of ours.
    init(_ text: String, of listener: Listener) throws(Failure) {
        guard text.utf8.count <= Self.limit, let bytes = Base64URL.decode(text), let cursor = Self(bytes) else {
            throw .invalid("Last-Event-ID", "is not an id of an event of this server")
        }
        guard cursor.device == listener.device, cursor.app == listener.caller.app else {
            throw .invalid("Last-Event-ID", "is an id of another device or app")
        }
        self = cursor
    }

    private init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(ByteReader.Fault) {
            guard try reader.byte() == Self.version else { return nil }
            device = DeviceID(try reader.uuid())
            let name = String(validating: try reader.bytes(), as: UTF8.self)
            guard let app = name.flatMap(AppID.init) else { return nil }
            self.app = app
            positions = [:]
            while !reader.isAtEnd {
                let letter = try reader.byte()
                guard positions.updateValue(try reader.bytes(), forKey: letter) == nil else { return nil }
            }
        } catch {
            return nil
        }
    }

    var text: String {
        Self.text(device: device, app: app, positions: positions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The text of a cursor that need not be made: every event of every stream carries one.
    static func text(
        device: DeviceID, app: AppID, positions: some Sequence<(letter: UInt8, position: Position)>
    ) -> String {
        var writer = ByteWriter(capacity: 96)
        writer.byte(version)
        writer.uuid(device.uuid)
        writer.text(app.text)
        for (letter, position) in positions {
            writer.byte(letter)
            writer.bytes(position)
        }
        return Base64URL.encode(writer.finish())
    }
}
