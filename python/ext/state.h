/* state.h - what one interpreter's module holds. */

#ifndef XS_EXT_STATE_H
#define XS_EXT_STATE_H

#include "python/ext/asgi.h"
#include "python/ext/python.h"
#include "python/ext/wsgi.h"

struct ext_state {
    struct ext_asgi asgi;
    struct ext_wsgi wsgi;
    PyObject *disconnected;      /* owned: xsgi.ClientDisconnected */
    PyTypeObject *backend_type;  /* owned */
    PyTypeObject *server_type;   /* owned */
    PyTypeObject *sim_peer_type; /* owned */
    PyTypeObject *turns_type;    /* owned */
};

#endif
