/* asgi_scope.c - a request head becomes a scope (ASGI "HTTP connection scope").
 *
 * Every scope begins as a copy of one model that holds the commonest values;
 * what differs is set. Names of header fields, methods and the ends of a
 * connection are objects that are kept and used again. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/method.h"
#include "python/ext/option.h"
#include "python/ext/path.h"

/* The version of the HTTP part of ASGI that is implemented here. From 2.4 on
 * `send` raises OSError when the client has gone. */
#define SCOPE_ASGI_VERSION "3.0"
#define SCOPE_SPEC_VERSION "2.5"

/* Set scope[key] = value and let `value`, a new reference or NULL, go. */
static int scope_put(PyObject *scope, PyObject *key, PyObject *value)
{
    int err;

    if (value == NULL) {
        return -1;
    }
    err = PyDict_SetItem(scope, key, value);
    Py_DECREF(value);
    return err;
}

/* ---- what is made once ---- */

static int init_root_path(struct asgi_gateway *gateway, PyObject *config)
{
    gateway->scope.root_path = ext_option_str(config, "root_path");
    if (gateway->scope.root_path == NULL) {
        return -1;
    }
    gateway->scope.root_raw = PyUnicode_AsUTF8String(gateway->scope.root_path);
    return gateway->scope.root_raw == NULL ? -1 : 0;
}

static int init_state(struct asgi_gateway *gateway, PyObject *config)
{
    PyObject *state = ext_option(config, "state");

    if (state == NULL) {
        return -1;
    }
    if (state == Py_None) {
        Py_DECREF(state);
        return 0;
    }
    gateway->scope.state = state;
    if (!PyDict_Check(state)) {
        PyErr_SetString(PyExc_TypeError, "state must be a dict");
        return -1;
    }
    return 0;
}

static int init_extensions(struct asgi_gateway *gateway, PyObject *config)
{
    const struct ext_asgi *asgi = gateway->asgi;

    if (ext_option_flag(&gateway->early_hints, config, "early_hints") < 0) {
        return -1;
    }
    gateway->extensions.names[0] = asgi->str.pathsend;
    gateway->extensions.names[1] = asgi->str.zerocopysend;
    gateway->extensions.count = 2;
    if (gateway->early_hints) {
        gateway->extensions.names[gateway->extensions.count++] =
            asgi->str.early_hint;
    }
    gateway->extensions.names[gateway->extensions.count++] =
        asgi->str.trailers_of_response;
    XS_ASSERT(gateway->extensions.count <= ASGI_EXTENSIONS_MAX);
    return 0;
}

/* All keys that a scope has, so that a copy never has to grow. */
static int init_model(struct asgi_gateway *gateway)
{
    const struct ext_asgi *asgi = gateway->asgi;
    PyObject *model = PyDict_New();
    PyObject *get = PyTuple_GET_ITEM(gateway->scope.methods, 0);

    gateway->scope.model = model;
    if (model == NULL ||
        PyDict_SetItem(model, asgi->str.type, asgi->str.http) < 0 ||
        PyDict_SetItem(model, asgi->str.asgi, Py_None) < 0 ||
        scope_put(model, asgi->str.http_version, PyUnicode_FromString("1.1")) <
            0 ||
        PyDict_SetItem(model, asgi->str.server, Py_None) < 0 ||
        PyDict_SetItem(model, asgi->str.client, Py_None) < 0 ||
        PyDict_SetItem(model, asgi->str.scheme, asgi->str.http) < 0 ||
        PyDict_SetItem(model, asgi->str.method, get) < 0 ||
        PyDict_SetItem(model, asgi->str.root_path, gateway->scope.root_path) <
            0 ||
        PyDict_SetItem(model, asgi->str.path, Py_None) < 0 ||
        PyDict_SetItem(model, asgi->str.raw_path, Py_None) < 0 ||
        scope_put(model, asgi->str.query_string,
                  PyBytes_FromStringAndSize(NULL, 0)) < 0 ||
        PyDict_SetItem(model, asgi->str.headers, Py_None) < 0 ||
        PyDict_SetItem(model, asgi->str.extensions, Py_None) < 0) {
        return -1;
    }
    if (gateway->scope.state != NULL &&
        PyDict_SetItem(model, asgi->str.state, Py_None) < 0) {
        return -1;
    }
    return 0;
}

int asgi_scope_init(struct asgi_gateway *gateway, PyObject *config)
{
    const struct ext_asgi *asgi = gateway->asgi;

    gateway->scope.methods = ext_methods_new();
    gateway->scope.http_1_0 = PyUnicode_FromString("1.0");
    gateway->scope.versions =
        Py_BuildValue("{OsOs}", asgi->str.version, SCOPE_ASGI_VERSION,
                      asgi->str.spec_version, SCOPE_SPEC_VERSION);
    Py_INCREF(Py_None);
    gateway->scope.server = Py_None;
    if (gateway->scope.methods == NULL || gateway->scope.http_1_0 == NULL ||
        gateway->scope.versions == NULL) {
        return -1;
    }
    if (init_root_path(gateway, config) < 0 ||
        init_extensions(gateway, config) < 0 ||
        init_state(gateway, config) < 0) {
        return -1;
    }
    return init_model(gateway) < 0 ? -1 : asgi_headers_init(gateway);
}

int asgi_scope_traverse(struct asgi_gateway *gateway, visitproc visit,
                        void *arg)
{
    Py_VISIT(gateway->scope.model);
    Py_VISIT(gateway->scope.versions);
    Py_VISIT(gateway->scope.state);
    Py_VISIT(gateway->extensions.last);
    return 0;
}

void asgi_scope_fini(struct asgi_gateway *gateway)
{
    Py_CLEAR(gateway->scope.model);
    Py_CLEAR(gateway->scope.versions);
    Py_CLEAR(gateway->scope.state);
    Py_CLEAR(gateway->scope.root_path);
    Py_CLEAR(gateway->scope.root_raw);
    Py_CLEAR(gateway->scope.server);
    Py_CLEAR(gateway->scope.methods);
    Py_CLEAR(gateway->scope.http_1_0);
    Py_CLEAR(gateway->extensions.last);
    ext_names_fini(&gateway->scope.names);
}

/* ---- the ends of a connection ---- */

/* (host, port), new; None where it has no name (a client's unix socket). */
static PyObject *end_new(const struct xs_io_addr *addr)
{
    if (!addr->is_unix) {
        return Py_BuildValue("(si)", addr->host, (int)addr->port);
    }
    if (addr->host[0] != '\0') {
        return Py_BuildValue("(NO)", PyUnicode_DecodeFSDefault(addr->host),
                             Py_None);
    }
    Py_INCREF(Py_None);
    return Py_None;
}

/* (client, server) of the connection, borrowed from it. */
static PyObject *scope_ends(struct asgi_gateway *gateway,
                            struct xs_request *req)
{
    PyObject *ends = *req->conn_user;
    PyObject *client;
    PyObject *server;
    int same;

    if (ends != NULL) {
        return ends;
    }
    client = end_new(req->peer);
    server = end_new(req->local);
    if (client != NULL && server != NULL) {
        same = PyObject_RichCompareBool(server, gateway->scope.server, Py_EQ);
        if (same > 0) {
            /* One object for all: the model has it already. */
            Py_INCREF(gateway->scope.server);
            Py_SETREF(server, gateway->scope.server);
        } else if (same == 0 && gateway->scope.server == Py_None) {
            Py_INCREF(server);
            Py_SETREF(gateway->scope.server, server);
            same = PyDict_SetItem(gateway->scope.model,
                                  gateway->asgi->str.server, server);
        }
        ends = same < 0 ? NULL : PyTuple_Pack(2, client, server);
    }
    Py_XDECREF(client);
    Py_XDECREF(server);
    *req->conn_user = ends;
    return ends;
}

static int put_ends(struct asgi_gateway *gateway, PyObject *scope,
                    struct xs_request *req)
{
    const struct ext_asgi *asgi = gateway->asgi;
    PyObject *ends = scope_ends(gateway, req);

    if (ends == NULL) {
        return -1;
    }
    if (PyTuple_GET_ITEM(ends, 1) != gateway->scope.server &&
        PyDict_SetItem(scope, asgi->str.server, PyTuple_GET_ITEM(ends, 1)) <
            0) {
        return -1;
    }
    if (req->client != NULL) {
        return scope_put(scope, asgi->str.client, end_new(req->client));
    }
    return PyDict_SetItem(scope, asgi->str.client, PyTuple_GET_ITEM(ends, 0));
}

/* ---- the request line ---- */

/* The method, new: a token, and so ASCII. */
static PyObject *scope_method(const struct asgi_gateway *gateway,
                              struct xs_slice method)
{
    PyObject *text = ext_methods_find(gateway->scope.methods, method);

    if (text != NULL) {
        return Py_NewRef(text);
    }
    return PyUnicode_DecodeASCII((const char *)method.data,
                                 (Py_ssize_t)method.len, NULL);
}

/* The path as text, new. Bytes that are no UTF-8 become U+FFFD. */
static PyObject *scope_path(struct xs_slice raw)
{
    struct ext_path path;
    PyObject *text;

    if (ext_path_init(&path, raw) < 0) {
        return NULL;
    }
    text = PyUnicode_DecodeUTF8((const char *)path.bytes.data,
                                (Py_ssize_t)path.bytes.len, "replace");
    ext_path_fini(&path);
    return text;
}

/* Whether `path` is under `root` already: a proxy may strip the root path or
 * not, and ASGI wants it in `path` either way. */
static int path_is_under(PyObject *path, PyObject *root)
{
    Py_ssize_t len = PyUnicode_GET_LENGTH(root);
    Py_ssize_t starts =
        PyUnicode_Tailmatch(path, root, 0, PyUnicode_GET_LENGTH(path), -1);

    if (starts <= 0) {
        return (int)starts;
    }
    return PyUnicode_GET_LENGTH(path) == len ||
           PyUnicode_READ_CHAR(path, len) == '/';
}

static int put_path(const struct asgi_gateway *gateway, PyObject *scope,
                    struct xs_slice raw)
{
    const struct ext_asgi *asgi = gateway->asgi;
    PyObject *path = scope_path(raw);
    PyObject *bytes =
        PyBytes_FromStringAndSize((const char *)raw.data, (Py_ssize_t)raw.len);
    int under = 1;

    if (path != NULL && bytes != NULL && raw.len > 0 && raw.data[0] == '/' &&
        PyUnicode_GET_LENGTH(gateway->scope.root_path) > 0) {
        under = path_is_under(path, gateway->scope.root_path);
    }
    if (under == 0) {
        PyObject *root_raw = gateway->scope.root_raw;

        Py_SETREF(path, PyUnicode_Concat(gateway->scope.root_path, path));
        Py_INCREF(root_raw);
        PyBytes_ConcatAndDel(&root_raw, bytes);
        bytes = root_raw;
    }
    if (under < 0 || path == NULL || bytes == NULL) {
        Py_XDECREF(path);
        Py_XDECREF(bytes);
        return -1;
    }
    if (scope_put(scope, asgi->str.path, path) < 0) {
        Py_DECREF(bytes);
        return -1;
    }
    return scope_put(scope, asgi->str.raw_path, bytes);
}

/* What the model has right for most requests. */
static int put_line(const struct asgi_gateway *gateway, PyObject *scope,
                    const struct xs_head *head)
{
    const struct ext_asgi *asgi = gateway->asgi;

    if (head->minor == 0 && PyDict_SetItem(scope, asgi->str.http_version,
                                           gateway->scope.http_1_0) < 0) {
        return -1;
    }
    if (!xs_slice_eq(head->method, XS_LIT("GET")) &&
        scope_put(scope, asgi->str.method,
                  scope_method(gateway, head->method)) < 0) {
        return -1;
    }
    if (head->query.len > 0 &&
        scope_put(scope, asgi->str.query_string,
                  PyBytes_FromStringAndSize((const char *)head->query.data,
                                            (Py_ssize_t)head->query.len)) < 0) {
        return -1;
    }
    return put_path(gateway, scope, head->path);
}

/* ---- the extensions ---- */

/* Whether those of the scope before are as they were made, and nobody can
 * change them any more. */
static bool extensions_are_spare(const struct asgi_gateway *gateway)
{
    PyObject *last = gateway->extensions.last;
    unsigned i;

    if (last == NULL || Py_REFCNT(last) != 1 ||
        PyDict_GET_SIZE(last) != (Py_ssize_t)gateway->extensions.count) {
        return false;
    }
    for (i = 0; i < gateway->extensions.count; i++) {
        PyObject *of =
            PyDict_GetItemWithError(last, gateway->extensions.names[i]);

        if (of == NULL || !PyDict_CheckExact(of) || Py_REFCNT(of) != 1 ||
            PyDict_GET_SIZE(of) != 0) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

/* scope["extensions"], new. Several dicts for each request would be felt: if
 * the one before has left its own alone they are taken again. */
static PyObject *extensions_new(struct asgi_gateway *gateway)
{
    PyObject *extensions;
    unsigned i;

    if (extensions_are_spare(gateway)) {
        return Py_NewRef(gateway->extensions.last);
    }
    extensions = PyDict_New();
    for (i = 0; extensions != NULL && i < gateway->extensions.count; i++) {
        if (scope_put(extensions, gateway->extensions.names[i], PyDict_New()) <
            0) {
            Py_CLEAR(extensions);
        }
    }
    Py_XSETREF(gateway->extensions.last, Py_XNewRef(extensions));
    return extensions;
}

/* ---- the whole ---- */

PyObject *asgi_scope_new(struct asgi_gateway *gateway, struct xs_request *req)
{
    const struct ext_asgi *asgi = gateway->asgi;
    PyObject *scope;

    /* First: it may still change the model. */
    if (scope_ends(gateway, req) == NULL) {
        return NULL;
    }
    scope = PyDict_Copy(gateway->scope.model);
    if (scope == NULL) {
        return NULL;
    }
    if (scope_put(scope, asgi->str.asgi, PyDict_Copy(gateway->scope.versions)) <
            0 ||
        put_ends(gateway, scope, req) < 0 ||
        put_line(gateway, scope, req->head) < 0 ||
        (req->is_https &&
         PyDict_SetItem(scope, asgi->str.scheme, asgi->str.https) < 0) ||
        scope_put(scope, asgi->str.headers,
                  asgi_headers_new(gateway, req->head)) < 0 ||
        scope_put(scope, asgi->str.extensions, extensions_new(gateway)) < 0) {
        Py_CLEAR(scope);
    } else if (gateway->scope.state != NULL &&
               scope_put(scope, asgi->str.state,
                         PyDict_Copy(gateway->scope.state)) < 0) {
        Py_CLEAR(scope);
    }
    return scope;
}
