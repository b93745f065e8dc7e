import CMicroHTTPD
import Glibc

// The functions that the library calls. They are global and isolated to nothing: they run on the library's threads.

typealias RawContext = UnsafeMutableRawPointer

/// A connection was taken up by a worker, or is about to be closed.
func connectionChanged(
    _ context: RawContext?, _ handle: OpaquePointer?, _ slot: UnsafeMutablePointer<RawContext?>?,
    _ change: MHD_ConnectionNotificationCode
) {
    guard let context, let handle, let slot else { return }
    let core = Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
    if change == .CONNECTION_NOTIFY_STARTED {
        guard let connection = core.connections.find(socket: chttp_connection_socket(handle)) else { return }
        slot.pointee = Unmanaged.passRetained(connection).toOpaque()
    } else if let held = slot.pointee {
        slot.pointee = nil
        let connection = Unmanaged<Connection>.fromOpaque(held).takeRetainedValue()
        if connection.leavesBody { core.lingerer.keep(connection.socket) }
        core.connections.remove(connection)
    }
}

/// A request line arrived; what is returned becomes the request's context.
func targetArrived(
    _ context: RawContext?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> RawContext? {
    guard let context, let handle, let held = chttp_connection_context(handle) else { return nil }
    let core = Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
    let connection = Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
    let call = Call(core: core, connection: connection, target: target)
    return Unmanaged.passRetained(call).toOpaque()
}

/// A head is complete, a piece of a body arrived, or a request is complete.
func requestCalled(
    _ context: RawContext?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<RawContext?>?
) -> MHD_Result {
    guard let handle, let method, let version, let size, let held = slot?.pointee else { return .NO }
    let call = Unmanaged<Call>.fromOpaque(held).takeUnretainedValue()
    if call.isAwaitingHead { return call.begin(handle, method: method, version: version) }
    guard size.pointee > 0 else { return call.proceed(handle) }
    let piece = UnsafeRawBufferPointer(start: data, count: size.pointee)
    size.pointee = 0
    return call.receive(piece) ? .YES : .NO
}

/// A request is over, whichever way; called exactly once for each context.
func requestCompleted(
    _ context: RawContext?, _ handle: OpaquePointer?, _ slot: UnsafeMutablePointer<RawContext?>?,
    _ code: MHD_RequestTerminationCode
) {
    guard let held = slot?.pointee else { return }
    slot?.pointee = nil
    let status = handle.map { Int(chttp_connection_status($0)) } ?? 0
    let call = Unmanaged<Call>.fromOpaque(held).takeRetainedValue()
    call.complete(wasCompleted: code == .REQUEST_TERMINATED_COMPLETED_OK, status: status)
}

/// The library no longer needs the bytes of a body.
func bytesFreed(_ context: RawContext?) {
    guard let context else { return }
    Unmanaged<SentBytes>.fromOpaque(context).release()
}
