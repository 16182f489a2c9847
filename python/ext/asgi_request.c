/* asgi_request.c - one request: what `receive` and `send` are bound to. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/bridge.h"
#include "python/ext/module.h"

static struct asgi_request *request_of(PyObject *self)
{
    return (struct asgi_request *)(void *)self;
}

/* The two methods only note what is wanted: the work is done when the
 * coroutine is first stepped, on the loop's thread. */

static PyObject *request_receive(PyObject *self, PyObject *unused)
{
    (void)unused;
    return asgi_await_new(request_of(self), NULL);
}

static PyObject *request_send(PyObject *self, PyObject *message)
{
    return asgi_await_new(request_of(self), message);
}

static PyMethodDef receive_def = {
    "receive", request_receive, METH_NOARGS,
    PyDoc_STR("receive()\n--\n\nThe next ASGI message, when awaited.")};

static PyMethodDef send_def = {
    "send", request_send, METH_O,
    PyDoc_STR("send(message)\n--\n\nSend an ASGI message, when awaited.")};

PyObject *asgi_request_receive(struct asgi_request *request)
{
    return PyCFunction_New(&receive_def, (PyObject *)request);
}

PyObject *asgi_request_send(struct asgi_request *request)
{
    return PyCFunction_New(&send_def, (PyObject *)request);
}

struct asgi_request *asgi_request_new(struct asgi_gateway *gateway,
                                      struct xs_request *req)
{
    struct ext_asgi *asgi = gateway->asgi;
    struct asgi_request *request =
        request_of(ext_spare_take(&asgi->spare_requests, asgi->request_type));

    if (request == NULL) {
        return NULL;
    }
    request->asgi = asgi;
    request->gateway = gateway;
    request->req = req;
    request->task = NULL;
    request->scope = NULL;
    xs_list_init(&request->receivers);
    xs_list_init(&request->senders);
    request->response = ASGI_RESPONSE_NONE;
    request->trailing = false;
    request->body_taken = false;
    request->at_eof = false;
    request->told = false;
    request->gone = false;
    request->why = XS_ABORT_RESET;
    xs_list_init(&request->link);
    xs_list_append(&gateway->requests, &request->link);
    gateway->base.running++;
    Py_INCREF(request);
    PyObject_GC_Track((PyObject *)request);
    return request;
}

void asgi_request_detach(struct asgi_request *request)
{
    request->req = NULL;
    asgi_request_wake(request, &request->receivers);
    asgi_request_wake(request, &request->senders);
}

void asgi_request_finish(struct asgi_request *request)
{
    struct asgi_gateway *gateway = request->gateway;

    if (gateway == NULL) {
        return;
    }
    if (request->req != NULL) {
        xs_response_fail(request->req);
        request->response = ASGI_RESPONSE_ENDED;
        asgi_request_detach(request);
    }
    XS_ASSERT(gateway->base.running > 0);
    gateway->base.running--;
    request->gateway = NULL;
    xs_list_remove(&request->link);
    Py_CLEAR(request->task);
    Py_CLEAR(request->scope);
    Py_DECREF(request);
}

/* Make `future` done, unless it is. */
static int wake_future(const struct ext_asgi *asgi, PyObject *future)
{
    PyObject *done = PyObject_CallMethodNoArgs(future, asgi->str.done);
    PyObject *set;
    int is_done;

    if (done == NULL) {
        return -1;
    }
    is_done = PyObject_IsTrue(done);
    Py_DECREF(done);
    if (is_done != 0) {
        return is_done < 0 ? -1 : 0;
    }
    set = PyObject_CallMethodOneArg(future, asgi->str.set_result, Py_None);
    Py_XDECREF(set);
    return set == NULL ? -1 : 0;
}

void asgi_request_wake(struct asgi_request *request, struct xs_list *waiters)
{
    struct xs_list woken;
    struct xs_list *link;

    if (xs_list_empty(waiters)) {
        return;
    }
    /* One who is woken may wait again: not in this round. */
    xs_list_init(&woken);
    xs_list_splice(&woken, waiters);
    while ((link = xs_list_pop(&woken)) != NULL) {
        PyObject *future =
            xs_container_of(link, struct asgi_await, link)->future;

        XS_ASSERT(future != NULL);
        Py_INCREF(future);
        if (wake_future(request->asgi, future) < 0) {
            ext_unraisable(future);
        }
        Py_DECREF(future);
    }
}

int asgi_request_raise_gone(const struct asgi_request *request)
{
    return ext_raise_gone(ext_disconnected(Py_TYPE((PyObject *)request)),
                          request->gone, request->why);
}

static int request_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct asgi_request *request = request_of(self);

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(request->task);
    Py_VISIT(request->scope);
    return 0;
}

static void request_dealloc(PyObject *self)
{
    struct asgi_request *request = request_of(self);
    struct ext_asgi *asgi = request->asgi;

    PyObject_GC_UnTrack(self);
    /* The gateway's list and every await hold references. */
    XS_ASSERT(request->gateway == NULL);
    XS_ASSERT(request->req == NULL);
    XS_ASSERT(xs_list_empty(&request->receivers));
    XS_ASSERT(xs_list_empty(&request->senders));
    ext_spare_give(&asgi->spare_requests, self);
}

static PyType_Slot request_slots[] = {
    {Py_tp_doc, (char[]){"One request, as its `receive` and `send` know it."}},
    {Py_tp_traverse, request_traverse},
    {Py_tp_dealloc, request_dealloc},
    {0, NULL},
};

static PyType_Spec request_spec = {
    .name = "xsgi._xsgi.Request",
    .basicsize = sizeof(struct asgi_request),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = request_slots,
};

int asgi_request_init_type(PyObject *module, struct ext_asgi *asgi)
{
    asgi->request_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &request_spec, NULL);
    return asgi->request_type == NULL ? -1 : 0;
}
