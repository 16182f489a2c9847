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
#include "python/ext/bridge.h"
#include "python/ext/module.h"

static struct asgi_gateway *asgi_of(struct ext_gateway *gateway);

/* ---- what the core tells ---- */

static void on_request(struct xs_gateway *base, struct xs_request *req)
{
    struct asgi_gateway *gateway =
        asgi_of(xs_container_of(base, struct ext_gateway, base));
    struct asgi_request *request;

    if (req->head->upgrade) {
        ext_gateway_upgrade(&gateway->base, req->head);
    }
    request = asgi_request_new(gateway, req);
    req->user = request;
    if (request == NULL) {
        ext_unraisable(gateway->base.app);
        xs_response_fail(req);
        return;
    }
    request->scope = asgi_scope_new(gateway, req);
    if (request->scope == NULL || asgi_task_start(request) < 0) {
        ext_unraisable(gateway->base.app);
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

static const struct xs_gateway_ops core_ops = {
    .on_request = on_request,
    .on_body = on_body,
    .on_drain = on_drain,
    .on_eof = on_eof,
    .on_abort = on_abort,
};

/* ---- what the server asks ---- */

static void gateway_free(struct ext_gateway *base)
{
    struct asgi_gateway *gateway = asgi_of(base);

    while (!xs_list_empty(&gateway->requests)) {
        struct asgi_request *request =
            xs_container_of(gateway->requests.next, struct asgi_request, link);

        XS_ASSERT(request->req == NULL);
        asgi_request_finish(request);
    }
    asgi_scope_fini(gateway);
    asgi_task_fini(gateway);
    Py_CLEAR(gateway->context);
    Py_CLEAR(gateway->create_future);
    Py_CLEAR(gateway->loop);
    ext_gateway_fini(base);
    PyMem_Free(gateway);
}

static int gateway_traverse(struct ext_gateway *base, visitproc visit,
                            void *arg)
{
    struct asgi_gateway *gateway = asgi_of(base);
    struct xs_list *link;
    int err = ext_gateway_traverse(base, visit, arg);

    if (err != 0) {
        return err;
    }
    Py_VISIT(gateway->context);
    Py_VISIT(gateway->create_future);
    Py_VISIT(gateway->loop);
    for (link = gateway->requests.next; link != &gateway->requests;
         link = link->next) {
        Py_VISIT(xs_container_of(link, struct asgi_request, link));
    }
    err = asgi_scope_traverse(gateway, visit, arg);
    return err != 0 ? err : asgi_task_traverse(gateway, visit, arg);
}

static void gateway_cancel(struct ext_gateway *base)
{
    struct asgi_gateway *gateway = asgi_of(base);
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
            ext_unraisable(task);
        }
        Py_XDECREF(done);
        Py_DECREF(task);
    }
}

static void gateway_conn_close(void *conn_user)
{
    Py_DECREF((PyObject *)conn_user);
}

static const struct ext_gateway_ops server_ops = {
    .free = gateway_free,
    .traverse = gateway_traverse,
    .cancel = gateway_cancel,
    .conn_close = gateway_conn_close,
};

static struct asgi_gateway *asgi_of(struct ext_gateway *gateway)
{
    XS_ASSERT(gateway->ops == &server_ops);
    return xs_container_of(gateway, struct asgi_gateway, base);
}

static int init_cancelled(struct ext_asgi *asgi)
{
    PyObject *module;

    if (asgi->cancelled != NULL) {
        return 0;
    }
    module = PyImport_ImportModule("asyncio.exceptions");
    if (module != NULL) {
        asgi->cancelled = PyObject_GetAttrString(module, "CancelledError");
        Py_DECREF(module);
    }
    return asgi->cancelled == NULL ? -1 : 0;
}

struct ext_gateway *ext_asgi_new(struct ext_asgi *asgi, PyObject *app,
                                 PyObject *loop, PyObject *config)
{
    struct asgi_gateway *gateway = PyMem_Calloc(1, sizeof *gateway);

    if (gateway == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    gateway->base.base.ops = &core_ops;
    gateway->base.ops = &server_ops;
    gateway->asgi = asgi;
    gateway->loop = Py_NewRef(loop);
    xs_list_init(&gateway->requests);
    gateway->create_future = PyObject_GetAttrString(loop, "create_future");
    gateway->context = PyContext_CopyCurrent();
    if (ext_gateway_init(&gateway->base, app,
                         ext_disconnected(asgi->request_type)) < 0 ||
        gateway->create_future == NULL || gateway->context == NULL ||
        init_cancelled(asgi) < 0 || asgi_scope_init(gateway, config) < 0 ||
        asgi_task_init(gateway, config) < 0) {
        gateway_free(&gateway->base);
        return NULL;
    }
    return &gateway->base;
}
