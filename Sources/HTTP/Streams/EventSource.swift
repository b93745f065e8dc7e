/// Decides what an event stream carries.
///
/// Calls come on the engine's thread, one at a time for a stream, and must not block. `closed` comes exactly once for
/// every source that was given to the server in a response, also when its stream was never opened; a source that keeps
/// its stream must let go of it there.
public protocol EventSource: AnyObject, Sendable {
    /// Sent at once behind the head, in event-stream form: the place for `retry:`.
    var opening: [UInt8] { get }

    /// Sent last when the server stops.
    var farewell: Frame? { get }

    func opened(_ stream: EventStream)

    /// Fewer than the low-water mark's bytes wait, after the stream was full or `notifyWhenWritable()` was called.
    func writable(_ stream: EventStream)

    func closed(_ stream: EventStream, _ end: EventStream.End)
}

extension EventSource {
    public var opening: [UInt8] { [] }
    public var farewell: Frame? { nil }
}
