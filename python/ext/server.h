/* server.h - Server: the core under one application, on one backend.
 *
 *     server = Server(backend, app, "wsgi", config)
 *     host, port = server.listen(fd)
 *     ...                                  the backend is run by somebody
 *     server.stop(grace)
 *     ...                                  on_stopped() is called
 *     server.close() */

#ifndef XS_EXT_SERVER_H
#define XS_EXT_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/conn/server.h"
#include "python/ext/backend.h"
#include "python/ext/gateway.h"
#include "python/ext/python.h"

/* Lines that wait to be written. A full buffer is written at once. */
#define EXT_ACCESS_BUFFER ((size_t)32 * 1024)

struct ext_access {
    int fd;
    bool stalled; /* it took nothing the last time */
    size_t len;
    char buffer[EXT_ACCESS_BUFFER];
};

/* Lines about refused requests in one second. */
#define EXT_REFUSED_LINES 10u

struct ext_refused {
    uint64_t until;  /* when the present second is over */
    unsigned lines;  /* in it */
    uint64_t unsaid; /* refusals that no line was for */
};

struct ext_server {
    PyObject_HEAD struct ext_backend
        *backend; /* owned reference; NULL: closed */
    struct xs_server core;
    struct ext_gateway *gateway; /* owned; NULL: closed, or not yet made */
    unsigned long thread;        /* who made it; only that one uses it */
    PyObject *on_stopped;        /* owned; NULL: none */
    PyObject *logger;            /* owned: xsgi.error */
    struct ext_access *access;   /* owned; NULL: no access log */
    struct ext_refused refused;  /* zeroed at first */
};

/* Fill `out` from the attributes of a Config; text is borrowed from literals.
 * 0, or -1 with an exception set. */
int ext_server_config(PyObject *config, struct xs_server_config *out);

/* A request was refused: say so, if not too often. */
void ext_refused_add(struct ext_server *server, const struct xs_io_addr *peer,
                     enum xs_refusal why, bool answered);

/* Say how many there were that nothing was said of. */
void ext_refused_end(struct ext_server *server);

/* Add the line of one request, in the form that uvicorn's has:
 *
 *     INFO:     127.0.0.1:54321 - "GET / HTTP/1.1" 200 OK
 *
 * and behind it in brackets why it ended, if that was not as it should. */
void ext_access_add(struct ext_access *access, const struct xs_access *entry);

/* Write what waits. The GIL is held and let go meanwhile. */
void ext_access_flush(struct ext_access *access);

/* Likewise, of the server, if it has such a log. */
static inline void ext_server_flush_access(struct ext_server *server)
{
    if (server->access != NULL && server->access->len > 0) {
        ext_access_flush(server->access);
    }
}

/* End everything at once and free it, which is open. Whoever calls it has
 * entered the backend alone. */
void ext_server_close(struct ext_server *server);

/* Nobody holds it any more: the same, on whatever thread this is. */
void ext_server_drop(struct ext_server *server);

#endif
