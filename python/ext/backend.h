/* backend.h - Backend: a libuv or simulated backend, run from Python.
 *
 *     Backend("uv")            real sockets
 *     Backend("sim", seed=7)   in memory, virtual time, faults by seed
 *
 *     select(timeout) ──▶ drive->run ──▶ HTTP, in C
 *                     ◀── [(key, events), ...] of watched descriptors
 *
 * A loop that drives calls `select` as asyncio calls its selector. A guest in
 * a loop of somebody else's watches `fileno()`, honours `next()`, is told by
 * `on_kick`, and calls `select(0)`.
 *
 * One thread uses it at a time. While it blocks it has let go of the GIL, and
 * also in the middle of its work the GIL may go to another thread. So all that
 * touches it (Backend, Server, SimPeer, watches, the loop's turns) is between
 * two calls, and only the first of them knows who may:
 *
 *     enter ──▶ depth + 1, `thread` is ours ──▶ ... ──▶ leave
 *       └─ RuntimeError: it is closed, or another thread's
 *
 * A backend with a server is the thread's that made it, while that lives.
 *
 *     depth 0         nobody is inside; Python's code may do anything
 *     depth 1 and up  inside: it may be used, not run and not closed
 *
 * A step of a task that answers a request does not enter, it comes from the
 * loop's thread anyway. Where the core then calls Python or lets go of the GIL,
 * call_out and called_out stand for them.
 *
 * Clocks, counts and descriptors are only read, and whoever has the GIL may.
 * From elsewhere work is handed over by `post` of io.h. */

#ifndef XS_EXT_BACKEND_H
#define XS_EXT_BACKEND_H

#include <stdbool.h>

#include "core/drive.h"
#include "python/ext/module.h"
#include "python/ext/python.h"
#include "sim/sim.h"
#include "sim/sim_peer.h"

struct ext_server;
struct ext_watch;

struct ext_backend {
    PyObject_HEAD struct xs_drive *drive; /* owned; NULL: closed */
    PyThreadState *saved;                 /* the bridge's */
    struct xs_tape *tape; /* owned; NULL but for the simulation */
    bool is_sim;
    unsigned fork_count; /* of the process that made it */

    /* Written only by server.c and server_close.c. */
    struct ext_server *server; /* borrowed: the one that runs on it */

    /* Written only by backend_enter.c. */
    unsigned long thread; /* who is inside, or who made the server; 0: none */
    unsigned depth;       /* how often it was entered */
    struct ext_server *held;     /* owned until the next leave; NULL: none */
    struct xs_sim_peer *orphans; /* owned, by `user`: nobody holds them */
    bool kicked;                 /* `on_kick` is to be called at the leave */
    bool is_dropped;             /* `held` is to be closed at the leave */
    bool is_posted;              /* `job` is, to bring a leave about */
    struct xs_io_job job;

    /* Written only by backend.c. */
    PyObject *on_kick; /* owned; NULL: none */

    /* Written only by backend_watch.c. */
    struct ext_watch **watches; /* owned, by descriptor */
    int watch_cap;

    /* Written only by backend.c and backend_watch.c. */
    PyObject *ready; /* owned list of (key, events) of this run; NULL: none */
};

/* The backend in `object`, open. NULL with an exception set. Borrowed. */
struct ext_backend *ext_backend_of(struct ext_state *state, PyObject *object);

/* It is the parent's, and we are a forked child: see fork.h. */
bool ext_backend_is_foreign(const struct ext_backend *backend);

/* Begin to use the backend, also from inside of it. Until leave it stays, and
 * so does its server. -1 with an exception set. */
int ext_backend_enter(struct ext_backend *backend);

/* The same, not from inside: to run it, to close it, to give it a server. */
int ext_backend_enter_alone(struct ext_backend *backend);

/* The end of `enter`. What was dropped meanwhile goes now: runs Python code. */
void ext_backend_leave(struct ext_backend *backend);

/* Nobody holds the server any more, and it is the server of another thread:
 * that one closes it, when it leaves. False: to be done here and now. */
bool ext_backend_hand_over(struct ext_backend *backend);

/* Nobody holds the server any more and so nobody is inside: enter to close it,
 * on whatever thread. */
void ext_backend_enter_to_close(struct ext_backend *backend);

/* Call `on_kick`: now, or when who is inside leaves. */
void ext_backend_kick(struct ext_backend *backend);

/* The core calls Python or lets go of the GIL, and may not be called. */
void ext_backend_call_out(struct ext_backend *backend);
void ext_backend_called_out(struct ext_backend *backend);

/* Nobody holds `peer` any more: close it, as soon as this may be. Takes it. */
void ext_backend_drop_peer(struct ext_backend *backend,
                           struct xs_sim_peer *peer);

/* Run once, waiting at most `timeout_ns`, and write what is to be written of
 * the access log. -1 with an exception set: the poll failed, or a signal
 * handler raised. */
int ext_backend_run(struct ext_backend *backend, uint64_t timeout_ns);

/* What became ready in the last run, as a new reference: a list, or an empty
 * tuple. */
PyObject *ext_backend_take_ready(struct ext_backend *backend);

/* watch(fd, events, key), unwatch(fd). */
PyObject *ext_watch_add(PyObject *self, PyObject *args);
PyObject *ext_watch_remove(PyObject *self, PyObject *fd);

/* End all watches on `drive`, the backend's. Drops their keys: runs Python
 * code. */
void ext_watch_clear(struct ext_backend *backend, struct xs_drive *drive);
int ext_watch_traverse(struct ext_backend *backend, visitproc visit, void *arg);

#endif
