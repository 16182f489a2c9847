/* asgi_task.c - a request's coroutine becomes a real asyncio.Task.
 *
 *     lazy    a task that becomes one only if it has to: asgi_lazy.c
 *     eager   asyncio.Task(eager_start=True), from Python 3.12 on
 *     ahead   loop.create_task, and its first step is taken out of the loop's
 *             queue again and made at once: only by "auto", where this Python
 *             can do neither of the above
 *     task    loop.create_task: the first step is the loop's
 *
 * All but the last start right in on_request: what goes through without
 * waiting never meets the loop, and what pipelined requests say leaves in one
 * write. "auto" is the first of them that this Python and the loop can do.
 * Lazy is dearer than eager for requests that do wait, so when most of the
 * last ones did, the next are eager.
 *
 * In each of them the task has a context of its own and is
 * asyncio.current_task() while the application runs. */

#include <string.h>

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/bridge.h"
#include "python/ext/option.h"

#define HAS_EAGER (PY_VERSION_HEX >= 0x030C0000)

/* `suspends` goes up and down by one per request, between 0 and this; above
 * the half most requests wait. */
#define SUSPENDS_MAX 16u

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

/* The queue of an asyncio loop, if it has the one that we know: uvloop and
 * others keep their own. */
static int init_ahead(struct asgi_gateway *gateway)
{
    PyObject *ready = PyObject_GetAttrString(gateway->loop, "_ready");

    if (ready == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear();
    if (ready != NULL &&
        strcmp(Py_TYPE(ready)->tp_name, "collections.deque") == 0) {
        gateway->task.mode = ASGI_TASK_AHEAD;
        gateway->task.ready = ready;
    } else {
        Py_XDECREF(ready);
    }
    return init_plain(gateway);
}

/* The mode that was asked for, as far as it has a name. */
static int init_mode(struct asgi_gateway *gateway, PyObject *name)
{
    static const struct {
        const char *name;
        enum asgi_task_mode mode;
    } modes[] = {{"auto", ASGI_TASK_LAZY},
                 {"lazy", ASGI_TASK_LAZY},
                 {"eager", ASGI_TASK_EAGER},
                 {"task", ASGI_TASK_PLAIN}};
    size_t i;

    gateway->task.mode = ASGI_TASK_LAZY;
    if (name == Py_None) {
        return 0;
    }
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "task_mode must be a str");
        return -1;
    }
    for (i = 0; i < XS_COUNT_OF(modes); i++) {
        if (PyUnicode_CompareWithASCIIString(name, modes[i].name) == 0) {
            gateway->task.mode = modes[i].mode;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "task_mode %R is not known", name);
    return -1;
}

int asgi_task_init(struct asgi_gateway *gateway, PyObject *config)
{
    PyObject *name = ext_option(config, "task_mode");
    int can;

    if (name == NULL) {
        return -1;
    }
    can = init_mode(gateway, name);
    Py_DECREF(name);
    if (can < 0) {
        return -1;
    }
    if (gateway->task.mode == ASGI_TASK_LAZY) {
        can = asgi_lazy_init(gateway->asgi);
        if (can < 0) {
            return -1;
        }
        if (can == 0) {
            gateway->task.mode = ASGI_TASK_EAGER;
        }
    }
    if (gateway->task.mode == ASGI_TASK_EAGER && !HAS_EAGER) {
        gateway->task.mode = ASGI_TASK_PLAIN;
        return init_ahead(gateway);
    }
    /* Lazy ones need an eager start for what mostly waits. */
    return gateway->task.mode != ASGI_TASK_PLAIN && HAS_EAGER
               ? init_eager(gateway)
               : init_plain(gateway);
}

int asgi_task_traverse(struct asgi_gateway *gateway, visitproc visit, void *arg)
{
    Py_VISIT(gateway->task.start);
    Py_VISIT(gateway->task.keywords);
    Py_VISIT(gateway->task.ready);
    return 0;
}

void asgi_task_fini(struct asgi_gateway *gateway)
{
    Py_CLEAR(gateway->task.start);
    Py_CLEAR(gateway->task.keywords);
    Py_CLEAR(gateway->task.ready);
}

static PyObject *start_vectorcall(const struct asgi_gateway *gateway,
                                  PyObject *runner)
{
    PyObject *args[4] = {NULL, runner, gateway->loop, Py_True};

    return PyObject_Vectorcall(gateway->task.start, args + 1,
                               1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               gateway->task.keywords);
}

/* Leave `context`; keeps what is raised. */
static void task_leave(PyObject *context)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (PyContext_Exit(context) < 0) {
        ext_unraisable(context);
    }
    PyErr_Restore(type, value, traceback);
}

/* Whether `handle`, taken out of the loop's queue, is a step of `task`. -1 with
 * an exception set. */
static int step_of(PyObject *handle, PyObject *task)
{
    PyObject *callback = PyObject_GetAttrString(handle, "_callback");
    PyObject *self = NULL;

    if (callback != NULL) {
        self = PyObject_GetAttrString(callback, "__self__");
        Py_DECREF(callback);
    }
    if (self == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear();
    Py_XDECREF(self);
    return self == task;
}

/* Make the first step of `task`, which is the last that the loop has to do.
 * Where it isn't, the loop makes it. */
static int task_step_ahead(struct asgi_gateway *gateway, PyObject *task)
{
    PyObject *ready = gateway->task.ready;
    PyObject *handle = PyObject_CallMethod(ready, "pop", NULL);
    PyObject *done = NULL;
    int ours;

    if (handle == NULL) {
        return -1;
    }
    ours = step_of(handle, task);
    if (ours > 0) {
        done = PyObject_CallMethod(handle, "_run", NULL);
        ours = done == NULL ? -1 : ours;
    } else {
        done = PyObject_CallMethod(ready, "append", "O", handle);
        ours = done == NULL ? -1 : ours;
    }
    Py_XDECREF(done);
    Py_DECREF(handle);
    return ours < 0 ? -1 : 0;
}

/* By asyncio.Task or loop.create_task. 1: the application has suspended. */
static int task_start(struct asgi_request *request, PyObject *runner)
{
    struct asgi_gateway *gateway = request->gateway;
    PyObject *task;

    /* The task copies the context that it is made in. The present one may be
     * another request's: the loop keeps it with what that has scheduled. */
    if (PyContext_Enter(gateway->context) < 0) {
        return -1;
    }
    task = start_vectorcall(gateway, runner);
    task_leave(gateway->context);
    if (task == NULL) {
        return -1;
    }
    if (gateway->task.ready != NULL && task_step_ahead(gateway, task) < 0) {
        Py_DECREF(task);
        return -1;
    }
    if (request->gateway == NULL) {
        Py_DECREF(task);
        return 0;
    }
    request->task = task;
    return 1;
}

int asgi_task_start(struct asgi_request *request)
{
    struct asgi_gateway *gateway = request->gateway;
    PyObject *runner = asgi_runner_new(request);
    bool lazy = gateway->task.mode == ASGI_TASK_LAZY &&
                (!HAS_EAGER || gateway->task.suspends <= SUSPENDS_MAX / 2);
    int waits;

    if (runner == NULL) {
        return -1;
    }
    waits =
        lazy ? asgi_lazy_start(request, runner) : task_start(request, runner);
    Py_DECREF(runner);
    if (waits > 0 && gateway->task.suspends < SUSPENDS_MAX) {
        gateway->task.suspends++;
    } else if (waits == 0 && gateway->task.suspends > 0) {
        gateway->task.suspends--;
    }
    return waits < 0 ? -1 : 0;
}
