/* wsgi_spool.c - bodies that nobody can wait for: memory, then a file.
 *
 * On the loop's thread the application must not wait for the client, since
 * only the loop could bring what it waits for. So a request body is collected
 * before the application is called, and what `write` cannot give to the core
 * is kept until the application has returned. Short ones stay in memory, long
 * ones lie in a temporary file (tempfile.SpooledTemporaryFile).
 *
 * The commonest body is there in one piece together with its head: that one
 * does not come near a spool. */

#include <stdio.h>

#include "core/base/base.h"
#include "python/ext/bridge.h"
#include "python/ext/wsgi_parts.h"

/* New. */
static PyObject *spool_new(struct wsgi_gateway *gateway, Py_ssize_t memory)
{
    if (gateway->spool_type == NULL) {
        PyObject *module = PyImport_ImportModule("tempfile");

        if (module == NULL) {
            return NULL;
        }
        gateway->spool_type =
            PyObject_GetAttrString(module, "SpooledTemporaryFile");
        Py_DECREF(module);
        if (gateway->spool_type == NULL) {
            return NULL;
        }
    }
    return PyObject_CallFunction(gateway->spool_type, "n", memory);
}

/* Put `block` behind what is in the request's spool. */
static int spool_add(struct wsgi_request *request, PyObject *block)
{
    PyObject *done;

    if (request->spool == NULL) {
        request->spool =
            spool_new(request->gateway,
                      request->is_short ? WSGI_SPOOL_SHORT : WSGI_SPOOL_LONG);
        if (request->spool == NULL) {
            return -1;
        }
    }
    done = PyObject_CallMethodOneArg(request->spool,
                                     request->gateway->wsgi->str.write, block);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Go to `at`, or to the end with -1. */
static int spool_seek(struct wsgi_request *request, int64_t at)
{
    PyObject *done = PyObject_CallMethod(request->spool, "seek", "Li",
                                         at < 0 ? 0LL : (long long)at,
                                         at < 0 ? SEEK_END : SEEK_SET);

    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

void wsgi_spool_close(PyObject **spool)
{
    PyObject *old = *spool;
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyObject *done;

    if (old == NULL) {
        return;
    }
    *spool = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    done = PyObject_CallMethod(old, "close", NULL);
    if (done == NULL) {
        ext_unraisable(old);
    }
    Py_XDECREF(done);
    Py_DECREF(old);
    PyErr_Restore(type, value, traceback);
}

/* ---- request bodies ---- */

/* wsgi.input becomes `input`, which is taken, and the application is run. */
static int body_run(struct wsgi_request *request, PyObject *input)
{
    int err;

    if (input == NULL) {
        return -1;
    }
    err = PyDict_SetItem(request->environ,
                         request->gateway->wsgi->str.wsgi_input, input);
    Py_DECREF(input);
    if (err == 0) {
        wsgi_request_run(request);
    }
    return err;
}

/* All of it has arrived. */
static int body_end(struct wsgi_request *request)
{
    struct ext_wsgi *wsgi = request->gateway->wsgi;
    PyObject *input;

    request->is_short = false; /* the next spool is for what `write` is given */
    if (request->spool == NULL) {
        return body_run(request, wsgi_input_of_block(wsgi, NULL));
    }
    if (spool_seek(request, 0) < 0) {
        return -1;
    }
    input = wsgi_input_of_spool(wsgi, request->spool);
    Py_CLEAR(request->spool);
    return body_run(request, input);
}

/* Take these bytes. 1: they were the last and the application was run. */
static int body_take(struct wsgi_request *request, struct xs_slice bytes,
                     bool last)
{
    PyObject *block = PyBytes_FromStringAndSize((const char *)bytes.data,
                                                (Py_ssize_t)bytes.len);
    int err;

    if (block == NULL) {
        return -1;
    }
    xs_request_body_consume(request->req, bytes.len);
    if (last && request->spool == NULL) {
        err = body_run(request,
                       wsgi_input_of_block(request->gateway->wsgi, block));
    } else {
        err = spool_add(request, block);
        if (err == 0 && last) {
            err = body_end(request);
        }
    }
    Py_DECREF(block);
    return err < 0 ? -1 : last;
}

void wsgi_spool_body(struct wsgi_request *request)
{
    int state = 0;

    while (state == 0) {
        struct xs_slice bytes;
        bool last = false;

        switch (xs_request_body(request->req, &bytes, &last)) {
            case XS_BODY_WAIT:
                return;
            case XS_BODY_END:
                state = body_end(request) < 0 ? -1 : 1;
                break;
            case XS_BODY_DATA:
                state = body_take(request, bytes, last);
                break;
        }
    }
    if (state < 0) {
        wsgi_request_fail(request);
    }
}

/* ---- what `write` was given ---- */

/* Always -1. */
static int raise_torn(void)
{
    PyErr_SetString(PyExc_OSError,
                    "write: a block before this could not be kept for a client "
                    "that does not keep up");
    return -1;
}

int wsgi_spool_write(struct wsgi_request *request, PyObject *block)
{
    uint64_t len = (uint64_t)PyBytes_GET_SIZE(block);

    /* Nothing goes in, but a client that is known to be gone shows. */
    if (ext_lend(request->req, NULL, true) == XS_EGONE) {
        request->is_gone = true;
        return wsgi_request_raise_gone(request);
    }
    if (request->head == WSGI_HEAD_NONE) {
        PyErr_SetString(PyExc_AssertionError,
                        "there is a body before start_response was called");
        return -1;
    }
    if (request->is_torn) {
        return raise_torn();
    }
    if (len > WSGI_SPOOL_MAX - request->spooled) {
        return ext_raise(XS_ELIMIT, "write: the client does not keep up");
    }
    /* It may be half sent already. What is written of a block that does not
     * fit nobody knows: nothing can follow it. */
    if ((request->spool != NULL && spool_seek(request, -1) < 0) ||
        spool_add(request, block) < 0) {
        request->is_torn = true;
        return -1;
    }
    request->head = WSGI_HEAD_SENT;
    request->spooled += len;
    return 0;
}

int wsgi_spool_send(struct wsgi_request *request)
{
    PyObject *block;
    uint64_t len;
    int err;

    if (request->is_torn) {
        return raise_torn();
    }
    if (spool_seek(request, (int64_t)request->unspooled) < 0) {
        return -1;
    }
    block = PyObject_CallMethod(request->spool, "read", "n", WSGI_FILE_BLOCK);
    if (block == NULL) {
        return -1;
    }
    /* The application may have found the file, or put its own class there. */
    if (!PyBytes_Check(block) || PyBytes_GET_SIZE(block) == 0 ||
        (uint64_t)PyBytes_GET_SIZE(block) > request->spooled) {
        Py_DECREF(block);
        PyErr_SetString(PyExc_OSError,
                        "a temporary file does not give what was written to "
                        "it");
        return -1;
    }
    len = (uint64_t)PyBytes_GET_SIZE(block);
    request->spooled -= len;
    request->unspooled += len;
    if (request->spooled == 0) {
        wsgi_spool_close(&request->spool);
        request->unspooled = 0;
    }
    err = wsgi_request_put(request, block, true, true);
    Py_DECREF(block);
    return err;
}
