/* wsgi_environ.c - a request head becomes an environ.
 *
 * The model is an environ of the commonest request: "GET / HTTP/1.1" without a
 * body. Copying it is cheap, and what differs is put over it. It had more keys
 * once, which makes its table large enough for the headers of most requests:
 * they go in without another one being made.
 *
 * All strings are what PEP 3333 calls native: bytes decoded as latin-1. */

#include <limits.h>
#include <string.h>

#include "core/base/base.h"
#include "python/ext/method.h"
#include "python/ext/option.h"
#include "python/ext/path.h"
#include "python/ext/wsgi_parts.h"

/* Keys that are put into the model and taken out again. CPython copies a table
 * as it is while two thirds of it or more are in use. */
#define MODEL_KEYS_SPARE 5

/* What is kept for a connection. */
struct peer {
    PyObject *addr; /* owned */
    PyObject *port; /* owned; NULL: it has none */
};

/* environ[key] = value; takes `value`, which may be NULL with an exception
 * set. */
static int environ_set(PyObject *environ, PyObject *key, PyObject *value)
{
    int err;

    if (value == NULL) {
        return -1;
    }
    err = PyDict_SetItem(environ, key, value);
    Py_DECREF(value);
    return err;
}

/* ---- who talks to whom ---- */

static void peer_free(struct peer *peer)
{
    if (peer != NULL) {
        Py_XDECREF(peer->addr);
        Py_XDECREF(peer->port);
        PyMem_Free(peer);
    }
}

void wsgi_environ_conn_close(void *conn_user)
{
    peer_free(conn_user);
}

/* PEP 3333: with SSL also what Apache sets. */
static int set_https(const struct wsgi_gateway *gateway, PyObject *environ)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;

    return PyDict_SetItem(environ, wsgi->str.wsgi_url_scheme,
                          wsgi->str.lower_https) < 0
               ? -1
               : PyDict_SetItem(environ, wsgi->str.https, wsgi->str.on);
}

/* A proxy has named the client; its port it may not have said. */
static int set_forwarded(const struct wsgi_gateway *gateway, PyObject *environ,
                         const struct xs_io_addr *client)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;

    if (environ_set(environ, wsgi->str.remote_addr,
                    PyUnicode_FromString(client->host)) < 0) {
        return -1;
    }
    return client->port == 0 ? 0
                             : environ_set(environ, wsgi->str.remote_port,
                                           PyUnicode_FromFormat(
                                               "%u", (unsigned)client->port));
}

/* The client of `req`, from its connection; NULL with an exception set. */
static struct peer *peer_of(struct xs_request *req)
{
    struct peer *peer = *req->conn_user;

    if (peer != NULL) {
        return peer;
    }
    peer = PyMem_Calloc(1, sizeof *peer);
    if (peer == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    peer->addr = PyUnicode_FromString(req->peer->host);
    if (!req->peer->is_unix) {
        peer->port = PyUnicode_FromFormat("%u", (unsigned)req->peer->port);
    }
    if (peer->addr == NULL || (peer->port == NULL && !req->peer->is_unix)) {
        peer_free(peer);
        return NULL;
    }
    *req->conn_user = peer;
    return peer;
}

static int set_client(const struct wsgi_gateway *gateway, PyObject *environ,
                      const struct xs_request *req, const struct peer *peer)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;

    if (req->is_https && set_https(gateway, environ) < 0) {
        return -1;
    }
    if (req->client != NULL) {
        return set_forwarded(gateway, environ, req->client);
    }
    if (PyDict_SetItem(environ, wsgi->str.remote_addr, peer->addr) < 0) {
        return -1;
    }
    return peer->port == NULL
               ? 0
               : PyDict_SetItem(environ, wsgi->str.remote_port, peer->port);
}

/* Let the model say at which address the request came in. */
static int model_local(struct wsgi_gateway *gateway,
                       const struct xs_io_addr *local)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;
    PyObject *model = gateway->environ.model;
    /* PEP 3333: the two are never empty. A unix socket has neither. */
    const char *name = local->is_unix ? "localhost" : local->host;
    unsigned port = local->is_unix ? 80 : local->port;

    if (environ_set(model, wsgi->str.server_name, PyUnicode_FromString(name)) <
            0 ||
        environ_set(model, wsgi->str.server_port,
                    PyUnicode_FromFormat("%u", port)) < 0) {
        return -1;
    }
    gateway->environ.local = *local;
    return 0;
}

static bool is_local(const struct wsgi_gateway *gateway,
                     const struct xs_io_addr *local)
{
    const struct xs_io_addr *last = &gateway->environ.local;

    return last->port == local->port && last->is_unix == local->is_unix &&
           strcmp(last->host, local->host) == 0;
}

/* ---- the request line ---- */

/* PATH_INFO is what follows the root path; a proxy may have cut that off. */
static struct xs_slice without_root(const struct wsgi_gateway *gateway,
                                    struct xs_slice path)
{
    size_t len = (size_t)PyBytes_GET_SIZE(gateway->environ.root);
    const char *root = PyBytes_AS_STRING(gateway->environ.root);

    if (len == 0 || path.len < len || memcmp(path.data, root, len) != 0 ||
        (path.len > len && path.data[len] != '/')) {
        return path;
    }
    return xs_slice_of(path.data + len, path.len - len);
}

static PyObject *path_decoded(const struct wsgi_gateway *gateway,
                              struct xs_slice raw)
{
    struct ext_path path;
    PyObject *text;

    if (ext_path_init(&path, raw) < 0) {
        return NULL;
    }
    text = wsgi_text(without_root(gateway, path.bytes));
    ext_path_fini(&path);
    return text;
}

/* New; `uri` is the str of the whole target. */
static PyObject *path_info(const struct wsgi_gateway *gateway,
                           const struct xs_head *head, PyObject *uri)
{
    struct xs_slice path = head->path;

    /* OPTIONS *: the server as a whole, which is no path. */
    if (path.len == 1 && path.data[0] == '*') {
        return Py_NewRef(gateway->wsgi->str.empty);
    }
    if (path.len == head->target.len &&
        PyBytes_GET_SIZE(gateway->environ.root) == 0 &&
        memchr(path.data, '%', path.len) == NULL) {
        return Py_NewRef(uri);
    }
    return path_decoded(gateway, path);
}

static int set_target(const struct wsgi_gateway *gateway, PyObject *environ,
                      const struct xs_head *head)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;
    PyObject *uri = wsgi_text(head->target);
    int err = -1;

    if (uri == NULL) {
        return -1;
    }
    if (PyDict_SetItem(environ, wsgi->str.raw_uri, uri) == 0 &&
        PyDict_SetItem(environ, wsgi->str.request_uri, uri) == 0 &&
        environ_set(environ, wsgi->str.path_info,
                    path_info(gateway, head, uri)) == 0) {
        err = 0;
    }
    Py_DECREF(uri);
    if (err == 0 && head->query.len > 0) {
        err = environ_set(environ, wsgi->str.query_string,
                          wsgi_text(head->query));
    }
    return err;
}

/* New. */
static PyObject *method_of(const struct wsgi_gateway *gateway,
                           struct xs_slice method)
{
    PyObject *known = ext_methods_find(gateway->environ.methods, method);

    return known != NULL ? Py_NewRef(known) : wsgi_text(method);
}

static int set_line(const struct wsgi_gateway *gateway, PyObject *environ,
                    const struct xs_head *head)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;

    if (!xs_slice_eq(head->method, XS_LIT("GET")) &&
        environ_set(environ, wsgi->str.request_method,
                    method_of(gateway, head->method)) < 0) {
        return -1;
    }
    if (head->minor == 0 && PyDict_SetItem(environ, wsgi->str.server_protocol,
                                           wsgi->str.http_1_0) < 0) {
        return -1;
    }
    return set_target(gateway, environ, head);
}

PyObject *wsgi_environ_new(struct wsgi_gateway *gateway, struct xs_request *req)
{
    const struct peer *peer = peer_of(req);
    PyObject *environ;

    if (peer == NULL) {
        return NULL;
    }
    if (!is_local(gateway, req->local) &&
        model_local(gateway, req->local) < 0) {
        return NULL;
    }
    environ = PyDict_Copy(gateway->environ.model);
    if (environ == NULL) {
        return NULL;
    }
    if (set_client(gateway, environ, req, peer) < 0 ||
        set_line(gateway, environ, req->head) < 0 ||
        wsgi_headers_add(gateway, environ, req->head) < 0) {
        Py_DECREF(environ);
        return NULL;
    }
    return environ;
}

/* ---- the model ---- */

/* config.root_path, normally empty, as bytes and as the model's SCRIPT_NAME. */
static int init_root(struct wsgi_gateway *gateway, PyObject *config)
{
    PyObject *root = ext_option_str(config, "root_path");
    struct xs_slice bytes;

    if (root == NULL) {
        return -1;
    }
    gateway->environ.root = PyUnicode_AsUTF8String(root);
    Py_DECREF(root);
    if (gateway->environ.root == NULL) {
        return -1;
    }
    bytes = xs_slice_of(PyBytes_AS_STRING(gateway->environ.root),
                        (size_t)PyBytes_GET_SIZE(gateway->environ.root));
    return environ_set(gateway->environ.model, gateway->wsgi->str.script_name,
                       wsgi_text(bytes));
}

/* sys.stderr, or where there is none what swallows all. New. */
static PyObject *errors_stream(struct wsgi_gateway *gateway)
{
    PyObject *stream = PySys_GetObject("stderr");
    PyObject *io;

    if (stream != NULL && stream != Py_None) {
        return Py_NewRef(stream);
    }
    io = PyImport_ImportModule("io");
    if (io == NULL) {
        return NULL;
    }
    stream = PyObject_CallMethod(io, "open", "ss", "/dev/null", "w");
    Py_DECREF(io);
    gateway->environ.errors = Py_XNewRef(stream);
    return stream;
}

static int model_constants(struct wsgi_gateway *gateway, PyObject *config)
{
    const struct ext_wsgi *wsgi = gateway->wsgi;
    PyObject *model = gateway->environ.model;
    PyObject *empty = wsgi->str.empty;
    long processes = 1;
    int err = ext_option_count(&processes, config, "workers", LONG_MAX);
    struct {
        PyObject *key;
        PyObject *value; /* new */
    } const entries[] = {
        {wsgi->str.request_method, Py_NewRef(wsgi->str.get)},
        {wsgi->str.path_info, Py_NewRef(wsgi->str.slash)},
        {wsgi->str.query_string, Py_NewRef(empty)},
        {wsgi->str.raw_uri, Py_NewRef(wsgi->str.slash)},
        {wsgi->str.request_uri, Py_NewRef(wsgi->str.slash)},
        {wsgi->str.server_protocol, Py_NewRef(wsgi->str.http_1_1)},
        {wsgi->str.server_software, PyUnicode_FromString("xsgi/" XS_VERSION)},
        {wsgi->str.remote_addr, Py_NewRef(empty)},
        {wsgi->str.wsgi_version, Py_BuildValue("(ii)", 1, 0)},
        {wsgi->str.wsgi_url_scheme, Py_NewRef(wsgi->str.http)},
        {wsgi->str.wsgi_input, Py_NewRef(gateway->environ.input)},
        {wsgi->str.wsgi_input_terminated, Py_NewRef(Py_True)},
        {wsgi->str.wsgi_errors, errors_stream(gateway)},
        {wsgi->str.wsgi_multithread, PyBool_FromLong(gateway->pool != NULL)},
        {wsgi->str.wsgi_multiprocess, PyBool_FromLong(processes > 1)},
        {wsgi->str.wsgi_run_once, Py_NewRef(Py_False)},
        {wsgi->str.wsgi_file_wrapper, Py_NewRef((PyObject *)wsgi->file_type)},
        {wsgi->str.xsgi_client_disconnected, wsgi_request_disconnected(NULL)},
    };
    size_t i;

    for (i = 0; i < XS_COUNT_OF(entries); i++) {
        if (environ_set(model, entries[i].key, entries[i].value) < 0) {
            err = -1;
        }
    }
    return err;
}

/* Let the model's table have room for more keys than it holds. They are str,
 * as all others: with one key of another type a table is half as large again,
 * and slower to search, for as long as it lives. */
static int model_grow(PyObject *model)
{
    PyObject *spare[MODEL_KEYS_SPARE];
    int err = 0;
    int i;

    for (i = 0; i < MODEL_KEYS_SPARE; i++) {
        spare[i] = PyUnicode_FromFormat("%d", i);
        if (spare[i] == NULL || PyDict_SetItem(model, spare[i], Py_None) < 0) {
            err = -1;
        }
    }
    for (i = 0; i < MODEL_KEYS_SPARE; i++) {
        if (err == 0 && PyDict_DelItem(model, spare[i]) < 0) {
            err = -1;
        }
        Py_XDECREF(spare[i]);
    }
    return err;
}

int wsgi_environ_init(struct wsgi_gateway *gateway, PyObject *config)
{
    static const struct xs_io_addr nowhere = {.is_unix = true};

    gateway->environ.model = PyDict_New();
    gateway->environ.input = wsgi_input_of_block(gateway->wsgi, NULL);
    gateway->environ.methods = ext_methods_new();
    if (gateway->environ.model == NULL || gateway->environ.input == NULL ||
        gateway->environ.methods == NULL || init_root(gateway, config) < 0 ||
        model_constants(gateway, config) < 0 ||
        model_local(gateway, &nowhere) < 0 ||
        model_grow(gateway->environ.model) < 0) {
        return -1;
    }
    return wsgi_headers_init(gateway);
}

int wsgi_environ_traverse(struct wsgi_gateway *gateway, visitproc visit,
                          void *arg)
{
    Py_VISIT(gateway->environ.model);
    Py_VISIT(gateway->environ.input);
    Py_VISIT(gateway->environ.errors);
    return 0;
}

void wsgi_environ_fini(struct wsgi_gateway *gateway)
{
    ext_names_fini(&gateway->environ.names);
    Py_CLEAR(gateway->environ.model);
    Py_CLEAR(gateway->environ.input);
    wsgi_spool_close(&gateway->environ.errors);
    Py_CLEAR(gateway->environ.root);
    Py_CLEAR(gateway->environ.methods);
}
