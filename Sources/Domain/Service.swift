/// Something that lives as long as the server does.
public protocol Service: Sendable {
    /// Runs until its task is cancelled, then returns when its work is put down in good order.
    func run() async
}
