/* backend_enter.c - who may use a backend, and when. */

#include "core/base/base.h"
#include "python/ext/backend.h"
#include "python/ext/bridge.h"
#include "python/ext/server.h"

static bool enter_is_elsewhere(const struct ext_backend *backend)
{
    return backend->thread != 0 &&
           backend->thread != PyThread_get_thread_ident();
}

/* Keep the server: who is inside goes on to use it. */
static void enter_hold(struct ext_backend *backend)
{
    if (backend->held == NULL && backend->server != NULL) {
        backend->held =
            (struct ext_server *)Py_NewRef((PyObject *)backend->server);
    }
}

int ext_backend_enter(struct ext_backend *backend)
{
    if (backend->drive == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the backend is closed");
        return -1;
    }
    if (enter_is_elsewhere(backend)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the backend is another thread's, and only that one "
                        "may call this: see loop.call_soon_threadsafe");
        return -1;
    }
    if (backend->depth++ == 0) {
        backend->thread = PyThread_get_thread_ident();
        Py_INCREF((PyObject *)backend);
        enter_hold(backend);
    }
    return 0;
}

int ext_backend_enter_alone(struct ext_backend *backend)
{
    if (ext_backend_enter(backend) < 0) {
        return -1;
    }
    if (backend->depth > 1) {
        backend->depth--;
        PyErr_SetString(PyExc_RuntimeError,
                        "the backend runs already: this has to wait until "
                        "that is over");
        return -1;
    }
    return 0;
}

void ext_backend_enter_to_close(struct ext_backend *backend)
{
    XS_ASSERT(backend->depth == 0);
    backend->thread = PyThread_get_thread_ident();
    backend->depth = 1;
    Py_INCREF((PyObject *)backend);
}

static void leave_drop_peers(struct ext_backend *backend)
{
    if (backend->drive == NULL) {
        backend->orphans = NULL; /* they went with it */
    }
    while (backend->orphans != NULL) {
        struct xs_sim_peer *peer = backend->orphans;

        backend->orphans = peer->user;
        xs_sim_peer_close(peer);
    }
}

/* Nobody is inside: it is its server's thread's, or nobody's. */
static void leave_is_over(struct ext_backend *backend)
{
    backend->depth = 0;
    backend->thread = backend->server != NULL ? backend->server->thread : 0;
}

void ext_backend_leave(struct ext_backend *backend)
{
    struct ext_server *held;

    XS_ASSERT(backend->depth > 0);
    if (backend->depth > 1) {
        backend->depth--;
        return;
    }
    leave_drop_peers(backend);
    if (backend->kicked) {
        backend->kicked = false;
        ext_notify(backend->on_kick);
    }
    held = backend->held;
    backend->held = NULL;
    leave_is_over(backend);
    Py_XDECREF((PyObject *)held);
    Py_DECREF((PyObject *)backend);
}

void ext_backend_call_out(struct ext_backend *backend)
{
    if (backend->depth++ == 0) {
        backend->thread = PyThread_get_thread_ident();
        enter_hold(backend);
    }
}

/* What is held stays until somebody leaves: here the core goes on. */
void ext_backend_called_out(struct ext_backend *backend)
{
    XS_ASSERT(backend->depth > 0);
    if (backend->depth > 1) {
        backend->depth--;
    } else {
        leave_is_over(backend);
    }
}

void ext_backend_kick(struct ext_backend *backend)
{
    if (backend->depth > 0) {
        backend->kicked = true;
        return;
    }
    ext_backend_call_out(backend);
    ext_notify(backend->on_kick);
    ext_backend_called_out(backend);
}

void ext_backend_drop_peer(struct ext_backend *backend,
                           struct xs_sim_peer *peer)
{
    if (backend->drive == NULL) {
        return; /* it went with it */
    }
    peer->on_event = NULL;
    if (enter_is_elsewhere(backend)) {
        peer->user = backend->orphans;
        backend->orphans = peer;
        return;
    }
    if (ext_backend_enter(backend) == 0) { /* as it does, by now */
        xs_sim_peer_close(peer);
        ext_backend_leave(backend);
    }
}
