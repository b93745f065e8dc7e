// HTTP: libmicrohttpd for any program.
//
// A `Server` accepts connections, refuses what cannot be read in one way only, routes the rest by `Router`, and gives
// each request to a `Handler`. Event streams are answered by an `EventSource` and written by the stream engine.
//
// It never knows a token, an account, a database or the shape of an error document: refusals become responses through
// a closure of the application, and whoever wants to log or count gets one `Exchange` per request.
//
// Threads: the library's workers run `Handler.admit`, `Handler.handle`, `decorate`, `refuse` and `observe`; none of
// these may block. Asynchronous answers run on tasks that are used again (`Runners`). One thread accepts, one enforces
// deadlines, one serves the event streams, whose connections the library has given up.
//
// C handles: `MHD_Connection` is kept as a bit pattern and only while its connection is suspended, which is when the
// library may not free it.
