/* asgi_send.c - what a step of `send(message)` does.
 *
 *     NONE ──http.response.early_hint──▶ NONE      (asgi_aside.c)
 *     NONE ──http.response.start──▶ STARTED ──http.response.body──▶ BODY
 *                                      │                           │   │
 *                                      └──── more_body false ──────┴──▶ ENDED
 *
 * http.response.zerocopysend stands for a body, and http.response.pathsend for
 * the only one: asgi_file.c.
 *
 * With "trailers" in the start the last body leads to TRAILER, and the last
 * http.response.trailers to ENDED (asgi_aside.c).
 *
 * Back-pressure: a message is queued first; if the queue is then over its high
 * mark, the call waits until it has drained. If it is over the mark already
 * (somebody else waits), the call waits before it queues. The last message of
 * a response never waits for its own bytes.
 *
 * Who is wrong: the application about types (TypeError), values (ValueError)
 * or the order (RuntimeError); the client that went gives ClientDisconnected.
 * Reading a message may run code of the application's (iterators, buffers),
 * so `req` is looked at again before each use. */

#include "core/base/base.h"
#include "core/base/error.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/bridge.h"
#include "python/ext/fork.h"

#define SEND_START "http.response.start"
#define SEND_BODY "http.response.body"
#define SEND_PATH "http.response.pathsend"
#define SEND_FILE "http.response.zerocopysend"

static bool type_is(PyObject *type, const char *text, size_t len)
{
    return PyUnicode_Check(type) && PyUnicode_IS_ASCII(type) &&
           PyUnicode_GET_LENGTH(type) == (Py_ssize_t)len &&
           memcmp(PyUnicode_DATA(type), text, len) == 0;
}

#define TYPE_IS(type, literal) type_is(type, literal, sizeof(literal) - 1)

int asgi_request_check_live(const struct asgi_request *request)
{
    if (request->req != NULL) {
        return 0;
    }
    if (request->response != ASGI_RESPONSE_ENDED) {
        return asgi_request_raise_gone(request);
    }
    PyErr_SetString(PyExc_RuntimeError,
                    "ASGI: the response has ended: nothing may be sent after "
                    "http.response.body without more_body");
    return -1;
}

void asgi_send_failed(struct asgi_request *request)
{
    xs_response_fail(request->req);
    request->response = ASGI_RESPONSE_ENDED;
    asgi_request_detach(request);
}

/* ---- http.response.start ---- */

PyObject *asgi_field_bytes(PyObject *object)
{
    if (PyBytes_CheckExact(object)) {
        return Py_NewRef(object);
    }
    return PyObject_CheckBuffer(object) ? PyBytes_FromObject(object) : NULL;
}

/* `object` as a slice, valid while `*keep`, a new reference, lives. */
static int field_slice(PyObject *object, struct xs_slice *out, PyObject **keep)
{
    PyObject *bytes = asgi_field_bytes(object);

    if (bytes == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         SEND_START
                         ": header names and values must be bytes, not %.100s",
                         Py_TYPE(object)->tp_name);
        }
        return -1;
    }
    *keep = bytes;
    *out =
        xs_slice_of(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    return 0;
}

static int field_error(int err, struct xs_slice bytes, PyObject *name,
                       PyObject *value)
{
    switch (err) {
        case XS_ENOMEM:
            PyErr_NoMemory();
            break;
        case XS_EINVALID:
            PyErr_Format(PyExc_ValueError,
                         SEND_START ": header (%R, %R) is not valid: %s", name,
                         value, ext_field_rule(bytes));
            break;
        default:
            PyErr_Format(PyExc_RuntimeError, SEND_START ": header (%R, %R): %s",
                         name, value, xs_error_text(err));
            break;
    }
    return -1;
}

static int send_field(struct asgi_request *request, PyObject *name,
                      PyObject *value)
{
    struct xs_slice name_bytes;
    struct xs_slice value_bytes;
    PyObject *keep[2] = {NULL, NULL};
    int err = -1;

    if (field_slice(name, &name_bytes, &keep[0]) == 0 &&
        field_slice(value, &value_bytes, &keep[1]) == 0 &&
        asgi_request_check_live(request) == 0) {
        err = xs_response_header(request->req, name_bytes, value_bytes);
        if (err != 0) {
            err = field_error(err, name_bytes, keep[0], keep[1]);
        }
    }
    Py_XDECREF(keep[0]);
    Py_XDECREF(keep[1]);
    return err;
}

int asgi_header_parts(PyObject *item, PyObject *parts[2], const char *what)
{
    PyObject *pair;

    if (PyBytes_Check(item) || PyUnicode_Check(item)) {
        pair = NULL;
        PyErr_Clear();
    } else {
        pair = PySequence_Fast(item, "");
    }
    if (pair == NULL || PySequence_Fast_GET_SIZE(pair) != 2) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError,
                         "%s: a header must be a pair of bytes, not %.200R",
                         what, item);
        }
        Py_XDECREF(pair);
        return -1;
    }
    parts[0] = Py_NewRef(PySequence_Fast_GET_ITEM(pair, 0));
    parts[1] = Py_NewRef(PySequence_Fast_GET_ITEM(pair, 1));
    Py_DECREF(pair);
    return 0;
}

/* One element of "headers": a pair of any kind. */
static int send_pair(struct asgi_request *request, PyObject *item)
{
    PyObject *parts[2];
    int err;

    if (asgi_header_parts(item, parts, SEND_START) < 0) {
        return -1;
    }
    err = send_field(request, parts[0], parts[1]);
    Py_DECREF(parts[0]);
    Py_DECREF(parts[1]);
    return err;
}

static int send_fields(struct asgi_request *request, PyObject *headers)
{
    PyObject *list = PySequence_Fast(
        headers, SEND_START ": 'headers' must be an iterable of pairs");
    Py_ssize_t i;
    int err = 0;

    if (list == NULL) {
        return -1;
    }
    for (i = 0; err == 0 && i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i);

        Py_INCREF(item);
        err = send_pair(request, item);
        Py_DECREF(item);
    }
    Py_DECREF(list);
    return err;
}

/* The status of `message`; -1 with an exception set. */
static long start_status(const struct ext_asgi *asgi, PyObject *message)
{
    PyObject *status = PyDict_GetItemWithError(message, asgi->str.status);
    long value;

    if (status == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError,
                            SEND_START ": 'status' is missing");
        }
        return -1;
    }
    if (!PyLong_Check(status)) {
        PyErr_Format(PyExc_TypeError,
                     SEND_START ": 'status' must be an int, not %.100s",
                     Py_TYPE(status)->tp_name);
        return -1;
    }
    value = PyLong_AsLong(status);
    if (value < 200 || value > 999) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError,
                     SEND_START ": 'status' must be from 200 to 999, not %S",
                     status);
        return -1;
    }
    return value;
}

/* Most messages have no further keys, and need not be asked. */
static int start_trailers(struct asgi_request *request, PyObject *message,
                          bool has_headers)
{
    int err;

    request->trailing = false;
    if (PyDict_GET_SIZE(message) == 2 + has_headers) {
        return 0; /* type, status */
    }
    err = asgi_message_flag(message, request->asgi->str.trailers);
    if (err <= 0) {
        return err;
    }
    if (asgi_request_check_live(request) < 0) {
        return -1;
    }
    err = xs_response_expect_trailers(request->req);
    if (err != 0) {
        return ext_raise(err, SEND_START);
    }
    request->trailing = true;
    return 0;
}

static PySendResult send_start(struct asgi_request *request, PyObject *message)
{
    const struct ext_asgi *asgi = request->asgi;
    long status = start_status(asgi, message);
    PyObject *headers;
    int err;

    if (status < 0) {
        return PYGEN_ERROR;
    }
    headers = PyDict_GetItemWithError(message, asgi->str.headers);
    if (headers == NULL && PyErr_Occurred()) {
        return PYGEN_ERROR;
    }
    /* Until it is whole it is not begun: a fault in a header leaves the
     * application free to start another response, an error page. */
    err = xs_response_start(request->req, (unsigned)status,
                            (struct xs_slice){NULL, 0});
    if (err != 0) {
        ext_raise(err, SEND_START);
        return PYGEN_ERROR;
    }
    if (headers != NULL) {
        Py_INCREF(headers);
        err = send_fields(request, headers);
        Py_DECREF(headers);
        if (err != 0) {
            return PYGEN_ERROR;
        }
    }
    if (asgi_request_check_live(request) < 0 ||
        start_trailers(request, message, headers != NULL) < 0) {
        return PYGEN_ERROR;
    }
    request->response = ASGI_RESPONSE_STARTED;
    return PYGEN_RETURN;
}

/* ---- http.response.body ---- */

/* The body of `message` as bytes, a new reference; what can change is copied.
 * NULL with an exception set, or without: there is none. */
static PyObject *body_bytes(const struct ext_asgi *asgi, PyObject *message)
{
    PyObject *body = PyDict_GetItemWithError(message, asgi->str.body);
    PyObject *bytes;

    if (body == NULL) {
        return NULL;
    }
    if (PyBytes_Check(body)) {
        Py_INCREF(body);
        return body;
    }
    if (!PyObject_CheckBuffer(body)) {
        PyErr_Format(PyExc_TypeError,
                     SEND_BODY ": 'body' must be bytes, not %.100s",
                     Py_TYPE(body)->tp_name);
        return NULL;
    }
    Py_INCREF(body);
    bytes = PyBytes_FromObject(body);
    Py_DECREF(body);
    return bytes;
}

int asgi_message_flag(PyObject *message, PyObject *key)
{
    PyObject *flag = PyDict_GetItemWithError(message, key);
    int truth;

    if (flag == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (flag == Py_False) {
        return 0;
    }
    Py_INCREF(flag);
    truth = PyObject_IsTrue(flag);
    Py_DECREF(flag);
    return truth;
}

int asgi_send_more(const struct ext_asgi *asgi, PyObject *message)
{
    return asgi_message_flag(message, asgi->str.more_body);
}

static PySendResult body_error(struct asgi_request *request, int err,
                               const char *what)
{
    if (err == XS_EGONE) {
        asgi_request_raise_gone(request);
        return PYGEN_ERROR;
    }
    /* First: what the core calls back must find no exception set. */
    asgi_send_failed(request);
    if (err == XS_ELENGTH) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the body does not match the Content-Length that was "
                     "sent",
                     what);
    } else {
        ext_raise(err, what);
    }
    return PYGEN_ERROR;
}

PySendResult asgi_send_taken(struct asgi_await *await, int err, bool more,
                             const char *what)
{
    struct asgi_request *request = await->request;

    if (err == XS_EAGAIN) {
        return PYGEN_NEXT; /* somebody else's bytes are over the mark */
    }
    if (err != 0) {
        return body_error(request, err, what);
    }
    if (!more && !request->trailing) {
        request->response = ASGI_RESPONSE_ENDED;
        asgi_request_detach(request);
        return PYGEN_RETURN;
    }
    request->response = more ? ASGI_RESPONSE_BODY : ASGI_RESPONSE_TRAILER;
    if (xs_response_full(request->req)) {
        await->queued = true;
        return PYGEN_NEXT;
    }
    return PYGEN_RETURN;
}

static PySendResult send_body(struct asgi_await *await)
{
    struct asgi_request *request = await->request;
    /* If that is a type and a body, it is all there. */
    bool is_pair = PyDict_GET_SIZE(await->message) == 2;
    PyObject *bytes = body_bytes(request->asgi, await->message);
    int more;
    int err;

    if (bytes == NULL && PyErr_Occurred()) {
        return PYGEN_ERROR;
    }
    more = is_pair && bytes != NULL
               ? 0
               : asgi_send_more(request->asgi, await->message);
    if (more < 0 || asgi_request_check_live(request) < 0) {
        Py_XDECREF(bytes);
        return PYGEN_ERROR;
    }
    err = ext_lend(request->req, bytes, more != 0);
    Py_XDECREF(bytes);
    return asgi_send_taken(await, err, more != 0, SEND_BODY);
}

/* ---- the message ---- */

static PySendResult send_unexpected(struct asgi_request *request,
                                    PyObject *type)
{
    static const char *const expected[] = {
        [ASGI_RESPONSE_NONE] = SEND_START,
        [ASGI_RESPONSE_STARTED] = SEND_BODY,
        [ASGI_RESPONSE_BODY] = SEND_BODY,
        [ASGI_RESPONSE_TRAILER] = "http.response.trailers",
        [ASGI_RESPONSE_ENDED] = "nothing more",
    };

    PyErr_Format(PyExc_RuntimeError, "ASGI: expected %s, but %.200R was sent",
                 expected[request->response], type);
    return PYGEN_ERROR;
}

static PySendResult send_message(struct asgi_await *await)
{
    struct asgi_request *request = await->request;
    PyObject *message = await->message;
    PyObject *type;

    if (!PyDict_Check(message)) {
        PyErr_Format(PyExc_TypeError,
                     "ASGI: a message must be a dict, not %.100s",
                     Py_TYPE(message)->tp_name);
        return PYGEN_ERROR;
    }
    type = PyDict_GetItemWithError(message, request->asgi->str.type);
    if (type == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError,
                            "ASGI: a message must have a 'type'");
        }
        return PYGEN_ERROR;
    }
    if (request->response == ASGI_RESPONSE_NONE) {
        if (TYPE_IS(type, SEND_START)) {
            return send_start(request, message);
        }
        return request->gateway != NULL && request->gateway->early_hints &&
                       TYPE_IS(type, "http.response.early_hint")
                   ? asgi_aside_hint(request, message)
                   : send_unexpected(request, type);
    }
    if (request->response == ASGI_RESPONSE_TRAILER) {
        return TYPE_IS(type, "http.response.trailers")
                   ? asgi_aside_trailers(request, message)
                   : send_unexpected(request, type);
    }
    if (TYPE_IS(type, SEND_BODY)) {
        return send_body(await);
    }
    if (TYPE_IS(type, SEND_FILE)) {
        return asgi_send_file(await);
    }
    if (TYPE_IS(type, SEND_PATH) &&
        request->response == ASGI_RESPONSE_STARTED) {
        return asgi_send_path(await);
    }
    return send_unexpected(request, type);
}

PySendResult asgi_send_step(struct asgi_await *await, PyObject **result)
{
    struct asgi_request *request = await->request;
    PySendResult step = PYGEN_RETURN;

    if (request->gateway != NULL) {
        ext_fork_check(request->gateway->base.fork_count);
    }
    if (!await->queued) {
        step = asgi_request_check_live(request) < 0 ? PYGEN_ERROR
                                                    : send_message(await);
    } else if (request->req == NULL &&
               request->response != ASGI_RESPONSE_ENDED) {
        asgi_request_raise_gone(request);
        step = PYGEN_ERROR;
    }
    if (step == PYGEN_RETURN) {
        Py_INCREF(Py_None);
        *result = Py_None;
    }
    return step;
}
