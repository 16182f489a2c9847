/* wsgi_hints.c - wsgi.early_hints: "103 Early Hints" before the response.
 *
 *     environ["wsgi.early_hints"]([("Link", "</a.css>; rel=preload"), ...])
 *
 * as gunicorn has it, and only with the option: see docs/decisions.md. On a
 * worker's thread it leaves the hint for the loop's.
 *
 * A hint that cannot be sent at once is worth nothing: it is dropped when the
 * client does not read, has gone or speaks HTTP/1.0. */

#include "core/base/base.h"
#include "core/base/error.h"
#include "python/ext/aside.h"
#include "python/ext/bridge.h"
#include "python/ext/fork.h"
#include "python/ext/wsgi_parts.h"

#define HINTS "wsgi.early_hints"

/* Hints of a worker that wait for the loop's thread; more are dropped. */
#define HINTS_WAITING_MAX 16

/* ---- the fields ---- */

static int add_pair(struct ext_aside *aside, PyObject *pair)
{
    struct xs_field field;

    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_Format(PyExc_TypeError,
                     HINTS ": a header must be a tuple (name, value), not %R",
                     pair);
        return -1;
    }
    if (ext_aside_room(aside, HINTS) < 0 ||
        wsgi_native(PyTuple_GET_ITEM(pair, 0), "name of a header",
                    &field.name) < 0 ||
        wsgi_native(PyTuple_GET_ITEM(pair, 1), "value of a header",
                    &field.value) < 0) {
        return -1;
    }
    ext_aside_add(aside, &field, PyTuple_GET_ITEM(pair, 0),
                  PyTuple_GET_ITEM(pair, 1));
    return 0;
}

/* `req` NULL: only check whether the core would take it. */
static int say(struct xs_request *req, PyObject *pairs)
{
    const struct xs_writer idle = {.state = XS_WRITER_IDLE}; /* HTTP/1.0 */
    struct ext_aside aside;
    Py_ssize_t i;
    int err = 0;

    ext_aside_init(&aside);
    for (i = 0; err == 0 && i < PyTuple_GET_SIZE(pairs); i++) {
        err = add_pair(&aside, PyTuple_GET_ITEM(pairs, i));
    }
    if (err == 0) {
        err = req != NULL
                  ? xs_response_hint(req, aside.fields, aside.count)
                  : xs_aside_hint(&idle, NULL, aside.fields, aside.count);
        if (err == XS_EINVALID || err == XS_ELIMIT) {
            err = ext_aside_raise(&aside, err, HINTS, xs_aside_may_hint,
                                  "may not be in a 1xx response");
        } else {
            err = 0;
        }
    }
    ext_aside_fini(&aside);
    return err;
}

/* ---- on a worker's thread, and from there to the loop's ---- */

static int leave(struct wsgi_request *request, PyObject *pairs)
{
    if (say(NULL, pairs) < 0) {
        return -1;
    }
    if (request->hints == NULL) {
        request->hints = PyList_New(0);
    }
    if (request->hints == NULL) {
        return -1;
    }
    if (PyList_GET_SIZE(request->hints) < HINTS_WAITING_MAX) {
        if (PyList_Append(request->hints, pairs) < 0) {
            return -1;
        }
        wsgi_channel_wake(request->channel);
    }
    return 0;
}

void wsgi_hints_send(struct wsgi_request *request, struct xs_request *req)
{
    PyObject *hints = request->hints;
    Py_ssize_t i;

    request->hints = NULL;
    for (i = 0; req != NULL && i < PyList_GET_SIZE(hints); i++) {
        if (say(req, PyList_GET_ITEM(hints, i)) < 0) {
            ext_unraisable(hints); /* it was checked: there is no memory */
        }
    }
    Py_DECREF(hints);
}

/* ---- what the application calls ---- */

/* May it be called here and now? */
static int check_call(const struct wsgi_request *request)
{
    if (request->channel == NULL &&
        PyThread_get_thread_ident() != request->gateway->base.thread) {
        PyErr_SetString(PyExc_RuntimeError, HINTS
                        " may only be called in the thread that called "
                        "the application");
        return -1;
    }
    if (request->head != WSGI_HEAD_NONE) {
        PyErr_SetString(PyExc_RuntimeError,
                        HINTS " must be called before start_response");
        return -1;
    }
    return 0;
}

static PyObject *early_hints(PyObject *self, PyObject *headers)
{
    struct wsgi_request *request = wsgi_request_of(self);
    PyObject *pairs;
    int err;

    ext_fork_check(request->gateway->base.fork_count);
    if (check_call(request) < 0) {
        return NULL;
    }
    pairs = PySequence_Tuple(headers);
    if (pairs == NULL) {
        return NULL;
    }
    if (request->channel != NULL) {
        err = leave(request, pairs);
    } else {
        err = say(request->req, pairs);
    }
    Py_DECREF(pairs);
    if (err < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef hints_def = {
    "early_hints", early_hints, METH_O,
    PyDoc_STR("early_hints(headers, /)\n--\n\n"
              "Send 103 Early Hints with these (name, value) pairs now.")};

int wsgi_hints_give(struct wsgi_request *request)
{
    PyObject *hints = PyCFunction_New(&hints_def, (PyObject *)request);
    int err;

    if (hints == NULL) {
        return -1;
    }
    err = PyDict_SetItem(request->environ,
                         request->gateway->wsgi->str.wsgi_early_hints, hints);
    Py_DECREF(hints);
    return err;
}
