/* loop_handle.h - asyncio.Handle, made and run in C.
 *
 * They are asyncio's own objects: whoever holds one may cancel it, look into
 * it or run it as ever. Only the two things that happen to each of them, being
 * made and being run, are done without Python code, by writing and reading
 * their slots. Where the slots are is found out once; if asyncio is not as we
 * know it, nothing of this is used. */

#ifndef XS_EXT_LOOP_HANDLE_H
#define XS_EXT_LOOP_HANDLE_H

#include <stdbool.h>

#include "python/ext/python.h"

/* Where the slots of asyncio's handles are: offsets in bytes. */
struct ext_handles {
    PyTypeObject *type;       /* owned: asyncio.Handle */
    PyTypeObject *timer_type; /* owned: asyncio.TimerHandle */
    Py_ssize_t callback;
    Py_ssize_t args;
    Py_ssize_t cancelled;
    Py_ssize_t loop;
    Py_ssize_t traceback;
    Py_ssize_t repr;
    Py_ssize_t context;
    Py_ssize_t when;      /* of a timer */
    Py_ssize_t scheduled; /* of a timer */
    PyObject *str_run;    /* owned: "_run" */
};

/* Find the slots. NotImplementedError if there are others than we know. */
int ext_handles_init(struct ext_handles *handles);

void ext_handles_clear(struct ext_handles *handles);
int ext_handles_traverse(struct ext_handles *handles, visitproc visit,
                         void *arg);

/* What a slot holds; NULL: nothing. Borrowed. */
static inline PyObject *ext_handle_get(const PyObject *handle,
                                       Py_ssize_t offset)
{
    return *(PyObject *const *)(const void *)((const char *)handle + offset);
}

/* Let a slot hold `value`. Borrows it. */
static inline void ext_handle_set(PyObject *handle, Py_ssize_t offset,
                                  PyObject *value)
{
    PyObject **slot = (PyObject **)(void *)((char *)handle + offset);
    PyObject *old = *slot;

    *slot = Py_NewRef(value);
    Py_XDECREF(old);
}

/* A handle of `type` for `callback(*args)` of `loop` in `context` (NULL: a
 * copy of the current one). Borrows all of them. A timer's own slots are the
 * caller's to set. New. */
PyObject *ext_handle_new(const struct ext_handles *handles, PyTypeObject *type,
                         PyObject *loop, PyObject *callback, PyObject *args,
                         PyObject *context);

/* Its type is exactly Handle or TimerHandle, so that the slots are there. */
static inline bool ext_handle_is_known(const struct ext_handles *handles,
                                       PyObject *object)
{
    return Py_TYPE(object) == handles->type ||
           Py_TYPE(object) == handles->timer_type;
}

/* Run `handle` unless it was cancelled. What it raises is given to
 * `failed(handle, error)`, but for SystemExit and KeyboardInterrupt.
 * 0, or -1 with an exception set. */
int ext_handle_run(const struct ext_handles *handles, PyObject *handle,
                   PyObject *failed);

#endif
