/* loop_turns.h - what the parts of Turns share. */

#ifndef XS_EXT_LOOP_TURNS_H
#define XS_EXT_LOOP_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/ext/backend.h"
#include "python/ext/loop_handle.h"

#define TURNS_STRINGS(X)                         \
    X(stopping, "_stopping")                     \
    X(scheduled, "_scheduled")                   \
    X(cancelled, "_cancelled")                   \
    X(cancelled_count, "_timer_cancelled_count") \
    X(process_events, "_process_events")         \
    X(run, "_run")                               \
    X(context, "context")

struct ext_turns {
    PyObject_HEAD struct ext_backend *backend; /* owned; NULL: garbage */
    PyObject *loop;                            /* owned; NULL: garbage */
    PyObject *failed;     /* owned: failed(handle, error) */
    PyObject *call_soon;  /* owned: the inherited ones, bound */
    PyObject *call_at;    /* owned */
    PyObject *call_later; /* owned */
    PyObject *run_once;   /* owned */
    PyObject *ready;      /* owned: loop._ready, a deque */
    PyObject *append;     /* owned: its methods, bound */
    PyObject *popleft;    /* owned */
    PyObject *heappush;   /* owned: those of heapq */
    PyObject *heappop;    /* owned */
    struct ext_handles handles;
    bool strange_timers; /* some are not ours: heapq compares them */
    struct {
#define X(name, text) PyObject *name;
        TURNS_STRINGS(X)
#undef X
    } str; /* owned, interned */
};

/* Methods, for METH_FASTCALL | METH_KEYWORDS: as those of a loop. */
PyObject *turns_call_soon(PyObject *self, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords);
PyObject *turns_call_at(PyObject *self, PyObject *const *args, Py_ssize_t count,
                        PyObject *keywords);
PyObject *turns_call_later(PyObject *self, PyObject *const *args,
                           Py_ssize_t count, PyObject *keywords);

/* The loop was collected with all that belongs to it, and one of that calls:
 * the exception for it. NULL. */
PyObject *turns_are_over(void);

/* The clock, in seconds. -1 with an exception set: the backend was closed, as
 * whatever runs Python code may do. */
int turns_now(const struct ext_turns *turns, double *out);

/* The timers are `timers`, a list that heapq keeps: loop._scheduled. */

/* Whether there is something that asyncio had better do in this turn: a timer
 * of a kind that we do not know, or many that were cancelled. -1 with an
 * exception set. */
int turns_timers_are_rare(struct ext_turns *turns, PyObject *timers);

/* Put `timer` in. 0, or -1 with an exception set. */
int turns_timers_add(struct ext_turns *turns, PyObject *timers,
                     PyObject *timer);

/* Drop cancelled timers from the front. 0, or -1 with an exception set. */
int turns_timers_drop(struct ext_turns *turns, PyObject *timers);

/* ns until the first one is due, at most a day; XS_NEVER if there is none.
 * 0, or -1 with an exception set. */
int turns_timers_wait(const struct ext_turns *turns, PyObject *timers,
                      uint64_t *out);

/* Make ready what is due. 0, or -1 with an exception set. */
int turns_timers_run(struct ext_turns *turns, PyObject *timers);

#endif
