/* asgi_runner.c - the coroutine that a request's task runs.
 *
 * It does no more than
 *
 *     await app(scope, receive, send)
 *
 * and sees how that ends, so that no done-callback is needed. The application
 * is called on the first step: that already happens inside the task, in the
 * task's own context.
 *
 *     the application       the response        what follows
 *     returned              complete            nothing
 *     returned              not                 log it, fail the response
 *     raised                either              log it, fail the response
 *     was cancelled         either              fail the response */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/fork.h"

struct asgi_runner {
    PyObject_HEAD

        struct asgi_request *request; /* owned */
    PyObject *coro; /* owned: what the application returned, as something that
                     * can be stepped; NULL before the first step and after
                     * the last */
    bool began;
    bool stepping;

    /* How the first step ended, if it was made before there was a task: the
     * task's own first step gives it. */
    bool held;
    PySendResult held_step;
    PyObject *held_object; /* owned: yielded, returned or raised */
};

static struct asgi_runner *runner_of(PyObject *self)
{
    return (struct asgi_runner *)(void *)self;
}

PyObject *asgi_runner_new(struct asgi_request *request)
{
    struct ext_asgi *asgi = request->asgi;
    struct asgi_runner *runner =
        runner_of(ext_spare_take(&asgi->spare_runners, asgi->runner_type));

    if (runner == NULL) {
        return NULL;
    }
    Py_INCREF(request);
    runner->request = request;
    runner->coro = NULL;
    runner->began = false;
    runner->stepping = false;
    runner->held = false;
    runner->held_step = PYGEN_RETURN;
    runner->held_object = NULL;
    PyObject_GC_Track((PyObject *)runner);
    return (PyObject *)runner;
}

void asgi_runner_hold(PyObject *self, PySendResult step, PyObject *object)
{
    struct asgi_runner *runner = runner_of(self);

    XS_ASSERT(!runner->held);
    XS_ASSERT(object != NULL);
    runner->held = true;
    runner->held_step = step;
    runner->held_object = object;
}

/* The application was called. If it has forked, its child ends here: it has a
 * copy of the loop, and must not go on with it. */
static void runner_check_process(const struct asgi_runner *runner)
{
    if (runner->request->gateway != NULL) {
        ext_fork_check(runner->request->gateway->base.fork_count);
    }
}

/* What was held, as the present step. */
static PySendResult runner_release(struct asgi_runner *runner,
                                   PyObject **result)
{
    PyObject *object = runner->held_object;

    runner->held = false;
    runner->held_object = NULL;
    if (runner->held_step == PYGEN_ERROR) {
        PyErr_SetObject((PyObject *)Py_TYPE(object), object);
        Py_DECREF(object);
    } else {
        *result = object;
    }
    return runner->held_step;
}

/* What steps `awaitable`; takes it. NULL with an exception set. */
static PyObject *runner_steps(PyObject *awaitable)
{
    PyTypeObject *type = Py_TYPE(awaitable);
    PyObject *steps = NULL;

    if (PyCoro_CheckExact(awaitable)) {
        return awaitable;
    }
    if (type->tp_as_async != NULL && type->tp_as_async->am_await != NULL) {
        steps = type->tp_as_async->am_await(awaitable);
        if (steps != NULL && !PyIter_Check(steps) &&
            !PyCoro_CheckExact(steps)) {
            PyErr_Format(PyExc_TypeError,
                         "__await__() of an ASGI application's result gave "
                         "%.100s, no iterator",
                         Py_TYPE(steps)->tp_name);
            Py_CLEAR(steps);
        }
    } else {
        PyErr_Format(PyExc_TypeError,
                     "an ASGI application must be an async callable: it "
                     "returned %.100s",
                     type->tp_name);
    }
    Py_DECREF(awaitable);
    return steps;
}

/* Call the application. */
static int runner_begin(struct asgi_runner *runner)
{
    struct asgi_request *request = runner->request;
    PyObject *receive = asgi_request_receive(request);
    PyObject *send = asgi_request_send(request);
    PyObject *awaitable = NULL;

    runner->began = true;
    if (receive != NULL && send != NULL) {
        PyObject *args[4] = {NULL, request->scope, receive, send};

        awaitable =
            PyObject_Vectorcall(request->gateway->base.app, args + 1,
                                3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    }
    Py_XDECREF(receive);
    Py_XDECREF(send);
    if (awaitable != NULL) {
        runner->coro = runner_steps(awaitable);
    }
    return runner->coro == NULL ? -1 : 0;
}

/* The application has ended. Keeps what is raised, if something is. */
static void runner_finish(struct asgi_runner *runner, bool raised)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;

    if (!raised) {
        asgi_request_finish(runner->request);
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    asgi_request_finish(runner->request);
    PyErr_Restore(type, value, traceback);
}

/* What an application raises is its own affair, an exit too: one request does
 * not end the server. Only a cancellation goes on, to the task. */
static bool runner_keeps(const struct asgi_request *request)
{
    return request->gateway != NULL &&
           PyErr_ExceptionMatches(request->asgi->cancelled) == 0;
}

/* The application has returned or raised. */
static PySendResult runner_end(struct asgi_runner *runner, PySendResult step,
                               PyObject **result)
{
    struct asgi_request *request = runner->request;

    Py_CLEAR(runner->coro);
    if (step == PYGEN_RETURN) {
        Py_CLEAR(*result);
        /* One that was told that its client has left may leave, too. */
        if (request->req != NULL && !request->told) {
            asgi_report_incomplete(request);
        }
    } else if (runner_keeps(request)) {
        asgi_report_raised(request);
        step = PYGEN_RETURN;
    }
    if (step == PYGEN_RETURN) {
        Py_INCREF(Py_None);
        *result = Py_None;
    }
    runner_finish(runner, step == PYGEN_ERROR);
    return step;
}

static int runner_check(const struct asgi_runner *runner)
{
    if (runner->stepping) {
        PyErr_SetString(PyExc_ValueError, "coroutine already executing");
        return -1;
    }
    if (runner->began && runner->coro == NULL) {
        PyErr_SetString(PyExc_RuntimeError,
                        "cannot reuse already awaited coroutine");
        return -1;
    }
    return 0;
}

static PySendResult runner_am_send(PyObject *self, PyObject *value,
                                   PyObject **result)
{
    struct asgi_runner *runner = runner_of(self);
    PySendResult step = PYGEN_ERROR;

    *result = NULL;
    if (runner->held) {
        return runner_release(runner, result);
    }
    if (runner_check(runner) < 0) {
        return PYGEN_ERROR;
    }
    if (!runner->began && runner->request->gateway == NULL) {
        /* The server has gone before the task had its turn. */
        runner->began = true;
        Py_INCREF(Py_None);
        *result = Py_None;
        return PYGEN_RETURN;
    }
    runner->stepping = true;
    if (runner->began || runner_begin(runner) == 0) {
        step = PyIter_Send(runner->coro, value, result);
    }
    runner->stepping = false;
    runner_check_process(runner);
    return step == PYGEN_NEXT ? step : runner_end(runner, step, result);
}

/* A step as a method's result. */
static PyObject *runner_result(PySendResult step, PyObject *result)
{
    if (step == PYGEN_RETURN) {
        PyErr_SetObject(PyExc_StopIteration, result);
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *runner_send(PyObject *self, PyObject *value)
{
    PyObject *result = NULL;
    PySendResult step = runner_am_send(self, value, &result);

    return runner_result(step, result);
}

static PyObject *runner_iternext(PyObject *self)
{
    return runner_send(self, Py_None);
}

/* coro.throw(*args), as a step. */
static PySendResult runner_throw_into(struct asgi_runner *runner,
                                      PyObject *const *args, Py_ssize_t count,
                                      PyObject **result)
{
    PyObject *throw_ =
        PyObject_GetAttr(runner->coro, runner->request->asgi->str.throw_);

    if (throw_ == NULL) {
        return PYGEN_ERROR;
    }
    *result = PyObject_Vectorcall(throw_, args, (size_t)count, NULL);
    Py_DECREF(throw_);
    if (*result != NULL) {
        return PYGEN_NEXT;
    }
    return PyErr_ExceptionMatches(PyExc_StopIteration) ? PYGEN_RETURN
                                                       : PYGEN_ERROR;
}

static PyObject *runner_throw(PyObject *self, PyObject *const *args,
                              Py_ssize_t count)
{
    struct asgi_runner *runner = runner_of(self);
    PyObject *result = NULL;
    PySendResult step = PYGEN_ERROR;

    if (runner->held && runner->held_step == PYGEN_ERROR) {
        return runner_result(runner_release(runner, &result), result);
    }
    if (runner->held && runner->held_step == PYGEN_RETURN) {
        /* Cancelled in its only step: as of any task, that is its end. */
        runner->held = false;
        Py_CLEAR(runner->held_object);
        asgi_throw(args, count);
        return NULL;
    }
    runner->held = false;
    Py_CLEAR(runner->held_object);
    if (runner_check(runner) < 0) {
        return NULL;
    }
    if (runner->began) {
        runner->stepping = true;
        step = runner_throw_into(runner, args, count, &result);
        runner->stepping = false;
        runner_check_process(runner);
    } else {
        /* Cancelled before its first step: the application never runs. */
        runner->began = true;
        asgi_throw(args, count);
    }
    if (step == PYGEN_RETURN) {
        PyErr_Clear(); /* what an application returns is nobody's */
    }
    if (step != PYGEN_NEXT) {
        step = runner_end(runner, step, &result);
    }
    return runner_result(step, result);
}

static PyObject *runner_close(PyObject *self, PyObject *unused)
{
    struct asgi_runner *runner = runner_of(self);
    PyObject *closed = NULL;

    (void)unused;
    if (runner->stepping) {
        PyErr_SetString(PyExc_ValueError, "coroutine already executing");
        return NULL;
    }
    runner->began = true;
    runner->held = false;
    Py_CLEAR(runner->held_object);
    if (runner->coro != NULL) {
        runner->stepping = true;
        closed = PyObject_CallMethodNoArgs(runner->coro,
                                           runner->request->asgi->str.close);
        runner->stepping = false;
        Py_CLEAR(runner->coro);
    } else {
        Py_INCREF(Py_None);
        closed = Py_None;
    }
    runner_finish(runner, closed == NULL);
    return closed;
}

static PyObject *runner_self(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyObject *runner_dunder(PyObject *self, PyObject *unused)
{
    (void)unused;
    return runner_self(self);
}

/* asyncio's repr, its stacks, debuggers and profilers see the application's
 * coroutine through us: `closure` is the attribute that they ask for. */
static PyObject *runner_get(PyObject *self, void *closure)
{
    PyObject *coro = runner_of(self)->coro;
    PyObject *value = NULL;

    if (coro != NULL) {
        value = PyObject_GetAttrString(coro, (const char *)closure);
        if (value == NULL) {
            PyErr_Clear();
        }
    }
    if (value == NULL) {
        Py_INCREF(Py_None);
        value = Py_None;
    }
    return value;
}

static PyObject *runner_get_running(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(runner_of(self)->stepping);
}

static int runner_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct asgi_runner *runner = runner_of(self);

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(runner->request);
    Py_VISIT(runner->coro);
    Py_VISIT(runner->held_object);
    return 0;
}

/* `request` stays: every other function relies on it. */
static int runner_clear(PyObject *self)
{
    struct asgi_runner *runner = runner_of(self);

    runner->began = true;
    runner->held = false;
    Py_CLEAR(runner->held_object);
    Py_CLEAR(runner->coro);
    return 0;
}

static void runner_dealloc(PyObject *self)
{
    struct asgi_runner *runner = runner_of(self);
    struct asgi_request *request = runner->request;
    struct ext_asgi *asgi = request->asgi;

    PyObject_GC_UnTrack(self);
    Py_CLEAR(runner->held_object);
    Py_CLEAR(runner->coro);
    ext_spare_give(&asgi->spare_runners, self);
    Py_DECREF(request);
}

static PyMethodDef runner_methods[] = {
    {"send", runner_send, METH_O, PyDoc_STR("Step it.")},
    {"throw", (PyCFunction)(void (*)(void))runner_throw, METH_FASTCALL,
     PyDoc_STR("Raise an exception in it.")},
    {"close", runner_close, METH_NOARGS, PyDoc_STR("End it unfinished.")},
    {"__await__", runner_dunder, METH_NOARGS, PyDoc_STR("Itself.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef runner_getset[] = {
    {"__name__", runner_get, NULL, NULL, (char[]){"__name__"}},
    {"__qualname__", runner_get, NULL, NULL, (char[]){"__qualname__"}},
    {"cr_running", runner_get_running, NULL, NULL, NULL},
    {"cr_await", runner_get, NULL, NULL, (char[]){"cr_await"}},
    {"cr_frame", runner_get, NULL, NULL, (char[]){"cr_frame"}},
    {"cr_code", runner_get, NULL, NULL, (char[]){"cr_code"}},
    {"cr_origin", runner_get, NULL, NULL, (char[]){"cr_origin"}},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot runner_slots[] = {
    {Py_tp_doc, (char[]){"The coroutine of a request's task."}},
    {Py_tp_methods, runner_methods},
    {Py_tp_getset, runner_getset},
    {Py_tp_iter, runner_self},
    {Py_tp_iternext, runner_iternext},
    {Py_am_await, runner_self},
    {Py_am_send, runner_am_send},
    {Py_tp_traverse, runner_traverse},
    {Py_tp_clear, runner_clear},
    {Py_tp_dealloc, runner_dealloc},
    {0, NULL},
};

static PyType_Spec runner_spec = {
    .name = "xsgi._xsgi.Runner",
    .basicsize = sizeof(struct asgi_runner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = runner_slots,
};

int asgi_runner_init_type(PyObject *module, struct ext_asgi *asgi)
{
    asgi->runner_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &runner_spec, NULL);
    return asgi->runner_type == NULL ? -1 : 0;
}
