/* asgi.h - the gateway to an ASGI 3 application. */

#ifndef XS_EXT_ASGI_H
#define XS_EXT_ASGI_H

#include "core/gateway.h"
#include "python/ext/module.h"

/* A gateway that calls `app` in tasks of `loop`. `config` is a dict of options,
 * read now, not kept; an unknown key is a TypeError. Owned by the caller; NULL
 * with an exception set. GIL held here and in all that follows. */
struct xs_gateway *ext_asgi_new(struct ext_state *state, PyObject *app,
                                PyObject *loop, PyObject *config);

/* No request is at the gateway any more, no connection is open. Accepts
 * NULL. Objects that the application kept stay valid and do nothing. */
void ext_asgi_free(struct xs_gateway *gateway);

/* Visit the objects that the gateway holds. */
int ext_asgi_visit(struct xs_gateway *gateway, visitproc visit, void *arg);

/* A connection is gone: free what the gateway kept in `*req->conn_user`, not
 * NULL. */
void ext_asgi_conn_close(struct xs_gateway *gateway, void *conn_user);

#endif
