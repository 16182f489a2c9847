/* bridge.c - where the core's world and Python's meet: the GIL and errors. */

#include "python/ext/bridge.h"

#include <errno.h>
#include <stdbool.h>

#include "core/base/base.h"
#include "core/base/error.h"

static void bridge_block(void *user)
{
    PyThreadState **saved = user;

    XS_ASSERT(*saved == NULL);
    *saved = PyEval_SaveThread();
}

static void bridge_wake(void *user)
{
    PyThreadState **saved = user;
    PyThreadState *thread = *saved;

    XS_ASSERT(thread != NULL);
    *saved = NULL;
    PyEval_RestoreThread(thread);
}

void ext_bridge_attach(struct xs_drive *drive, PyThreadState **saved)
{
    *saved = NULL;
    drive->block = bridge_block;
    drive->wake = bridge_wake;
    drive->user = saved;
}

/* The errno that OSError makes its subclass from; 0: none. */
static int bridge_errno(int err)
{
    switch (err) {
        case XS_EADDRINUSE:
            return EADDRINUSE;
        case XS_EACCESS:
            return EACCES;
        case XS_EMFILE:
            return EMFILE;
        case XS_ERESET:
            return ECONNRESET;
        case XS_EPIPE:
            return EPIPE;
        default:
            return 0;
    }
}

int ext_raise(int err, const char *what)
{
    int number = bridge_errno(err);
    PyObject *error;

    if (err == XS_ENOMEM) {
        (void)PyErr_NoMemory();
        return -1;
    }
    if (err == XS_EINVALID || number == 0) {
        PyErr_Format(err == XS_EINVALID ? PyExc_ValueError : PyExc_OSError,
                     "%s: %s", what, xs_error_text(err));
        return -1;
    }
    /* OSError makes an instance of the subclass for the number. Python 3.10
     * catches by the type that is set here, and not by the instance's. */
    error =
        PyObject_CallFunction(PyExc_OSError, "is", number, xs_error_text(err));
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return -1;
}

PyThreadState *ext_gil_release(void)
{
    return PyEval_SaveThread();
}

void ext_gil_take(PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
}

void ext_unraisable(PyObject *object)
{
    bool is_interrupt;

    if (PyErr_Occurred() == NULL) {
        return;
    }
    is_interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    PyErr_WriteUnraisable(object);
    if (is_interrupt) {
        PyErr_SetInterrupt();
    }
}

void ext_notify(PyObject *callable)
{
    PyObject *type;
    PyObject *error;
    PyObject *traceback;
    PyObject *result;

    if (callable == NULL) {
        return;
    }
    PyErr_Fetch(&type, &error, &traceback);
    Py_INCREF(callable); /* the call may replace it */
    result = PyObject_CallNoArgs(callable);
    if (result == NULL) {
        ext_unraisable(callable);
    }
    Py_DECREF(callable);
    Py_XDECREF(result);
    PyErr_Restore(type, error, traceback);
}
