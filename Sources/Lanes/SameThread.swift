/// Runs what becomes ready on the thread that made it ready: a request's task begins on its connection's thread and goes
/// on, once the database has answered, on the thread that read the answer.
///
/// Waking another thread costs more than most requests compute, twice for every wait. The price: nobody may resume a
/// continuation while holding a lock that the awakened code could take.
public final class SameThread: TaskExecutor {
    public init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
