/* asgi_scope.c - a request head becomes a scope (ASGI "HTTP connection scope").
 *
 * Every scope begins as a copy of one model that holds the commonest values;
 * what differs is set. Names of header fields, methods and the ends of a
 * connection are objects that are kept and used again. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

/* The version of the HTTP part of ASGI that is implemented here. From 2.4 on
 * `send` raises OSError when the client has gone. */
#define SCOPE_ASGI_VERSION "3.0"
#define SCOPE_SPEC_VERSION "2.5"

/* In scope.methods in this order; the first is the model's. */
static const char *const method_names[] = {"GET",   "POST",   "HEAD",   "PUT",
                                           "PATCH", "DELETE", "OPTIONS"};

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

static PyObject *init_methods(void)
{
    PyObject *methods = PyTuple_New((Py_ssize_t)XS_COUNT_OF(method_names));
    size_t i;

    for (i = 0; methods != NULL && i < XS_COUNT_OF(method_names); i++) {
        PyObject *name = PyUnicode_InternFromString(method_names[i]);

        if (name == NULL) {
            Py_CLEAR(methods);
        } else {
            PyTuple_SET_ITEM(methods, (Py_ssize_t)i, name);
        }
    }
    return methods;
}

static int init_root_path(struct asgi_gateway *gateway, PyObject *config)
{
    PyObject *root = asgi_option(config, "root_path");

    if (root == Py_None) {
        Py_DECREF(root);
        root = PyUnicode_FromString("");
    }
    gateway->scope.root_path = root;
    if (root != NULL && !PyUnicode_Check(root)) {
        PyErr_SetString(PyExc_TypeError, "root_path must be a str");
        return -1;
    }
    gateway->scope.root_raw =
        root == NULL ? NULL : PyUnicode_AsUTF8String(root);
    return gateway->scope.root_raw == NULL ? -1 : 0;
}

static int init_state(struct asgi_gateway *gateway, PyObject *config)
{
    PyObject *state = asgi_option(config, "state");

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

    gateway->scope.methods = init_methods();
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
        init_state(gateway, config) < 0) {
        return -1;
    }
    return init_model(gateway);
}

void asgi_scope_fini(struct asgi_gateway *gateway)
{
    size_t i;

    Py_CLEAR(gateway->scope.model);
    Py_CLEAR(gateway->scope.versions);
    Py_CLEAR(gateway->scope.state);
    Py_CLEAR(gateway->scope.root_path);
    Py_CLEAR(gateway->scope.root_raw);
    Py_CLEAR(gateway->scope.server);
    Py_CLEAR(gateway->scope.methods);
    Py_CLEAR(gateway->scope.http_1_0);
    for (i = 0; i < ASGI_KEPT; i++) {
        Py_CLEAR(gateway->scope.names[i].bytes);
        Py_CLEAR(gateway->scope.pairs[i]);
    }
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
    return PyDict_SetItem(scope, asgi->str.client, PyTuple_GET_ITEM(ends, 0));
}

/* ---- the request line ---- */

/* The method in upper case, new. */
static PyObject *scope_method(const struct asgi_gateway *gateway,
                              struct xs_slice method)
{
    PyObject *text;
    size_t i;

    for (i = 0; i < XS_COUNT_OF(method_names); i++) {
        text = PyTuple_GET_ITEM(gateway->scope.methods, (Py_ssize_t)i);
        if ((size_t)PyUnicode_GET_LENGTH(text) == method.len &&
            memcmp(PyUnicode_1BYTE_DATA(text), method.data, method.len) == 0) {
            Py_INCREF(text);
            return text;
        }
    }
    text = PyUnicode_New((Py_ssize_t)method.len, 127);
    for (i = 0; text != NULL && i < method.len; i++) {
        PyUnicode_1BYTE_DATA(text)[i] =
            (Py_UCS1)Py_TOUPPER(Py_CHARMASK(method.data[i]));
    }
    return text;
}

static int hex_value(uint8_t digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Percent-decode `raw` into `out`, which has room for it; the length. What is
 * no escape stays as it is. */
static size_t path_decode(uint8_t *out, struct xs_slice raw)
{
    size_t from = 0;
    size_t to = 0;

    while (from < raw.len) {
        int high = -1;
        int low = -1;

        if (raw.data[from] == '%' && raw.len - from > 2) {
            high = hex_value(raw.data[from + 1]);
            low = hex_value(raw.data[from + 2]);
        }
        if (high >= 0 && low >= 0) {
            out[to] = (uint8_t)(high * 16 + low);
            from += 3;
        } else {
            out[to] = raw.data[from];
            from++;
        }
        to++;
    }
    return to;
}

/* The path as text, new. Bytes that are no UTF-8 become U+FFFD. */
static PyObject *scope_path(struct xs_slice raw)
{
    uint8_t small[512];
    uint8_t *decoded = small;
    PyObject *path;
    size_t len;

    if (raw.len == 0 || memchr(raw.data, '%', raw.len) == NULL) {
        return PyUnicode_DecodeUTF8((const char *)raw.data, (Py_ssize_t)raw.len,
                                    "replace");
    }
    if (raw.len > sizeof small) {
        decoded = PyMem_Malloc(raw.len);
        if (decoded == NULL) {
            return PyErr_NoMemory();
        }
    }
    len = path_decode(decoded, raw);
    path =
        PyUnicode_DecodeUTF8((const char *)decoded, (Py_ssize_t)len, "replace");
    if (decoded != small) {
        PyMem_Free(decoded);
    }
    return path;
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
        scope_put(scope, asgi->str.headers,
                  asgi_headers_new(gateway, req->head)) < 0 ||
        scope_put(scope, asgi->str.extensions, PyDict_New()) < 0) {
        Py_CLEAR(scope);
    } else if (gateway->scope.state != NULL &&
               scope_put(scope, asgi->str.state,
                         PyDict_Copy(gateway->scope.state)) < 0) {
        Py_CLEAR(scope);
    }
    return scope;
}
