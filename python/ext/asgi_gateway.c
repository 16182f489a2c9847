/* asgi_gateway.c - core/gateway.h for an ASGI application.
 *
 *     on_request   a request object, its scope, its task
 *     on_body      whoever waits in receive() looks again
 *     on_drain     whoever waits in send() looks again
 *     on_eof       likewise in receive(): the client sends no more
 *     on_abort     both: it is over
 *
 * The application is never cancelled because its client left: it is told, by
 * http.disconnect and by ClientDisconnected. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

static struct asgi_gateway *gateway_of(const struct xs_gateway *gateway);

/* ---- what the core tells ---- */

static void on_request(struct xs_gateway *base, struct xs_request *req)
{
    struct asgi_gateway *gateway = gateway_of(base);
    struct asgi_request *request = asgi_request_new(gateway, req);

    req->user = request;
    if (request == NULL) {
        PyErr_WriteUnraisable(gateway->app);
        xs_response_fail(req);
        return;
    }
    request->scope = asgi_scope_new(gateway, req);
    if (request->scope == NULL || asgi_task_start(request) < 0) {
        PyErr_WriteUnraisable(gateway->app);
        asgi_request_finish(request);
    }
    Py_DECREF(request);
}

static void on_body(struct xs_request *req)
{
    struct asgi_request *request = req->user;

    XS_ASSERT(request->req == req);
    asgi_request_wake(request, &request->receivers);
}

static void on_drain(struct xs_request *req)
{
    struct asgi_request *request = req->user;

    XS_ASSERT(request->req == req);
    asgi_request_wake(request, &request->senders);
}

static void on_eof(struct xs_request *req)
{
    struct asgi_request *request = req->user;

    XS_ASSERT(request->req == req);
    request->at_eof = true;
    asgi_request_wake(request, &request->receivers);
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    struct asgi_request *request = req->user;

    XS_ASSERT(request->req == req);
    request->gone = true;
    request->why = why;
    Py_INCREF(request);
    asgi_request_detach(request);
    Py_DECREF(request);
}

static const struct xs_gateway_ops gateway_ops = {
    .on_request = on_request,
    .on_body = on_body,
    .on_drain = on_drain,
    .on_eof = on_eof,
    .on_abort = on_abort,
};

static struct asgi_gateway *gateway_of(const struct xs_gateway *gateway)
{
    XS_ASSERT(gateway->ops == &gateway_ops);
    return xs_container_of(gateway, struct asgi_gateway, base);
}

/* ---- from new to free ---- */

PyObject *asgi_option(PyObject *config, const char *name)
{
    PyObject *value;

    if (config == Py_None) {
        Py_RETURN_NONE;
    }
    value = PyDict_Check(config) ? PyMapping_GetItemString(config, name)
                                 : PyObject_GetAttrString(config, name);
    if (value == NULL && (PyErr_ExceptionMatches(PyExc_AttributeError) ||
                          PyErr_ExceptionMatches(PyExc_KeyError))) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return value;
}

static PyObject *init_logger(void)
{
    PyObject *logging = PyImport_ImportModule("logging");
    PyObject *logger = NULL;

    if (logging != NULL) {
        logger = PyObject_CallMethod(logging, "getLogger", "s", "xsgi.error");
        Py_DECREF(logging);
    }
    return logger;
}

struct xs_gateway *ext_asgi_new(struct ext_asgi *asgi, PyObject *app,
                                PyObject *loop, PyObject *config)
{
    struct asgi_gateway *gateway = PyMem_Calloc(1, sizeof *gateway);

    if (gateway == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    gateway->base.ops = &gateway_ops;
    gateway->asgi = asgi;
    Py_INCREF(app);
    gateway->app = app;
    Py_INCREF(loop);
    gateway->loop = loop;
    gateway->thread = PyThread_get_thread_ident();
    xs_list_init(&gateway->requests);
    gateway->create_future = PyObject_GetAttrString(loop, "create_future");
    gateway->logger = init_logger();
    gateway->context = PyContext_CopyCurrent();
    if (gateway->create_future == NULL || gateway->logger == NULL ||
        gateway->context == NULL || asgi_scope_init(gateway, config) < 0 ||
        asgi_task_init(gateway, config) < 0) {
        ext_asgi_free(&gateway->base);
        return NULL;
    }
    return &gateway->base;
}

void ext_asgi_free(struct xs_gateway *base)
{
    struct asgi_gateway *gateway;

    if (base == NULL) {
        return;
    }
    gateway = gateway_of(base);
    while (!xs_list_empty(&gateway->requests)) {
        struct asgi_request *request =
            xs_container_of(gateway->requests.next, struct asgi_request, link);

        XS_ASSERT(request->req == NULL);
        asgi_request_finish(request);
    }
    XS_ASSERT(gateway->running == 0);
    asgi_scope_fini(gateway);
    asgi_task_fini(gateway);
    Py_CLEAR(gateway->logger);
    Py_CLEAR(gateway->context);
    Py_CLEAR(gateway->create_future);
    Py_CLEAR(gateway->loop);
    Py_CLEAR(gateway->app);
    PyMem_Free(gateway);
}

size_t ext_asgi_running(const struct xs_gateway *gateway)
{
    return gateway_of(gateway)->running;
}

void ext_asgi_cancel_all(struct xs_gateway *base)
{
    struct asgi_gateway *gateway = gateway_of(base);
    struct xs_list rest;
    struct xs_list *link;

    /* Cancelling runs code that may end any of them. */
    xs_list_init(&rest);
    xs_list_splice(&rest, &gateway->requests);
    while ((link = xs_list_pop(&rest)) != NULL) {
        PyObject *task = xs_container_of(link, struct asgi_request, link)->task;
        PyObject *done = NULL;

        xs_list_append(&gateway->requests, link);
        if (task == NULL) {
            continue;
        }
        Py_INCREF(task);
        done = PyObject_CallMethodNoArgs(task, gateway->asgi->str.cancel);
        if (done == NULL) {
            PyErr_WriteUnraisable(task);
        }
        Py_XDECREF(done);
        Py_DECREF(task);
    }
}

void ext_asgi_conn_close(void *conn_user)
{
    Py_XDECREF((PyObject *)conn_user);
}
