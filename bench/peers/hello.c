/* The least that a server on this library can do: the same engine and as many workers as Enfilade, one fixed answer. */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum MHD_Result answer(
    void *closure, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *body, size_t *body_size, void **request) {
    (void) url, (void) method, (void) version, (void) body, (void) body_size;
    static int seen;
    /* The library's custom: the first call sees only the head. */
    if (*request == NULL) {
        *request = &seen;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, closure);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    static char text[] = "hello";
    struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO, (uint16_t) atoi(arguments[1]), NULL, NULL, answer, response,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned int) atoi(arguments[2]), MHD_OPTION_CONNECTION_LIMIT, 10000u,
        MHD_OPTION_END);
    if (daemon == NULL) return 1;
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
