/* server.c - Server: the core under one application, on one backend. */

#include "python/ext/server.h"

#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "python/ext/bridge.h"
#include "python/ext/state.h"

static struct ext_server *server_open(PyObject *self)
{
    struct ext_server *server = (struct ext_server *)self;

    if (server->backend == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the server is closed");
        return NULL;
    }
    return server;
}

/* Begin to use it: until ext_backend_leave. NULL with an exception set. The
 * arguments are read before: that may run Python code. */
static struct ext_server *server_enter(PyObject *self)
{
    struct ext_server *server = server_open(self);

    return server == NULL || ext_backend_enter(server->backend) < 0 ? NULL
                                                                    : server;
}

static void on_access(void *user, const struct xs_access *entry)
{
    struct ext_server *server = user;

    ext_backend_call_out(server->backend); /* `access_emit` is called */
    ext_access_add(server->access, entry, server->core.io);
    ext_backend_called_out(server->backend);
}

static void on_refused(void *user, const struct xs_io_addr *peer,
                       enum xs_refusal why, bool answered)
{
    struct ext_server *server = user;

    ext_backend_call_out(server->backend);
    ext_refused_add(server, peer, why, answered);
    ext_backend_called_out(server->backend);
}

static void on_accept_failed(void *user, int err)
{
    struct ext_server *server = user;

    ext_backend_call_out(server->backend);
    ext_refused_all(server, err);
    ext_backend_called_out(server->backend);
}

static void on_conn_close(void *user, void *conn_user)
{
    struct ext_server *server = user;

    if (conn_user != NULL) {
        server->gateway->ops->conn_close(conn_user);
    }
}

static void on_stopped(void *user)
{
    struct ext_server *server = user;

    ext_refused_end(server);
    ext_notify(server->on_stopped);
}

static int server_init_logs(struct ext_server *server, PyObject *config)
{
    server->logger = Py_NewRef(server->gateway->logger);
    return ext_access_new(&server->access, config);
}

/* `server` has its gateway already. */
static int server_init(struct ext_server *server, struct ext_backend *backend,
                       PyObject *config)
{
    struct xs_server_config core;

    if (ext_server_config(config, &core) < 0 ||
        ext_proxies_new(&server->proxies, &core.proxies, config) < 0 ||
        ext_server_hosts(config, &server->hosts, &core.hosts) < 0 ||
        server_init_logs(server, config) < 0) {
        return -1;
    }
    core.events = (struct xs_server_events){
        .access = server->access != NULL ? on_access : NULL,
        .refused = on_refused,
        .accept_failed = on_accept_failed,
        .conn_close = on_conn_close,
        .stopped = on_stopped,
        .user = server,
    };
    if (server->access != NULL) {
        core.wants = *ext_access_wants(server->access);
    }
    /* Reading the options has run Python code. */
    if (backend->drive == NULL || backend->server != NULL) {
        PyErr_SetString(PyExc_ValueError,
                        "the backend was closed, or given to another server");
        return -1;
    }
    if (ext_backend_enter_alone(backend) < 0) {
        return -1;
    }
    xs_server_init(&server->core, backend->drive->io, &server->gateway->base,
                   &core);
    server->backend = (struct ext_backend *)Py_NewRef((PyObject *)backend);
    server->thread = backend->thread;
    backend->server = server;
    ext_backend_leave(backend);
    return 0;
}

static PyObject *server_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"backend", "app",  "interface",
                            "config",  "loop", NULL};
    struct ext_state *state = ext_state_of_type(type);
    PyObject *object;
    PyObject *app;
    const char *interface;
    PyObject *config;
    PyObject *loop = Py_None;
    struct ext_backend *backend;
    struct ext_server *self;

    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kw, "OOsO|O:Server", names, &object,
                                     &app, &interface, &config, &loop)) {
        return NULL;
    }
    backend = ext_backend_of(state, object);
    if (backend == NULL) {
        return NULL;
    }
    if (backend->server != NULL) {
        PyErr_SetString(PyExc_ValueError, "the backend has a server already");
        return NULL;
    }
    if (strcmp(interface, "wsgi") != 0 && strcmp(interface, "asgi3") != 0) {
        PyErr_Format(PyExc_ValueError, "no interface '%s': asgi3 or wsgi",
                     interface);
        return NULL;
    }
    self = (struct ext_server *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->gateway = strcmp(interface, "wsgi") == 0
                        ? ext_wsgi_new(&state->wsgi, app, config)
                        : ext_asgi_new(&state->asgi, app, loop, config);
    if (self->gateway == NULL || server_init(self, backend, config) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int server_add_listener(struct ext_server *server,
                               const struct xs_io_spec *spec,
                               struct xs_io_addr *local)
{
    int err;

    if (server->core.state != XS_SERVER_RUNNING) {
        PyErr_SetString(PyExc_RuntimeError, "the server is stopping");
        return -1;
    }
    err = xs_server_listen(&server->core, spec);
    if (err != 0) {
        return ext_raise(err, "listen");
    }
    *local = server->core.listeners[server->core.listener_count - 1]->local;
    return 0;
}

static PyObject *server_listen(PyObject *self, PyObject *args, PyObject *kw)
{
    static char *names[] = {"fd", "host", "port", "backlog", NULL};
    struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1", .backlog = 2048};
    struct xs_io_addr local = {.port = 0};
    struct ext_server *server;
    int port = 0;
    int err;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "|i$sii:listen", names, &spec.fd,
                                     &spec.host, &port, &spec.backlog)) {
        return NULL;
    }
    if (spec.fd < -1 || port < 0 || port > UINT16_MAX) {
        PyErr_SetString(PyExc_ValueError, "listen: no such fd or port");
        return NULL;
    }
    spec.port = (uint16_t)port;
    server = server_enter(self);
    if (server == NULL) {
        return NULL;
    }
    err = server_add_listener(server, &spec, &local);
    ext_backend_leave(server->backend);
    return err < 0 ? NULL : Py_BuildValue("(si)", local.host, (int)local.port);
}

static PyObject *server_stop(PyObject *self, PyObject *grace)
{
    struct ext_server *server;
    uint64_t grace_ns = XS_NEVER;

    if (grace != Py_None) {
        double seconds = PyFloat_AsDouble(grace);
        if (seconds == -1.0 && PyErr_Occurred() != NULL) {
            return NULL;
        }
        grace_ns = isnan(seconds) || seconds <= 0 ? 0
                   : seconds < 1e9                ? (uint64_t)(seconds * 1e9)
                                                  : XS_NEVER;
    }
    server = server_enter(self);
    if (server == NULL) {
        return NULL;
    }
    xs_server_stop(&server->core, grace_ns);
    ext_backend_leave(server->backend);
    Py_RETURN_NONE;
}

static PyObject *server_run(PyObject *self, PyObject *unused)
{
    struct ext_server *server = server_open(self);

    (void)unused;
    if (server == NULL) {
        return NULL;
    }
    while (server->backend != NULL && server->core.state != XS_SERVER_STOPPED &&
           server->backend->ready == NULL) {
        if (ext_backend_run(server->backend, XS_NEVER) < 0) {
            return NULL;
        }
    }
    return server->backend == NULL ? PyTuple_New(0)
                                   : ext_backend_take_ready(server->backend);
}

static PyObject *server_cancel(PyObject *self, PyObject *unused)
{
    struct ext_server *server = server_enter(self);

    (void)unused;
    if (server == NULL) {
        return NULL;
    }
    server->gateway->ops->cancel(server->gateway);
    ext_backend_leave(server->backend);
    Py_RETURN_NONE;
}

static PyObject *server_close(PyObject *self, PyObject *unused)
{
    struct ext_server *server = (struct ext_server *)self;
    struct ext_backend *backend = server->backend;

    (void)unused;
    if (backend == NULL) {
        Py_RETURN_NONE;
    }
    if (ext_backend_enter_alone(backend) < 0) {
        return NULL;
    }
    ext_server_close(server);
    ext_backend_leave(backend);
    Py_RETURN_NONE;
}

static PyObject *server_stats(PyObject *self, PyObject *unused)
{
    struct ext_server *server = server_open(self);
    const struct xs_server_stats *stats;

    (void)unused;
    if (server == NULL) {
        return NULL;
    }
    stats = &server->core.stats;
    return Py_BuildValue("{sIsIsKsKsKsn}", "connections", stats->connections,
                         "requests", stats->requests, "accepted",
                         (unsigned long long)stats->accepted, "served",
                         (unsigned long long)stats->served, "refused",
                         (unsigned long long)stats->refused, "running",
                         (Py_ssize_t)server->gateway->running);
}

static PyObject *server_get_stopped(PyObject *self, void *unused)
{
    const struct ext_server *server = (struct ext_server *)self;

    (void)unused;
    return PyBool_FromLong(server->backend == NULL ||
                           server->core.state == XS_SERVER_STOPPED);
}

static PyObject *server_get_on_stopped(PyObject *self, void *unused)
{
    const struct ext_server *server = (struct ext_server *)self;

    (void)unused;
    return Py_NewRef(server->on_stopped == NULL ? Py_None : server->on_stopped);
}

static int server_set_on_stopped(PyObject *self, PyObject *value, void *unused)
{
    struct ext_server *server = (struct ext_server *)self;
    PyObject *old = server->on_stopped;

    (void)unused;
    server->on_stopped =
        value == NULL || value == Py_None ? NULL : Py_NewRef(value);
    Py_XDECREF(old);
    return 0;
}

static int server_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct ext_server *server = (struct ext_server *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(server->backend);
    Py_VISIT(server->on_stopped);
    Py_VISIT(server->logger);
    if (server->access != NULL) {
        Py_VISIT(ext_access_emit(server->access));
    }
    return server->gateway == NULL
               ? 0
               : server->gateway->ops->traverse(server->gateway, visit, arg);
}

static int server_clear(PyObject *self)
{
    Py_CLEAR(((struct ext_server *)self)->on_stopped);
    return 0;
}

static void server_end(struct ext_server *server)
{
    PyObject *type;
    PyObject *error;
    PyObject *traceback;

    PyErr_Fetch(&type, &error, &traceback);
    (void)server_clear((PyObject *)server);
    ext_server_drop(server);
    PyErr_Restore(type, error, traceback);
}

/* Nobody holds it any more, but perhaps its own application in a cycle: which
 * ends with the gateway. */
static void server_finalize(PyObject *self)
{
    struct ext_server *server = (struct ext_server *)self;

    if (!ext_server_hand_over(server)) {
        server_end(server);
    }
}

static void server_dealloc(PyObject *self)
{
    struct ext_server *server = (struct ext_server *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (PyObject_CallFinalizerFromDealloc(self) < 0) {
        return; /* somebody holds it again, closed or about to be */
    }
    PyObject_GC_UnTrack(self);
    server_end(server); /* its thread has never come */
    Py_CLEAR(server->logger);
    ext_access_free(server->access);
    ext_proxies_free(server->proxies);
    PyMem_Free(server->hosts);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef server_methods[] = {
    {"listen", (PyCFunction)(void (*)(void))server_listen,
     METH_VARARGS | METH_KEYWORDS,
     "listen(fd=-1, *, host='127.0.0.1', port=0, backlog=2048)\n"
     "-> (host, port): accept connections on the socket fd, which is the\n"
     "server's from then on, or at a numeric address. Raises OSError."},
    {"stop", server_stop, METH_O,
     "stop(grace): accept nothing more, close what is idle, let what runs\n"
     "finish within grace seconds (None: without limit), abort the rest."},
    {"run", server_run, METH_NOARGS,
     "run() -> [(key, events), ...]: run the backend until the server has\n"
     "stopped or a watched descriptor is ready."},
    {"cancel", server_cancel, METH_NOARGS,
     "cancel(): cancel the tasks of all ASGI requests."},
    {"close", server_close, METH_NOARGS, "close(): end everything at once."},
    {"stats", server_stats, METH_NOARGS,
     "stats() -> counts: connections, requests, accepted, served, refused,\n"
     "running."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef server_getset[] = {
    {"stopped", server_get_stopped, NULL,
     "No listener and no connection is left.", NULL},
    {"on_stopped", server_get_on_stopped, server_set_on_stopped,
     "Called once when the server has stopped.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot server_slots[] = {
    {Py_tp_new, server_new},
    {Py_tp_finalize, server_finalize},
    {Py_tp_dealloc, server_dealloc},
    {Py_tp_traverse, server_traverse},
    {Py_tp_clear, server_clear},
    {Py_tp_methods, server_methods},
    {Py_tp_getset, server_getset},
    {Py_tp_doc,
     "Server(backend, app, interface, config, loop=None): serve app, which is\n"
     "'wsgi' or 'asgi3', with the options that config has as attributes."},
    {0, NULL},
};

static PyType_Spec server_spec = {
    .name = "xsgi._xsgi.Server",
    .basicsize = sizeof(struct ext_server),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = server_slots,
};

int ext_init_server(PyObject *module)
{
    struct ext_state *state = ext_state_of(module);

    state->server_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &server_spec, NULL);
    if (state->server_type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->server_type);
}
