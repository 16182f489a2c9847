/* wsgi_gateway.c - core/gateway.h for a WSGI application.
 *
 *     one thread                            more
 *     on_request  its environ; run it       its environ; a worker runs it
 *     on_body     collect more, then run    the channel brings it
 *     on_drain    the iterable goes on      the channel goes on
 *     on_eof      -                         -
 *     on_abort    the iterable is closed    the worker is told
 *
 * PEP 3333 has no way to say that the client sends no more, so nobody is told
 * of on_eof: a client may do that and still want its response. */

#include "core/base/base.h"
#include "python/ext/wsgi_parts.h"

#define THREADS_MAX 1024

static struct wsgi_gateway *gateway_of(const struct xs_gateway *gateway);

/* ---- what the core tells ---- */

/* Hand the request to a worker. */
static int give_to_pool(struct wsgi_request *request, struct xs_request *req)
{
    const struct ext_wsgi *wsgi = request->gateway->wsgi;
    PyObject *gone = wsgi_request_disconnected(request);
    PyObject *input = NULL;
    int err = -1;

    if (gone != NULL) {
        err = PyDict_SetItem(request->environ,
                             wsgi->str.xsgi_client_disconnected, gone);
        Py_DECREF(gone);
    }
    if (err == 0 && req->head->framing != XS_FRAMING_NONE) {
        input = wsgi_input_of_channel(request);
        err = input == NULL ? -1
                            : PyDict_SetItem(request->environ,
                                             wsgi->str.wsgi_input, input);
        Py_XDECREF(input);
    }
    if (err < 0 || wsgi_channel_open(request, req) < 0) {
        return -1;
    }
    /* From here on the channel is the way to the core. */
    request->req = NULL;
    wsgi_channel_pump(request->channel);
    wsgi_pool_submit(request->gateway->pool, request);
    return 0;
}

static void on_request(struct xs_gateway *base, struct xs_request *req)
{
    struct wsgi_gateway *gateway = gateway_of(base);
    struct wsgi_request *request = wsgi_request_new(gateway, req);

    req->user = request;
    if (request == NULL) {
        PyErr_WriteUnraisable(gateway->app);
        xs_response_fail(req);
        return;
    }
    Py_INCREF(request); /* one reference is the core's, one ours */
    request->environ = wsgi_environ_new(gateway, req);
    if (request->environ == NULL) {
        wsgi_request_fail(request);
    } else if (gateway->pool != NULL) {
        if (give_to_pool(request, req) < 0) {
            wsgi_request_fail(request);
        }
    } else if (req->head->framing == XS_FRAMING_NONE) {
        wsgi_request_run(request);
    } else {
        wsgi_spool_body(request);
    }
    Py_DECREF(request);
}

static void on_body(struct xs_request *req)
{
    struct wsgi_request *request = req->user;

    Py_INCREF(request);
    if (request->channel != NULL) {
        wsgi_channel_pump(request->channel);
    } else if (request->result == NULL && request->is_running) {
        wsgi_spool_body(request);
    }
    Py_DECREF(request);
}

static void on_drain(struct xs_request *req)
{
    struct wsgi_request *request = req->user;

    Py_INCREF(request);
    if (request->channel != NULL) {
        wsgi_channel_pump(request->channel);
    } else if (request->is_running && !request->is_turn_posted) {
        wsgi_response_go(request);
    }
    Py_DECREF(request);
}

static void on_eof(struct xs_request *req)
{
    (void)req;
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    struct wsgi_request *request = req->user;

    Py_INCREF(request);
    request->is_gone = true;
    request->why = why;
    if (request->channel == NULL) {
        wsgi_request_detach(request);
        wsgi_request_finish(request);
    } else {
        wsgi_channel_abort(request->channel);
        if (wsgi_pool_revoke(request->gateway->pool, request)) {
            wsgi_request_finish(request);
        }
    }
    Py_DECREF(request);
}

static const struct xs_gateway_ops gateway_ops = {
    .on_request = on_request,
    .on_body = on_body,
    .on_drain = on_drain,
    .on_eof = on_eof,
    .on_abort = on_abort,
};

static struct wsgi_gateway *gateway_of(const struct xs_gateway *gateway)
{
    XS_ASSERT(gateway->ops == &gateway_ops);
    return xs_container_of(gateway, struct wsgi_gateway, base);
}

/* ---- from new to free ---- */

PyObject *wsgi_option(PyObject *config, const char *name)
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

static int init_logger(struct wsgi_gateway *gateway)
{
    PyObject *logging = PyImport_ImportModule("logging");

    if (logging != NULL) {
        gateway->logger =
            PyObject_CallMethod(logging, "getLogger", "s", "xsgi.error");
        Py_DECREF(logging);
    }
    return gateway->logger == NULL ? -1 : 0;
}

/* xsgi.ClientDisconnected is the module's: the ASGI gateway makes it. */
static int init_disconnected(struct wsgi_gateway *gateway)
{
    PyObject *module = PyType_GetModule(gateway->wsgi->request_type);

    if (module != NULL) {
        gateway->disconnected =
            PyObject_GetAttrString(module, "ClientDisconnected");
    }
    return gateway->disconnected == NULL ? -1 : 0;
}

static int init_pool(struct wsgi_gateway *gateway, PyObject *config)
{
    PyObject *threads = wsgi_option(config, "threads");
    long count = 1;

    if (threads != NULL && threads != Py_None) {
        count = PyLong_AsLong(threads);
    }
    if (threads == NULL || PyErr_Occurred() != NULL) {
        Py_XDECREF(threads);
        return -1;
    }
    Py_DECREF(threads);
    if (count < 1 || count > THREADS_MAX) {
        PyErr_Format(PyExc_ValueError, "threads: 1 to %d", THREADS_MAX);
        return -1;
    }
    if (count > 1) {
        gateway->pool = wsgi_pool_new(gateway->wsgi, count);
        return gateway->pool == NULL ? -1 : 0;
    }
    return 0;
}

struct xs_gateway *ext_wsgi_new(struct ext_wsgi *wsgi, PyObject *app,
                                PyObject *config)
{
    struct wsgi_gateway *gateway = PyMem_Calloc(1, sizeof *gateway);

    if (gateway == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    gateway->base.ops = &gateway_ops;
    gateway->refs = 1;
    gateway->wsgi = wsgi;
    gateway->app = Py_NewRef(app);
    gateway->thread = PyThread_get_thread_ident();
    if (init_logger(gateway) < 0 || init_disconnected(gateway) < 0 ||
        init_pool(gateway, config) < 0 ||
        wsgi_environ_init(gateway, config) < 0) {
        ext_wsgi_free(&gateway->base);
        return NULL;
    }
    return &gateway->base;
}

void wsgi_gateway_unref(struct wsgi_gateway *gateway)
{
    XS_ASSERT(gateway->refs > 0);
    gateway->refs--;
    if (gateway->refs > 0) {
        return;
    }
    XS_ASSERT(gateway->pool == NULL);
    XS_ASSERT(gateway->running == 0);
    wsgi_environ_fini(gateway);
    Py_CLEAR(gateway->spool_type);
    Py_CLEAR(gateway->disconnected);
    Py_CLEAR(gateway->logger);
    Py_CLEAR(gateway->app);
    PyMem_Free(gateway);
}

void ext_wsgi_free(struct xs_gateway *base)
{
    struct wsgi_gateway *gateway;
    struct wsgi_pool *pool;

    if (base == NULL) {
        return;
    }
    gateway = gateway_of(base);
    pool = gateway->pool;
    gateway->pool = NULL;
    wsgi_pool_free(pool);
    wsgi_gateway_unref(gateway);
}

size_t ext_wsgi_running(const struct xs_gateway *gateway)
{
    return gateway_of(gateway)->running;
}
