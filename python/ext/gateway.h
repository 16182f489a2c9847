/* gateway.h - what both gateways are: one application under the core.
 *
 *     server.c ──▶ struct ext_gateway ◀── wsgi_gateway.c, asgi_gateway.c
 *
 * and what both are made of, a file for each idea:
 *
 *     file.h      files that are lent to the core
 *     option.h    what the configuration says
 *     method.h    the methods that most requests have, as objects
 *     path.h      the path without its percent-encoding
 *     names.h     header fields seen lately, as objects
 *     strings.h   interned strings by name
 *     spare.h     objects that are used again
 *     report.h    what the log says when an application ends badly
 *
 * Everything here is called on the loop's thread with the GIL held, but for
 * ext_raise_gone. */

#ifndef XS_EXT_GATEWAY_H
#define XS_EXT_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/gateway.h"
#include "python/ext/python.h"

struct ext_gateway;

struct ext_gateway_ops {
    /* Free it. No request is at it any more. What still runs of the
     * application is on its own: what that calls says that the client is
     * gone. */
    void (*free)(struct ext_gateway *gateway);

    /* For the server's tp_traverse. The server's tp_finalize frees it. */
    int (*traverse)(struct ext_gateway *gateway, visitproc visit, void *arg);

    /* The end of a graceful shutdown: cancel what runs, if that can be. */
    void (*cancel)(struct ext_gateway *gateway);

    /* Free what was kept in xs_request.conn_user; not NULL. */
    void (*conn_close)(void *conn_user);
};

/* Embedded first in the gateway's own struct. Written by the gateway. */
struct ext_gateway {
    struct xs_gateway base;
    const struct ext_gateway_ops *ops; /* static */
    PyObject *app;                     /* owned */
    PyObject *logger;                  /* owned: xsgi.error */
    PyObject *disconnected;            /* owned: xsgi.ClientDisconnected */
    unsigned long thread;              /* the loop's */
    unsigned fork_count;               /* of the process that serves */
    size_t running; /* requests whose application has not returned, be their
                     * response complete or not; with the GIL held */
    bool told_websocket; /* the log has said that there are none yet */
    bool is_interrupted; /* the application has raised KeyboardInterrupt: who
                          * runs the backend gives it to the interpreter */
};

/* Make xsgi.ClientDisconnected and put it on `module`. New; NULL with an
 * exception set. */
PyObject *ext_gateway_init_type(PyObject *module);

/* Fill a zeroed base; `gateway->base.ops` and `ops` are the caller's to set.
 * -1 with an exception set: fini is to be called all the same. */
int ext_gateway_init(struct ext_gateway *gateway, PyObject *app,
                     PyObject *disconnected);
int ext_gateway_traverse(struct ext_gateway *gateway, visitproc visit,
                         void *arg);
void ext_gateway_fini(struct ext_gateway *gateway);

/* A client offers another protocol. If it asks for a WebSocket, the log says
 * once that it does not get one: its request is served as if it had not, and
 * the application's 404 would look like a mistake in its routes. */
void ext_gateway_upgrade(struct ext_gateway *gateway,
                         const struct xs_head *head);

/* How many bytes `block` stands for: bytes, a range of a file (file.h), NULL.
 */
size_t ext_block_len(PyObject *block);

/* Give `block` to the core: by reference if it is long. Errors as
 * xs_response_body. */
XS_MUST_CHECK int ext_lend(struct xs_request *req, PyObject *block, bool more);

/* Which rule a field of that name has broken that the core refused. */
const char *ext_field_rule(struct xs_slice name);

/* Raise `disconnected` with the reason; `why` counts if `told`: on_abort came.
 * Always -1. */
int ext_raise_gone(PyObject *disconnected, bool told, enum xs_abort why);

#endif
