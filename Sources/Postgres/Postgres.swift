// Postgres: libpq for any program. A pool of connections, each on a thread of its own; SQL whose text is fixed when the
// program is compiled and whose values are always bound; rows in binary; a listener; reconnecting by itself.
//
// This room never names a table, never retries on its own, never writes to standard error, and never calls libpq on the
// cooperative pool. A transaction is a plain synchronous closure on the thread of its connection.
