/* asgi_await.c - the coroutine that a call of `receive` or `send` gives.
 *
 * It is a collections.abc.Coroutine, so create_task, gather, wait_for and
 * run_coroutine_threadsafe take it like one that Python has compiled. It does
 * nothing until it is first stepped. Then:
 *
 *     NEW ──step──▶ it went through ──────────────────────────▶ DONE
 *      │
 *      └───step──▶ it has to wait ──▶ WAITING ──woken, step──▶ DONE
 *                                      │    ▲
 *                                      └────┘ not enough yet
 *
 * To wait is to await a Future of the loop's: it is yielded up to the task,
 * which comes back when the future is done. A throw (cancellation) takes it
 * out of the request's list; what had been queued stays queued. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

static struct asgi_await *await_of(PyObject *self)
{
    return (struct asgi_await *)(void *)self;
}

PyObject *asgi_await_new(struct asgi_request *request, PyObject *message)
{
    struct ext_asgi *asgi = request->asgi;
    struct asgi_await *await =
        await_of(ext_spare_take(&asgi->spare_awaits, asgi->await_type));

    if (await == NULL) {
        return NULL;
    }
    Py_INCREF(request);
    await->request = request;
    Py_XINCREF(message);
    await->message = message;
    await->future = NULL;
    await->waiter = NULL;
    xs_list_init(&await->link);
    await->state = ASGI_AWAIT_NEW;
    await->stepping = false;
    await->queued = false;
    /* The collector sees it only once it waits: before, nothing that it holds
     * leads back to it in any sane program. */
    return (PyObject *)await;
}

/* Wait no more. */
static void await_unwait(struct asgi_await *await)
{
    xs_list_remove(&await->link);
    Py_CLEAR(await->waiter);
    Py_CLEAR(await->future);
}

static void await_done(struct asgi_await *await)
{
    await->state = ASGI_AWAIT_DONE;
    await_unwait(await);
}

/* Begin to wait for the request's next signal: the future is the result. */
static PySendResult await_wait(struct asgi_await *await, PyObject **result)
{
    struct asgi_request *request = await->request;
    PyObject *future;
    PySendResult sent;

    XS_ASSERT(request->gateway != NULL);
    future = PyObject_CallNoArgs(request->gateway->create_future);
    if (future == NULL) {
        return PYGEN_ERROR;
    }
    XS_ASSERT(await->future == NULL);
    await->future = future;
    if (Py_TYPE(future)->tp_as_async == NULL ||
        Py_TYPE(future)->tp_as_async->am_await == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "loop.create_future() gave no awaitable");
        return PYGEN_ERROR;
    }
    await->waiter = Py_TYPE(future)->tp_as_async->am_await(future);
    if (await->waiter == NULL) {
        return PYGEN_ERROR;
    }
    sent = PyIter_Send(await->waiter, Py_None, result);
    if (sent == PYGEN_RETURN) {
        Py_CLEAR(*result);
        PyErr_SetString(PyExc_RuntimeError, "a new future is done already");
        return PYGEN_ERROR;
    }
    if (sent == PYGEN_NEXT) {
        xs_list_append(
            await->message == NULL ? &request->receivers : &request->senders,
            &await->link);
        await->state = ASGI_AWAIT_WAITING;
        if (!PyObject_GC_IsTracked((PyObject *)await)) {
            PyObject_GC_Track((PyObject *)await);
        }
    }
    return sent;
}

/* May it be stepped here and now? */
static int await_check(struct asgi_await *await)
{
    const struct asgi_gateway *gateway = await->request->gateway;

    if (await->stepping) {
        PyErr_SetString(PyExc_ValueError, "coroutine already executing");
        return -1;
    }
    if (await->state == ASGI_AWAIT_DONE) {
        PyErr_SetString(PyExc_RuntimeError,
                        "cannot reuse already awaited coroutine");
        return -1;
    }
    if (gateway != NULL &&
        gateway->base.thread != PyThread_get_thread_ident()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "receive() and send() must be awaited on the server's "
                        "event loop: see asyncio.run_coroutine_threadsafe");
        return -1;
    }
    return 0;
}

/* Go on after the future, if it waited for one. PYGEN_RETURN: it is done. */
static PySendResult await_resume(struct asgi_await *await, PyObject *value,
                                 PyObject **result)
{
    PySendResult sent = PyIter_Send(await->waiter, value, result);

    if (sent == PYGEN_RETURN) {
        Py_CLEAR(*result);
        await_unwait(await);
    }
    return sent;
}

static PySendResult await_step(struct asgi_await *await, PyObject *value,
                               PyObject **result)
{
    PySendResult step = PYGEN_RETURN;

    if (await->state == ASGI_AWAIT_WAITING) {
        step = await_resume(await, value, result);
    } else if (value != Py_None && value != NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "can't send non-None value to a just-started "
                        "coroutine");
        return PYGEN_ERROR;
    }
    if (step == PYGEN_RETURN) {
        step = await->message == NULL ? asgi_receive_step(await, result)
                                      : asgi_send_step(await, result);
        if (step == PYGEN_NEXT) {
            step = await_wait(await, result);
        }
    }
    if (step != PYGEN_NEXT) {
        await_done(await);
    }
    return step;
}

static PySendResult await_am_send(PyObject *self, PyObject *value,
                                  PyObject **result)
{
    struct asgi_await *await = await_of(self);
    PySendResult step;

    *result = NULL;
    if (await_check(await) < 0) {
        return PYGEN_ERROR;
    }
    await->stepping = true;
    step = await_step(await, value, result);
    await->stepping = false;
    return step;
}

/* A step as an iterator's or a method's result: the value that was returned
 * travels in StopIteration. */
static PyObject *await_result(PySendResult step, PyObject *result)
{
    if (step == PYGEN_RETURN) {
        PyErr_SetObject(PyExc_StopIteration, result);
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *await_iternext(PyObject *self)
{
    PyObject *result = NULL;
    PySendResult step = await_am_send(self, Py_None, &result);

    if (step == PYGEN_RETURN && result == Py_None) {
        Py_DECREF(result); /* a bare end: it is None without an exception */
        return NULL;
    }
    return await_result(step, result);
}

static PyObject *await_send(PyObject *self, PyObject *value)
{
    PyObject *result = NULL;
    PySendResult step = await_am_send(self, value, &result);

    return await_result(step, result);
}

void asgi_throw(PyObject *const *args, Py_ssize_t count)
{
    if (count < 1 || count > 3) {
        PyErr_SetString(PyExc_TypeError, "throw() takes 1 to 3 arguments");
    } else if (PyExceptionInstance_Check(args[0])) {
        PyErr_SetObject((PyObject *)Py_TYPE(args[0]), args[0]);
    } else if (PyExceptionClass_Check(args[0])) {
        PyErr_SetObject(args[0], count > 1 ? args[1] : NULL);
    } else {
        PyErr_SetString(PyExc_TypeError,
                        "exceptions must be classes or instances deriving "
                        "from BaseException");
    }
}

static PyObject *await_throw(PyObject *self, PyObject *const *args,
                             Py_ssize_t count)
{
    struct asgi_await *await = await_of(self);

    if (await_check(await) < 0) {
        return NULL;
    }
    await_done(await);
    asgi_throw(args, count);
    return NULL;
}

static PyObject *await_close(PyObject *self, PyObject *unused)
{
    struct asgi_await *await = await_of(self);

    (void)unused;
    if (await->stepping) {
        PyErr_SetString(PyExc_ValueError, "coroutine already executing");
        return NULL;
    }
    await_done(await);
    Py_RETURN_NONE;
}

static PyObject *await_self(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyObject *await_dunder(PyObject *self, PyObject *unused)
{
    (void)unused;
    return await_self(self);
}

/* What inspect, asyncio's repr and debuggers ask a coroutine for. */

static PyObject *await_get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(await_of(self)->message == NULL ? "receive"
                                                                : "send");
}

static PyObject *await_get_running(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(await_of(self)->stepping);
}

static PyObject *await_get_await(PyObject *self, void *unused)
{
    PyObject *future = await_of(self)->future;

    (void)unused;
    if (future == NULL) {
        future = Py_None;
    }
    Py_INCREF(future);
    return future;
}

static PyObject *await_get_none(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    Py_RETURN_NONE;
}

static int await_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct asgi_await *await = await_of(self);

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(await->request);
    Py_VISIT(await->message);
    Py_VISIT(await->future);
    Py_VISIT(await->waiter);
    return 0;
}

/* `request` stays: every other function relies on it. The request's own
 * tp_traverse leads to nothing that it would have to clear. */
static int await_clear(PyObject *self)
{
    await_done(await_of(self));
    return 0;
}

static void await_dealloc(PyObject *self)
{
    struct asgi_await *await = await_of(self);
    struct asgi_request *request = await->request;
    struct ext_asgi *asgi = request->asgi;

    PyObject_GC_UnTrack(self);
    await_unwait(await);
    Py_CLEAR(await->message);
    ext_spare_give(&asgi->spare_awaits, self);
    Py_DECREF(request);
}

static PyMethodDef await_methods[] = {
    {"send", await_send, METH_O, PyDoc_STR("Step it.")},
    {"throw", (PyCFunction)(void (*)(void))await_throw, METH_FASTCALL,
     PyDoc_STR("Raise an exception in it.")},
    {"close", await_close, METH_NOARGS, PyDoc_STR("End it unfinished.")},
    {"__await__", await_dunder, METH_NOARGS, PyDoc_STR("Itself.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef await_getset[] = {
    {"__name__", await_get_name, NULL, NULL, NULL},
    {"__qualname__", await_get_name, NULL, NULL, NULL},
    {"cr_running", await_get_running, NULL, NULL, NULL},
    {"cr_await", await_get_await, NULL, NULL, NULL},
    {"cr_frame", await_get_none, NULL, NULL, NULL},
    {"cr_code", await_get_none, NULL, NULL, NULL},
    {"cr_origin", await_get_none, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot await_slots[] = {
    {Py_tp_doc,
     (char[]){"What a call of an ASGI application's receive or send gives."}},
    {Py_tp_methods, await_methods},
    {Py_tp_getset, await_getset},
    {Py_tp_iter, await_self},
    {Py_tp_iternext, await_iternext},
    {Py_am_await, await_self},
    {Py_am_send, await_am_send},
    {Py_tp_traverse, await_traverse},
    {Py_tp_clear, await_clear},
    {Py_tp_dealloc, await_dealloc},
    {0, NULL},
};

static PyType_Spec await_spec = {
    .name = "xsgi._xsgi.Await",
    .basicsize = sizeof(struct asgi_await),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = await_slots,
};

int asgi_await_init_type(PyObject *module, struct ext_asgi *asgi)
{
    asgi->await_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &await_spec, NULL);
    return asgi->await_type == NULL ? -1 : 0;
}
