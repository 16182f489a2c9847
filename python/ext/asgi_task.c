/* asgi_task.c - a request's coroutine becomes a real asyncio.Task.
 *
 * From Python 3.12 on the task starts eagerly, right in on_request: what goes
 * through without waiting never meets the loop. Before, and if asked for,
 * loop.create_task makes it. Either way the task has a context of its own and
 * is asyncio.current_task() while the application runs. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

#define EAGER_VERSION 0x030C0000

static int init_eager(struct asgi_gateway *gateway)
{
    PyObject *asyncio = PyImport_ImportModule("asyncio");

    if (asyncio == NULL) {
        return -1;
    }
    gateway->task.start = PyObject_GetAttrString(asyncio, "Task");
    Py_DECREF(asyncio);
    gateway->task.keywords = Py_BuildValue("(ss)", "loop", "eager_start");
    return gateway->task.start == NULL || gateway->task.keywords == NULL ? -1
                                                                         : 0;
}

static int init_plain(struct asgi_gateway *gateway)
{
    gateway->task.start = PyObject_GetAttrString(gateway->loop, "create_task");
    return gateway->task.start == NULL ? -1 : 0;
}

int asgi_task_init(struct asgi_gateway *gateway, PyObject *config)
{
    PyObject *mode = asgi_option(config, "task_mode");
    bool eager = PY_VERSION_HEX >= EAGER_VERSION;
    int err = 0;

    if (mode == NULL) {
        return -1;
    }
    if (mode != Py_None && !PyUnicode_Check(mode)) {
        PyErr_SetString(PyExc_TypeError, "task_mode must be a str");
        err = -1;
    } else if (mode == Py_None ||
               PyUnicode_CompareWithASCIIString(mode, "auto") == 0) {
        err = 0;
    } else if (PyUnicode_CompareWithASCIIString(mode, "task") == 0) {
        eager = false;
    } else if (PyUnicode_CompareWithASCIIString(mode, "eager") != 0) {
        PyErr_Format(PyExc_ValueError, "task_mode %R is not known", mode);
        err = -1;
    } else if (!eager) {
        PyErr_SetString(PyExc_ValueError,
                        "task_mode 'eager' needs Python 3.12 or newer");
        err = -1;
    }
    Py_DECREF(mode);
    if (err < 0) {
        return err;
    }
    return eager ? init_eager(gateway) : init_plain(gateway);
}

void asgi_task_fini(struct asgi_gateway *gateway)
{
    Py_CLEAR(gateway->task.start);
    Py_CLEAR(gateway->task.keywords);
}

static PyObject *start_vectorcall(const struct asgi_gateway *gateway,
                                  PyObject *runner)
{
    PyObject *args[4] = {NULL, runner, gateway->loop, Py_True};

    return PyObject_Vectorcall(gateway->task.start, args + 1,
                               1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               gateway->task.keywords);
}

static PyObject *raise_later(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyErr_SetObject((PyObject *)Py_TYPE(self), self);
    return NULL;
}

static PyMethodDef raise_later_def = {"raise", raise_later, METH_NOARGS, NULL};

/* What is raised leaves the loop on its next turn: KeyboardInterrupt and
 * SystemExit end it there as they do in any other task. */
static int defer_raise(const struct asgi_gateway *gateway)
{
    PyObject *exc = asgi_raised_take();
    PyObject *call = PyCFunction_New(&raise_later_def, exc);
    PyObject *handle =
        call == NULL
            ? NULL
            : PyObject_CallMethod(gateway->loop, "call_soon", "O", call);

    Py_XDECREF(exc);
    Py_XDECREF(call);
    Py_XDECREF(handle);
    return handle == NULL ? -1 : 0;
}

int asgi_task_start(struct asgi_request *request)
{
    struct asgi_gateway *gateway = request->gateway;
    PyObject *runner = asgi_runner_new(request);
    PyObject *task;

    if (runner == NULL) {
        return -1;
    }
    task = start_vectorcall(gateway, runner);
    Py_DECREF(runner);
    if (task == NULL) {
        /* The application has raised it, not the start. */
        return request->gateway == NULL ? defer_raise(gateway) : -1;
    }
    if (request->gateway != NULL) {
        request->task = task; /* it waits for something */
    } else {
        Py_DECREF(task);
    }
    return 0;
}
