/* backend_enter.c - who may use a backend, and when. */

#include "core/base/base.h"
#include "python/ext/backend.h"
#include "python/ext/bridge.h"
#include "python/ext/fork.h"
#include "python/ext/server.h"

/* Threads that have ended without a word leave their backend to others. */
static bool thread_lives(unsigned long ident)
{
    PyThreadState *thread =
        PyInterpreterState_ThreadHead(PyInterpreterState_Get());

    while (thread != NULL && thread->thread_id != ident) {
        thread = PyThreadState_Next(thread);
    }
    return thread != NULL;
}

bool ext_backend_is_foreign(const struct ext_backend *backend)
{
    return backend->fork_count != ext_fork_count();
}

/* It is another thread's than `here`, the present one. */
static bool enter_is_elsewhere(const struct ext_backend *backend,
                               unsigned long here)
{
    return backend->thread != here && backend->thread != 0 &&
           (backend->depth > 0 || thread_lives(backend->thread));
}

/* It is this thread's, and so are the server and its application. */
static void enter_own(struct ext_backend *backend, unsigned long here)
{
    struct ext_server *server = backend->server;

    if (backend->thread != here && server != NULL) {
        server->thread = here;
        server->gateway->thread = here;
    }
    backend->thread = here;
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
    unsigned long here = PyThread_get_thread_ident();

    if (backend->drive == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the backend is closed");
        return -1;
    }
    if (ext_backend_is_foreign(backend)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the backend is the parent process's: a forked child "
                        "makes its own");
        return -1;
    }
    if (enter_is_elsewhere(backend, here)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the backend is another thread's, and only that one "
                        "may call this: see loop.call_soon_threadsafe");
        return -1;
    }
    if (backend->depth++ == 0) {
        enter_own(backend, here);
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

/* It has woken the thread that closes the server when it leaves. */
static void on_posted(struct xs_io_job *job)
{
    struct ext_backend *backend = xs_container_of(job, struct ext_backend, job);

    backend->is_posted = false;
}

void ext_backend_enter_to_close(struct ext_backend *backend)
{
    XS_ASSERT(backend->depth == 0);
    backend->thread = PyThread_get_thread_ident();
    backend->depth = 1;
    Py_INCREF((PyObject *)backend);
}

bool ext_backend_hand_over(struct ext_backend *backend)
{
    struct xs_io *io;

    if (backend->drive == NULL ||
        !enter_is_elsewhere(backend, PyThread_get_thread_ident())) {
        return false;
    }
    enter_hold(backend);
    backend->is_dropped = true;
    if (!backend->is_posted) {
        io = backend->drive->io;
        backend->is_posted = true;
        backend->job.run = on_posted;
        io->ops->post(io, &backend->job);
    }
    return true;
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
    if (backend->is_dropped) {
        backend->is_dropped = false;
        if (backend->server != NULL) {
            ext_server_close(backend->server);
        }
    }
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
    if (backend->drive == NULL || ext_backend_is_foreign(backend)) {
        return; /* it went with it, or is not ours */
    }
    peer->on_event = NULL;
    if (enter_is_elsewhere(backend, PyThread_get_thread_ident())) {
        peer->user = backend->orphans;
        backend->orphans = peer;
        return;
    }
    if (ext_backend_enter(backend) == 0) { /* as it does, by now */
        xs_sim_peer_close(peer);
        ext_backend_leave(backend);
    }
}
