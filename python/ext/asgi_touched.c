/* asgi_touched.c - what was done to a task that is none yet. */

#include "python/ext/asgi_touched.h"

void asgi_touched_fini(struct asgi_touched *touched)
{
    Py_CLEAR(touched->name);
    Py_CLEAR(touched->callbacks);
    Py_CLEAR(touched->message);
}

/* How often it was cancelled, and whether that is still to be raised. */
static int touched_save_cancels(struct asgi_touched *touched, PyObject *task)
{
    PyObject *cancels = PyObject_CallMethod(task, "cancelling", NULL);
    PyObject *must = NULL;

    if (cancels != NULL) {
        touched->cancels = PyLong_AsLong(cancels);
        Py_DECREF(cancels);
        must = PyObject_GetAttrString(task, "_must_cancel");
    }
    if (must == NULL) {
        return -1;
    }
    touched->uncancelled = must == Py_True && touched->cancels == 0;
    Py_DECREF(must);
    return 0;
}

int asgi_touched_save(struct asgi_touched *touched, PyObject *task)
{
    if (touched_save_cancels(touched, task) < 0) {
        return -1;
    }
    touched->name = PyObject_CallMethod(task, "get_name", NULL);
    if (touched->name == NULL) {
        return -1;
    }
    touched->callbacks = PyObject_GetAttrString(task, "_callbacks");
    if (touched->callbacks == NULL) {
        return -1;
    }
    touched->message = PyObject_GetAttrString(task, "_cancel_message");
    return touched->message == NULL ? -1 : 0;
}

static int touched_cancel(const struct asgi_touched *touched, PyObject *task)
{
    long cancels = touched->cancels + (touched->uncancelled ? 1 : 0);
    PyObject *done = Py_NewRef(Py_None);

    while (done != NULL && cancels > 0) {
        Py_DECREF(done);
        done = PyObject_CallMethod(task, "cancel", "(O)", touched->message);
        cancels--;
    }
    if (done != NULL && touched->uncancelled) {
        Py_DECREF(done);
        done = PyObject_CallMethod(task, "uncancel", NULL);
    }
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static int touched_call_back(const struct asgi_touched *touched, PyObject *task)
{
    PyObject *add = PyObject_GetAttrString(task, "add_done_callback");
    int err = add == NULL ? -1 : 0;
    Py_ssize_t i;

    for (i = 0; err == 0 && touched->callbacks != Py_None &&
                i < PyList_GET_SIZE(touched->callbacks);
         i++) {
        PyObject *item = PyList_GET_ITEM(touched->callbacks, i);
        PyObject *args = PyTuple_GetSlice(item, 0, 1);
        PyObject *keywords =
            Py_BuildValue("{sO}", "context", PyTuple_GET_ITEM(item, 1));
        PyObject *done = args == NULL || keywords == NULL
                             ? NULL
                             : PyObject_Call(add, args, keywords);

        err = done == NULL ? -1 : 0;
        Py_XDECREF(done);
        Py_XDECREF(keywords);
        Py_XDECREF(args);
    }
    Py_XDECREF(add);
    return err;
}

int asgi_touched_redo(const struct asgi_touched *touched, PyObject *task)
{
    int err = touched_call_back(touched, task);

    return err < 0 ? err : touched_cancel(touched, task);
}
