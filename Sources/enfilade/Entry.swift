import Application
import Dispatch
import Synchronization

enum Entry {
    /// Runs the verb that the arguments name and returns the exit status.
    ///
    /// The work runs in a detached task: awaiting on the main thread would cost a hop to it for every step.
    static func run(_ arguments: [String]) -> Int32 {
        Signals.block()
        let status = Atomic<Int32>(0)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            let result = await Verbs.dispatch(Array(arguments.dropFirst()))
            status.store(result, ordering: .relaxed)
            done.signal()
        }
        done.wait()
        return status.load(ordering: .relaxed)
    }
}
