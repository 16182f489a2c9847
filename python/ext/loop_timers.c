/* loop_timers.c - the timers of a loop, in asyncio's own heap. */

#include <math.h>

#include "core/base/base.h"
#include "core/base/deadline.h"
#include "python/ext/loop_turns.h"

/* As in asyncio: beyond so many timers, and half of them cancelled, all
 * cancelled ones are thrown out at once. */
#define TIMERS_MANY 100
#define WAIT_MAX_S (24.0 * 3600.0)
#define TICK_S 1e-9 /* the clock's resolution */

static double timers_now(const struct ext_turns *turns)
{
    struct xs_io *io = turns->backend->drive->io;

    return (double)io->ops->now(io) / 1e9;
}

/* The first timer, borrowed; NULL if there is none or it is not one that we
 * know. */
static PyObject *timers_first(const struct ext_turns *turns, PyObject *timers)
{
    PyObject *timer;

    if (PyList_GET_SIZE(timers) == 0) {
        return NULL;
    }
    timer = PyList_GET_ITEM(timers, 0);
    return Py_IS_TYPE(timer, turns->handles.timer_type) ? timer : NULL;
}

/* Take the first timer, which is one that we know, out. New; NULL with an
 * exception set. */
static PyObject *timers_pop(struct ext_turns *turns, PyObject *timers)
{
    PyObject *timer = PyObject_CallOneArg(turns->heappop, timers);

    if (timer != NULL) {
        ext_handle_set(timer, turns->handles.scheduled, Py_False);
    }
    return timer;
}

/* How many of the timers are cancelled. */
static int timers_cancelled(const struct ext_turns *turns, Py_ssize_t *out)
{
    PyObject *count = PyObject_GetAttr(turns->loop, turns->str.cancelled_count);

    *out = count == NULL ? -1 : PyLong_AsSsize_t(count);
    Py_XDECREF(count);
    return *out == -1 && PyErr_Occurred() != NULL ? -1 : 0;
}

/* One of the cancelled ones is no longer there. */
static int timers_count_down(const struct ext_turns *turns)
{
    PyObject *number;
    Py_ssize_t count;
    int err;

    if (timers_cancelled(turns, &count) < 0) {
        return -1;
    }
    number = PyLong_FromSsize_t(count - 1);
    if (number == NULL) {
        return -1;
    }
    err = PyObject_SetAttr(turns->loop, turns->str.cancelled_count, number);
    Py_DECREF(number);
    return err;
}

int turns_timers_are_rare(struct ext_turns *turns, PyObject *timers)
{
    Py_ssize_t count = PyList_GET_SIZE(timers);
    Py_ssize_t cancelled;

    if (count > TIMERS_MANY) {
        if (timers_cancelled(turns, &cancelled) < 0) {
            return -1;
        }
        if (cancelled > count / 2) {
            return 1;
        }
    }
    return count > 0 && timers_first(turns, timers) == NULL;
}

int turns_timers_drop(struct ext_turns *turns, PyObject *timers)
{
    PyObject *timer;

    while ((timer = timers_first(turns, timers)) != NULL &&
           ext_handle_get(timer, turns->handles.cancelled) == Py_True) {
        if (timers_count_down(turns) < 0) {
            return -1;
        }
        timer = timers_pop(turns, timers);
        if (timer == NULL) {
            return -1;
        }
        Py_DECREF(timer);
    }
    return 0;
}

/* When `timer` is due. */
static int timer_when(const struct ext_turns *turns, PyObject *timer,
                      double *out)
{
    PyObject *when = ext_handle_get(timer, turns->handles.when);

    *out = when == NULL ? 0 : PyFloat_AsDouble(when);
    return *out == -1.0 && PyErr_Occurred() != NULL ? -1 : 0;
}

int turns_timers_wait(const struct ext_turns *turns, PyObject *timers,
                      uint64_t *out)
{
    PyObject *timer = timers_first(turns, timers);
    double wait;

    if (timer == NULL) {
        *out = XS_NEVER;
        return 0;
    }
    if (timer_when(turns, timer, &wait) < 0) {
        return -1;
    }
    wait -= timers_now(turns);
    wait = wait < WAIT_MAX_S ? wait : WAIT_MAX_S;
    *out = wait > 0 ? (uint64_t)ceil(wait * 1e9) : 0;
    return 0;
}

int turns_timers_run(struct ext_turns *turns, PyObject *timers)
{
    double now;
    double end;
    double when;
    PyObject *timer;
    PyObject *done;

    if (PyList_GET_SIZE(timers) == 0) {
        return 0;
    }
    now = timers_now(turns);
    end = fmax(now + TICK_S, nextafter(now, INFINITY));
    while ((timer = timers_first(turns, timers)) != NULL) {
        if (timer_when(turns, timer, &when) < 0) {
            return -1;
        }
        if (when >= end) {
            break;
        }
        timer = timers_pop(turns, timers);
        done = timer == NULL ? NULL : PyObject_CallOneArg(turns->append, timer);
        Py_XDECREF(timer);
        if (done == NULL) {
            return -1;
        }
        Py_DECREF(done);
    }
    return 0;
}
