// Lanes: threads of our own for calls that block (libpq, password hashing), so that the cooperative pool never does.
//
// What a lane runs is a plain synchronous closure: one hop onto the thread, one hop back, nothing awaited in between.
// Beside them what belongs to threads: how long lines in front of them take (`Pace`), what all of them touch (`Shards`), and
// tasks that change them as seldom as they can (`SameThread`).
//
// This room knows nothing of databases or keys, and it never drops a job that it has accepted.
