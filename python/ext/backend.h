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
 * `on_kick`, and calls `select(0)`. */

#ifndef XS_EXT_BACKEND_H
#define XS_EXT_BACKEND_H

#include <stdbool.h>

#include "core/drive.h"
#include "python/ext/module.h"
#include "python/ext/python.h"
#include "sim/sim.h"

struct ext_server;
struct ext_watch;

struct ext_backend {
    PyObject_HEAD struct xs_drive *drive; /* owned; NULL: closed */
    PyThreadState *saved;                 /* the bridge's */
    struct xs_tape *tape; /* owned; NULL but for the simulation */
    bool is_sim;

    /* Written only by server.c. */
    struct ext_server *server; /* borrowed: the one that runs on it */

    /* Inside select, or the server's close: no second one. */
    bool running;

    /* Written only by backend.c. */
    PyObject *on_kick; /* owned; NULL: none */

    /* Written only by backend_watch.c. */
    struct ext_watch **watches; /* owned, by descriptor */
    int watch_cap;
    PyObject *ready; /* owned list of (key, events) of this run; NULL: none */
};

/* The backend in `object`, open. NULL with an exception set. Borrowed. */
struct ext_backend *ext_backend_of(struct ext_state *state, PyObject *object);

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

/* End all watches. */
void ext_watch_clear(struct ext_backend *backend);
int ext_watch_traverse(struct ext_backend *backend, visitproc visit, void *arg);

#endif
