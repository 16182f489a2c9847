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

#include "core/conn/server.h"
#include "python/ext/backend.h"
#include "python/ext/gateway.h"
#include "python/ext/python.h"
#include "python/ext/server_access.h"
#include "python/ext/server_proxies.h"

/* Lines about refused requests in one second. */
#define EXT_REFUSED_LINES 10u

/* Nothing more is said of connections that cannot be accepted for so long. */
#define EXT_REFUSED_ALL_NS (UINT64_C(60) * 1000000000)

struct ext_refused {
    uint64_t until;     /* when the present second is over */
    unsigned lines;     /* in it */
    uint64_t unsaid;    /* refusals that no line was for */
    uint64_t all_until; /* nothing is said of failing accepts till then */
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
    struct ext_proxies *proxies; /* owned; NULL: none is trusted */
    char *hosts;                 /* owned: those that are served */
    struct ext_refused refused;  /* zeroed at first */
};

/* Fill `out` from the attributes of a Config; text is borrowed from literals.
 * 0, or -1 with an exception set. */
int ext_server_config(PyObject *config, struct xs_server_config *out);

/* The hosts that `config.allowed_hosts` names, a sequence of text, as core's
 * `*hosts`, which is in `*out`, owned: PyMem_Free. If it is missing, all. 0, or
 * -1 with an exception set. */
int ext_server_hosts(PyObject *config, char **out, struct xs_slice *hosts);

/* A request was refused: say so, if not too often. */
void ext_refused_add(struct ext_server *server, const struct xs_io_addr *peer,
                     enum xs_refusal why, bool answered);

/* No connection can be accepted: say so, if not too often. */
void ext_refused_all(struct ext_server *server, int err);

/* Say how many there were that nothing was said of. */
void ext_refused_end(struct ext_server *server);

/* Write what waits of the access log, if there is one. */
static inline void ext_server_flush_access(struct ext_server *server)
{
    if (server->access != NULL && ext_access_waits(server->access)) {
        ext_access_flush(server->access, server->logger, server->core.io);
    }
}

/* `timeout_ns`, or less if the access log is to be looked at. Accepts NULL. */
static inline uint64_t ext_server_wait(const struct ext_server *server,
                                       uint64_t timeout_ns)
{
    return server == NULL || server->access == NULL
               ? timeout_ns
               : ext_access_wait(server->access, timeout_ns);
}

/* End everything at once and free it, which is open. Whoever calls it has
 * entered the backend alone. */
void ext_server_close(struct ext_server *server);

/* Nobody holds it any more. If it is another thread's that one will close it,
 * and until then it is held. */
bool ext_server_hand_over(struct ext_server *server);

/* Nobody holds it any more: the same as close, on whatever thread this is. */
void ext_server_drop(struct ext_server *server);

#endif
