// TestKit: what tests of several rooms share. A real PostgreSQL, a whole server in this process or in its own, clients that
// speak to it over sockets, and a clock that tests move. No product links it.
