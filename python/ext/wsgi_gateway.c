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
#include "python/ext/bridge.h"
#include "python/ext/module.h"
#include "python/ext/option.h"
#include "python/ext/wsgi_parts.h"

#define THREADS_MAX 1024

static struct wsgi_gateway *wsgi_of(struct ext_gateway *gateway);

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
    struct wsgi_gateway *gateway =
        wsgi_of(xs_container_of(base, struct ext_gateway, base));
    struct wsgi_request *request;

    if (req->head->upgrade) {
        ext_gateway_upgrade(&gateway->base, req->head);
    }
    request = wsgi_request_new(gateway, req);
    req->user = request;
    if (request == NULL) {
        ext_unraisable(gateway->base.app);
        xs_response_fail(req);
        return;
    }
    Py_INCREF(request); /* one reference is the core's, one ours */
    request->environ = wsgi_environ_new(gateway, req);
    if (request->environ == NULL ||
        (gateway->early_hints && wsgi_hints_give(request) < 0)) {
        wsgi_request_fail(request);
    } else if (gateway->pool != NULL) {
        if (give_to_pool(request, req) < 0) {
            wsgi_request_fail(request);
        }
    } else if (req->head->framing == XS_FRAMING_NONE) {
        wsgi_request_run(request);
    } else {
        request->is_short = req->head->framing == XS_FRAMING_LENGTH &&
                            req->head->length <= (uint64_t)WSGI_SPOOL_SHORT;
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

static const struct xs_gateway_ops core_ops = {
    .on_request = on_request,
    .on_body = on_body,
    .on_drain = on_drain,
    .on_eof = on_eof,
    .on_abort = on_abort,
};

/* ---- what the server asks ---- */

void wsgi_gateway_unref(struct wsgi_gateway *gateway)
{
    XS_ASSERT(gateway->refs > 0);
    gateway->refs--;
    if (gateway->refs > 0) {
        return;
    }
    XS_ASSERT(gateway->pool == NULL);
    wsgi_environ_fini(gateway);
    Py_CLEAR(gateway->spool_type);
    ext_gateway_fini(&gateway->base);
    PyMem_Free(gateway);
}

static void gateway_free(struct ext_gateway *base)
{
    struct wsgi_gateway *gateway = wsgi_of(base);
    struct wsgi_pool *pool = gateway->pool;

    gateway->pool = NULL;
    wsgi_pool_free(pool);
    if (base->running == 0) {
        Py_CLEAR(base->app); /* it may keep requests, and they keep us */
    }
    wsgi_gateway_unref(gateway);
}

static int gateway_traverse(struct ext_gateway *base, visitproc visit,
                            void *arg)
{
    struct wsgi_gateway *gateway = wsgi_of(base);
    int err;

    /* What a worker is about to run must not be taken for garbage: requests
     * hold us, and the collector does not know of them. */
    if (gateway->pool != NULL && base->running > 0) {
        return 0;
    }
    err = ext_gateway_traverse(base, visit, arg);
    if (err != 0) {
        return err;
    }
    Py_VISIT(gateway->spool_type);
    return wsgi_environ_traverse(gateway, visit, arg);
}

/* Threads cannot be cancelled. */
static void gateway_cancel(struct ext_gateway *base)
{
    (void)base;
}

static const struct ext_gateway_ops server_ops = {
    .free = gateway_free,
    .traverse = gateway_traverse,
    .cancel = gateway_cancel,
    .conn_close = wsgi_environ_conn_close,
};

static struct wsgi_gateway *wsgi_of(struct ext_gateway *gateway)
{
    XS_ASSERT(gateway->ops == &server_ops);
    return xs_container_of(gateway, struct wsgi_gateway, base);
}

static int init_pool(struct wsgi_gateway *gateway, PyObject *config)
{
    long count;

    if (ext_option_count(&count, config, "threads", THREADS_MAX) < 0) {
        return -1;
    }
    if (count > 1) {
        gateway->pool = wsgi_pool_new(gateway->wsgi, count);
        return gateway->pool == NULL ? -1 : 0;
    }
    return 0;
}

struct ext_gateway *ext_wsgi_new(struct ext_wsgi *wsgi, PyObject *app,
                                 PyObject *config)
{
    struct wsgi_gateway *gateway = PyMem_Calloc(1, sizeof *gateway);

    if (gateway == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    gateway->base.base.ops = &core_ops;
    gateway->base.ops = &server_ops;
    gateway->refs = 1;
    gateway->wsgi = wsgi;
    if (ext_gateway_init(&gateway->base, app,
                         ext_disconnected(wsgi->request_type)) < 0 ||
        init_pool(gateway, config) < 0 ||
        ext_option_flag(&gateway->early_hints, config, "early_hints") < 0 ||
        wsgi_environ_init(gateway, config) < 0) {
        gateway_free(&gateway->base);
        return NULL;
    }
    return &gateway->base;
}
