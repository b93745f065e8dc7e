#ifndef ENFILADE_CPOSTGRESQL_SHIM_H
#define ENFILADE_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>

/* Swift's Glibc module does not carry this header; a lane waits on a libpq socket and an eventfd at once. */
#include <sys/eventfd.h>

#endif
