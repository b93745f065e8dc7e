// What Swift cannot call of libmicrohttpd and of Linux: variadic functions, macros, and epoll. No logic lives here.
#ifndef ENFILADE_CMICROHTTPD_SHIM_H
#define ENFILADE_CMICROHTTPD_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Declared by the C library only for GNU sources, which the rest of Swift's view of it is not.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

static const uint32_t chttp_epoll_in = EPOLLIN;
static const uint32_t chttp_epoll_out = EPOLLOUT;
static const uint32_t chttp_epoll_gone = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

struct chttp_daemon_options {
    unsigned int workers;
    unsigned int connection_limit;
    size_t connection_memory;
    int strictness;
};

static inline struct MHD_Daemon *chttp_start(
    struct chttp_daemon_options options, void *context, MHD_AccessHandlerCallback access,
    void *(*target)(void *, const char *, struct MHD_Connection *), MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET, 0, NULL,
        NULL, access, context,                                                        //
        MHD_OPTION_THREAD_POOL_SIZE, options.workers,                                 //
        MHD_OPTION_CONNECTION_LIMIT, options.connection_limit,                        //
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options.connection_memory,                //
        MHD_OPTION_CONNECTION_TIMEOUT, 0u,                                            //
        MHD_OPTION_STRICT_FOR_CLIENT, options.strictness,                             //
        MHD_OPTION_URI_LOG_CALLBACK, target, context,                                 //
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,                              //
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,                            //
        MHD_OPTION_END);
}

static inline int chttp_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : (int) info->connect_fd;
}

static inline void *chttp_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static inline unsigned int chttp_connection_status(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_HTTP_STATUS);
    return info == NULL ? 0 : info->http_status;
}

static inline size_t chttp_connection_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

static inline int chttp_accept(int listener, struct sockaddr_storage *address, socklen_t *length) {
    *length = sizeof(*address);
    return accept4(listener, (struct sockaddr *) address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int chttp_set_option(int socket, int level, int name, int value) {
    return setsockopt(socket, level, name, &value, sizeof(value));
}

static inline int chttp_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int chttp_epoll_set(int epoll, int operation, int socket, uint32_t events, uint64_t tag) {
    struct epoll_event event;
    memset(&event, 0, sizeof(event));
    event.events = events;
    event.data.u64 = tag;
    return epoll_ctl(epoll, operation, socket, &event);
}

static const int chttp_epoll_add = EPOLL_CTL_ADD;
static const int chttp_epoll_modify = EPOLL_CTL_MOD;
static const int chttp_epoll_delete = EPOLL_CTL_DEL;

/// Fills `tags` and `events` (each of `capacity` <= 256 entries) and returns how many were ready, or -1.
static inline int chttp_epoll_wait(int epoll, uint64_t *tags, uint32_t *events, int capacity, int milliseconds) {
    struct epoll_event ready[256];
    int count = epoll_wait(epoll, ready, capacity < 256 ? capacity : 256, milliseconds);
    for (int i = 0; i < count; i += 1) {
        tags[i] = ready[i].data.u64;
        events[i] = ready[i].events;
    }
    return count;
}

static inline int chttp_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

#endif
