/* wsgi_request.c - one call of the application, and what it is given to answer
 * with: the object itself is start_response.
 *
 *     run ──▶ application(environ, start_response)
 *                 │ start_response(status, headers) ──▶ head
 *                 │ write(block)                    ──▶ put
 *                 ▼
 *             iterable ──▶ wsgi_response.c          ──▶ put
 *
 * `put` is the one way to the core, on either thread. Whatever goes wrong ends
 * in `wsgi_request_fail`; whatever ends ends in `wsgi_request_finish`. */

#include "core/base/base.h"
#include "python/ext/bridge.h"
#include "python/ext/fork.h"
#include "python/ext/wsgi_parts.h"

/* The application was called. If it has forked, its child ends here. */
static void check_process(const struct wsgi_request *request)
{
    ext_fork_check(request->gateway->base.fork_count);
}

/* ---- raising ---- */

int wsgi_request_raise_gone(const struct wsgi_request *request)
{
    return ext_raise_gone(request->gateway->base.disconnected, request->is_gone,
                          request->why);
}

int wsgi_request_raise_over(const struct wsgi_request *request)
{
    if (request->is_gone) {
        return wsgi_request_raise_gone(request);
    }
    PyErr_SetString(PyExc_RuntimeError, "the response has ended");
    return -1;
}

/* start_response and write work where the application runs. */
static int check_thread(const struct wsgi_request *request)
{
    if (request->channel == NULL && request->req != NULL &&
        PyThread_get_thread_ident() != request->gateway->base.thread) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this may only be called in the thread that called "
                        "the application");
        return -1;
    }
    return 0;
}

/* ---- the head ---- */

/* Raise what exc_info holds: the head has left, so it cannot be told any other
 * way. Always -1. */
static int raise_again(PyObject *exc_info)
{
    PyObject *value = PyTuple_GET_ITEM(exc_info, 1);
    PyObject *traceback = PyTuple_GET_ITEM(exc_info, 2);

    if (!PyExceptionInstance_Check(value)) {
        PyErr_SetString(PyExc_TypeError,
                        "exc_info must be what sys.exc_info() returned");
        return -1;
    }
    if (traceback != Py_None &&
        PyException_SetTraceback(value, traceback) < 0) {
        return -1;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(value), value);
    return -1;
}

/* May there be a head now? */
static int check_head(const struct wsgi_request *request, PyObject *exc_info)
{
    if (exc_info != Py_None &&
        (!PyTuple_Check(exc_info) || PyTuple_GET_SIZE(exc_info) != 3)) {
        PyErr_SetString(PyExc_TypeError,
                        "exc_info must be what sys.exc_info() returned");
        return -1;
    }
    if (request->head == WSGI_HEAD_SENT && exc_info != Py_None) {
        return raise_again(exc_info);
    }
    if (request->req == NULL && request->channel == NULL) {
        return wsgi_request_raise_over(request);
    }
    if (request->head != WSGI_HEAD_NONE && exc_info == Py_None) {
        PyErr_SetString(PyExc_AssertionError,
                        "start_response was called already: a second call "
                        "needs exc_info");
        return -1;
    }
    return check_thread(request);
}

static int set_head(struct wsgi_request *request, PyObject *status,
                    PyObject *fields)
{
    struct wsgi_head_facts facts;
    PyObject *kept = NULL;

    request->head = WSGI_HEAD_NONE;
    if (wsgi_head_give(request->req, status, fields, &facts) < 0) {
        return -1;
    }
    if (request->channel != NULL) {
        kept = PySequence_Tuple(fields);
        if (kept == NULL) {
            return -1;
        }
        wsgi_channel_head(request->channel, status, kept, &facts);
        Py_DECREF(kept);
    }
    request->head = WSGI_HEAD_SET;
    request->has_length = facts.has_length;
    request->length = facts.length;
    request->is_bodiless = facts.is_bodiless;
    return 0;
}

static PyMethodDef write_def;

/* exc_info may be given by name; so may the others, as a function in Python
 * with these names would have it. */
static int head_arguments(PyObject *const *args, Py_ssize_t count,
                          PyObject *names, PyObject *out[3])
{
    static const char *const expected[] = {"status", "headers", "exc_info"};
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    Py_ssize_t i;

    if (count + named < 2 || count + named > 3) {
        PyErr_Format(PyExc_TypeError,
                     "start_response() takes 2 or 3 arguments (%zd given)",
                     count + named);
        return -1;
    }
    for (i = 0; i < count; i++) {
        out[i] = args[i];
    }
    for (i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int place = 0;

        while (place < 3 &&
               PyUnicode_CompareWithASCIIString(name, expected[place]) != 0) {
            place++;
        }
        if (place == 3 || out[place] != NULL) {
            PyErr_Format(PyExc_TypeError,
                         "start_response() got an unexpected argument %R",
                         name);
            return -1;
        }
        out[place] = args[count + i];
    }
    if (out[0] == NULL || out[1] == NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "start_response() needs a status and headers");
        return -1;
    }
    return 0;
}

static PyObject *start_response(PyObject *self, PyObject *const *args,
                                size_t nargsf, PyObject *names)
{
    struct wsgi_request *request = wsgi_request_of(self);
    PyObject *given[3] = {NULL, NULL, NULL};
    PyObject *exc_info;

    if (head_arguments(args, PyVectorcall_NARGS(nargsf), names, given) < 0) {
        return NULL;
    }
    exc_info = given[2] == NULL ? Py_None : given[2];
    if (check_head(request, exc_info) < 0 ||
        set_head(request, given[0], given[1]) < 0) {
        return NULL;
    }
    return PyCFunction_New(&write_def, self);
}

/* ---- the body ---- */

int wsgi_request_raise(const struct wsgi_request *request, int err)
{
    if (err == XS_EGONE) {
        return wsgi_request_raise_gone(request);
    }
    if (err == XS_ELENGTH) {
        PyErr_SetString(PyExc_ValueError,
                        "the response body does not match its "
                        "Content-Length header");
        return -1;
    }
    return ext_raise(err, "the response");
}

int wsgi_request_put(struct wsgi_request *request, PyObject *block, bool more,
                     bool flush)
{
    int err;

    check_process(request);
    if (request->head == WSGI_HEAD_NONE) {
        PyErr_SetString(PyExc_AssertionError,
                        "there is a body before start_response was called");
        return -1;
    }
    if (request->channel != NULL) {
        request->head = WSGI_HEAD_SENT;
        return wsgi_channel_put(request->channel, block, more, flush);
    }
    if (request->req == NULL) {
        return wsgi_request_raise_over(request);
    }
    err = ext_lend(request->req, block, more);
    if (err != 0) {
        request->is_gone = request->is_gone || err == XS_EGONE;
        return wsgi_request_raise(request, err);
    }
    request->head = WSGI_HEAD_SENT;
    if (!more) {
        wsgi_request_detach(request);
    } else if (flush) {
        xs_response_flush(request->req);
    }
    return 0;
}

/* write(): must not come back before the block is on its way or kept, and may
 * not wait on the loop's thread. */
static PyObject *request_write(PyObject *self, PyObject *block)
{
    struct wsgi_request *request = wsgi_request_of(self);
    int err;

    check_process(request);
    if (!PyBytes_Check(block)) {
        PyErr_Format(PyExc_TypeError, "write() takes bytes, not %.100s",
                     Py_TYPE(block)->tp_name);
        return NULL;
    }
    if (check_thread(request) < 0) {
        return NULL;
    }
    if (PyBytes_GET_SIZE(block) == 0) {
        Py_RETURN_NONE;
    }
    if (request->req != NULL && (request->spooled > 0 || request->is_torn ||
                                 xs_response_full(request->req))) {
        err = wsgi_spool_write(request, block);
    } else {
        err = wsgi_request_put(request, block, true, true);
    }
    if (err < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef write_def = {
    "write", request_write, METH_O,
    PyDoc_STR("write(block, /)\n--\n\nSend a block of the body now.")};

static PyObject *is_disconnected(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(self != Py_None && wsgi_request_of(self)->is_gone);
}

static PyMethodDef disconnected_def = {
    "client_disconnected", is_disconnected, METH_NOARGS,
    PyDoc_STR("client_disconnected()\n--\n\n"
              "Whether the client is known to be gone.")};

PyObject *wsgi_request_disconnected(struct wsgi_request *request)
{
    return PyCFunction_New(&disconnected_def,
                           request == NULL ? Py_None : (PyObject *)request);
}

/* ---- from new to dealloc ---- */

struct wsgi_request *wsgi_request_new(struct wsgi_gateway *gateway,
                                      struct xs_request *req)
{
    struct ext_wsgi *wsgi = gateway->wsgi;
    PyObject *self = ext_spare_take(&wsgi->spare_requests, wsgi->request_type);
    struct wsgi_request *request = wsgi_request_of(self);

    if (request == NULL) {
        return NULL;
    }
    request->start_response = start_response;
    request->gateway = gateway;
    gateway->refs++;
    request->req = req;
    request->channel = NULL;
    request->environ = NULL;
    request->result = NULL;
    request->blocks = NULL;
    request->next = 0;
    request->count = -1;
    request->spool = NULL;
    request->spooled = 0;
    request->unspooled = 0;
    request->head = WSGI_HEAD_NONE;
    request->is_bodiless = false;
    request->has_length = false;
    request->is_indexed = false;
    request->is_torn = false;
    request->is_short = false;
    request->is_running = true;
    gateway->base.running++;
    request->hints = NULL;
    request->is_gone = false;
    request->why = XS_ABORT_RESET;
    xs_list_init(&request->link);
    request->is_turn_posted = false;
    return request;
}

void wsgi_request_run(struct wsgi_request *request)
{
    PyObject *args[3];
    PyObject *result;

    XS_ASSERT(request->environ != NULL);
    args[0] = NULL;
    args[1] = request->environ;
    args[2] = (PyObject *)request;
    result = PyObject_Vectorcall(request->gateway->base.app, args + 1,
                                 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    check_process(request);
    if (result == NULL || wsgi_response_take(request, result) < 0) {
        wsgi_request_fail(request);
        return;
    }
    wsgi_response_go(request);
}

void wsgi_request_fail(struct wsgi_request *request)
{
    check_process(request);
    wsgi_report_raised(request, "the WSGI application raised an exception");
    if (request->channel != NULL) {
        wsgi_channel_fail(request->channel);
    } else if (request->req != NULL && !request->is_gone) {
        /* Else on_abort is on its way. */
        xs_response_fail(request->req);
        wsgi_request_detach(request);
    }
    wsgi_request_finish(request);
}

/* PEP 3333: close() is called however the request ended, if there is one. */
static void close_result(struct wsgi_request *request)
{
    PyObject *result = request->result;
    PyObject *close;
    PyObject *done;

    request->result = NULL;
    if (result == NULL) {
        return;
    }
    if (PyList_CheckExact(result) || PyTuple_CheckExact(result)) {
        Py_DECREF(result);
        return;
    }
    close = PyObject_GetAttr(result, request->gateway->wsgi->str.close);
    Py_DECREF(result);
    if (close == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            wsgi_report_raised(request, "close() could not be called");
        }
        PyErr_Clear();
        return;
    }
    done = PyObject_CallNoArgs(close);
    check_process(request);
    Py_DECREF(close);
    if (done == NULL) {
        wsgi_report_raised(request, "close() of the iterable raised");
    }
    Py_XDECREF(done);
}

void wsgi_request_finish(struct wsgi_request *request)
{
    if (!request->is_running) {
        return;
    }
    request->is_running = false;
    XS_ASSERT(request->gateway->base.running > 0);
    request->gateway->base.running--;
    close_result(request);
    Py_CLEAR(request->blocks);
    wsgi_spool_close(&request->spool);
    Py_CLEAR(request->environ);
}

void wsgi_request_detach(struct wsgi_request *request)
{
    if (request->req != NULL) {
        request->req = NULL;
        Py_DECREF(request);
    }
}

static void request_dealloc(PyObject *self)
{
    struct wsgi_request *request = wsgi_request_of(self);
    struct wsgi_gateway *gateway = request->gateway;

    XS_ASSERT(request->req == NULL);
    XS_ASSERT(!request->is_running);
    XS_ASSERT(!request->is_turn_posted);
    wsgi_channel_free(request->channel);
    Py_CLEAR(request->hints);
    ext_spare_give(&gateway->wsgi->spare_requests, self);
    wsgi_gateway_unref(gateway);
}

static PyMemberDef request_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET,
     offsetof(struct wsgi_request, start_response), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot request_slots[] = {
    {Py_tp_doc,
     (char *)"start_response(status, headers, exc_info=None)\n--\n\n"
             "Begin the response; returns write(block). See PEP 3333."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, request_members},
    {Py_tp_dealloc, request_dealloc},
    {0, NULL},
};

static PyType_Spec request_spec = {
    .name = "xsgi._xsgi.StartResponse",
    .basicsize = sizeof(struct wsgi_request),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = request_slots,
};

int wsgi_request_init_type(PyObject *module, struct ext_wsgi *wsgi)
{
    wsgi->request_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &request_spec, NULL);
    return wsgi->request_type == NULL ? -1 : 0;
}
