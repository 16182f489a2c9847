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

int turns_now(const struct ext_turns *turns, double *out)
{
    const struct xs_drive *drive = turns->backend->drive;

    if (drive == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the backend is closed");
        return -1;
    }
    *out = (double)drive->io->ops->now(drive->io) / 1e9;
    return 0;
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

/* ---- the heap, as heapq keeps it, in the same order among equals ---- */

/* A stranger among our timers comes first, so that he is seen. */
static double timer_key(const struct ext_turns *turns, PyObject *timer)
{
    PyObject *when;

    if (!Py_IS_TYPE(timer, turns->handles.timer_type)) {
        return -INFINITY;
    }
    when = ext_handle_get(timer, turns->handles.when);
    return when != NULL && PyFloat_CheckExact(when) ? PyFloat_AS_DOUBLE(when)
                                                    : -INFINITY;
}

/* heapq._siftdown: the item at `pos` rises to its place, not above `start`. */
static void heap_rise(const struct ext_turns *turns, PyObject **items,
                      Py_ssize_t start, Py_ssize_t pos)
{
    PyObject *item = items[pos];
    double key = timer_key(turns, item);

    while (pos > start) {
        Py_ssize_t parent = (pos - 1) >> 1;
        if (!(key < timer_key(turns, items[parent]))) {
            break;
        }
        items[pos] = items[parent];
        pos = parent;
    }
    items[pos] = item;
}

/* heapq._siftup: the item at `start` sinks to a leaf, and rises from there. */
static void heap_sink(const struct ext_turns *turns, PyObject **items,
                      Py_ssize_t count, Py_ssize_t start)
{
    PyObject *item = items[start];
    Py_ssize_t pos = start;
    Py_ssize_t child = 2 * pos + 1;

    while (child < count) {
        Py_ssize_t right = child + 1;
        if (right < count && !(timer_key(turns, items[child]) <
                               timer_key(turns, items[right]))) {
            child = right;
        }
        items[pos] = items[child];
        pos = child;
        child = 2 * pos + 1;
    }
    items[pos] = item;
    heap_rise(turns, items, start, pos);
}

static PyObject **heap_items(PyObject *timers)
{
    return ((PyListObject *)timers)->ob_item;
}

/* Take the first one out. New; NULL with an exception set. */
static PyObject *heap_pop(const struct ext_turns *turns, PyObject *timers)
{
    Py_ssize_t last = PyList_GET_SIZE(timers) - 1;
    PyObject *item = Py_NewRef(PyList_GET_ITEM(timers, last));
    PyObject *first;

    if (PyList_SetSlice(timers, last, last + 1, NULL) < 0) {
        Py_DECREF(item);
        return NULL;
    }
    if (last == 0) {
        return item;
    }
    first = heap_items(timers)[0];
    heap_items(timers)[0] = item;
    heap_sink(turns, heap_items(timers), last, 0);
    return first;
}

/* ---- timers ---- */

int turns_timers_add(struct ext_turns *turns, PyObject *timers, PyObject *timer)
{
    if (PyList_GET_SIZE(timers) == 0) {
        turns->strange_timers = false;
    }
    if (turns->strange_timers) {
        PyObject *args[] = {timers, timer};
        PyObject *done = PyObject_Vectorcall(turns->heappush, args, 2, NULL);
        if (done == NULL) {
            return -1;
        }
        Py_DECREF(done);
    } else {
        if (PyList_Append(timers, timer) < 0) {
            return -1;
        }
        heap_rise(turns, heap_items(timers), 0, PyList_GET_SIZE(timers) - 1);
    }
    ext_handle_set(timer, turns->handles.scheduled, Py_True);
    return 0;
}

/* Take the first timer, which is one that we know, out. New; NULL with an
 * exception set. */
static PyObject *timers_pop(struct ext_turns *turns, PyObject *timers)
{
    PyObject *timer = turns->strange_timers
                          ? PyObject_CallOneArg(turns->heappop, timers)
                          : heap_pop(turns, timers);

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

static int timers_set_cancelled(const struct ext_turns *turns, Py_ssize_t count)
{
    PyObject *number = PyLong_FromSsize_t(count);
    int err;

    if (number == NULL) {
        return -1;
    }
    err = PyObject_SetAttr(turns->loop, turns->str.cancelled_count, number);
    Py_DECREF(number);
    return err;
}

/* Throw out all that are cancelled. */
static int timers_prune(const struct ext_turns *turns, PyObject *timers)
{
    PyObject *kept = PyList_New(0);
    Py_ssize_t count = PyList_GET_SIZE(timers);
    int err = kept == NULL ? -1 : 0;

    for (Py_ssize_t i = 0; err == 0 && i < count; i++) {
        PyObject *timer = PyList_GET_ITEM(timers, i);
        if (ext_handle_get(timer, turns->handles.cancelled) == Py_False) {
            err = PyList_Append(kept, timer);
        } else {
            ext_handle_set(timer, turns->handles.scheduled, Py_False);
        }
    }
    if (err == 0) {
        count = PyList_GET_SIZE(kept);
        for (Py_ssize_t i = count / 2; i-- > 0;) {
            heap_sink(turns, heap_items(kept), count, i);
        }
        /* What goes may run code: `timers` has to be whole then. */
        err = PyList_SetSlice(timers, 0, PyList_GET_SIZE(timers), kept);
    }
    Py_XDECREF(kept);
    return err < 0 ? err : timers_set_cancelled(turns, 0);
}

/* Whether all are timers that we know. */
static bool timers_are_known(const struct ext_turns *turns, PyObject *timers)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(timers); i++) {
        if (!Py_IS_TYPE(PyList_GET_ITEM(timers, i),
                        turns->handles.timer_type)) {
            return false;
        }
    }
    return true;
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
            if (turns->strange_timers || !timers_are_known(turns, timers)) {
                return 1;
            }
            if (timers_prune(turns, timers) < 0) {
                return -1;
            }
        }
    }
    return PyList_GET_SIZE(timers) > 0 && timers_first(turns, timers) == NULL;
}

int turns_timers_drop(struct ext_turns *turns, PyObject *timers)
{
    Py_ssize_t count;
    PyObject *timer;

    while ((timer = timers_first(turns, timers)) != NULL &&
           ext_handle_get(timer, turns->handles.cancelled) == Py_True) {
        if (timers_cancelled(turns, &count) < 0 ||
            timers_set_cancelled(turns, count - 1) < 0) {
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
    double now;

    if (timer == NULL) {
        *out = XS_NEVER;
        return 0;
    }
    if (timer_when(turns, timer, &wait) < 0 || turns_now(turns, &now) < 0) {
        return -1;
    }
    wait -= now;
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
    if (turns_now(turns, &now) < 0) {
        return -1;
    }
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
