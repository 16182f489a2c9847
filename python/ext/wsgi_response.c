/* wsgi_response.c - what the application returned becomes the response body.
 *
 *     go ──▶ step ──▶ step ──▶ … ──▶ done: finish
 *              │
 *              ├─ the output queue is full: on_drain goes on
 *              └─ others want the loop: a posted job goes on
 *
 * A list or a tuple is all there: its blocks are given to the core without a
 * flush between them, and leave together. Of anything else PEP 3333 says that
 * a block may not be held back while the next one is asked for. A file that the
 * system can send is one block. On a worker's thread `put` waits, so there is
 * one `go` from start to end. */

#include <string.h>

#include "core/base/base.h"
#include "core/base/limits.h"
#include "core/http1/digits.h"
#include "python/ext/bridge.h"
#include "python/ext/file.h"
#include "python/ext/wsgi_parts.h"

/* Blocks of a list that are sent in one turn. No code of the application runs
 * between them. */
#define TURN_INDEXED 512u

enum step {
    STEP_MORE,  /* at once */
    STEP_WAIT,  /* when the queue has drained */
    STEP_DONE,  /* that was all */
    STEP_ERROR, /* an exception is set */
};

static int check_block(PyObject *block)
{
    if (PyBytes_Check(block) || ext_range_of(block) != NULL) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError,
                 "the application's iterable must give bytes, not %.100s",
                 Py_TYPE(block)->tp_name);
    return -1;
}

/* ---- lists and tuples ---- */

static Py_ssize_t indexed_count(PyObject *blocks)
{
    return PyTuple_CheckExact(blocks) ? PyTuple_GET_SIZE(blocks)
                                      : PyList_GET_SIZE(blocks);
}

/* Borrowed. */
static PyObject *indexed_at(PyObject *blocks, Py_ssize_t i)
{
    return PyTuple_CheckExact(blocks) ? PyTuple_GET_ITEM(blocks, i)
                                      : PyList_GET_ITEM(blocks, i);
}

/* The bytes of all blocks; -1 with an exception set. */
static Py_ssize_t indexed_sum(PyObject *blocks)
{
    Py_ssize_t count = indexed_count(blocks);
    Py_ssize_t sum = 0;
    Py_ssize_t i;

    for (i = 0; i < count; i++) {
        PyObject *block = indexed_at(blocks, i);

        if (check_block(block) < 0) {
            return -1;
        }
        if (PyBytes_GET_SIZE(block) > WSGI_SIZE_MAX - sum) {
            PyErr_SetString(PyExc_OverflowError, "the response is too long");
            return -1;
        }
        sum += PyBytes_GET_SIZE(block);
    }
    return sum;
}

/* All blocks in one of `sum` bytes. New. */
static PyObject *indexed_joined(PyObject *blocks, Py_ssize_t sum)
{
    PyObject *all = PyBytes_FromStringAndSize(NULL, sum);
    Py_ssize_t count = indexed_count(blocks);
    Py_ssize_t at = 0;
    Py_ssize_t i;

    for (i = 0; all != NULL && i < count; i++) {
        PyObject *block = indexed_at(blocks, i);

        memcpy(PyBytes_AS_STRING(all) + at, PyBytes_AS_STRING(block),
               (size_t)PyBytes_GET_SIZE(block));
        at += PyBytes_GET_SIZE(block);
    }
    return all;
}

/* The head shall say that the body has `length` bytes. */
static int give_length(struct wsgi_request *request, Py_ssize_t length)
{
    uint8_t digits[XS_DIGITS_MAX];
    struct xs_slice value;
    int err;

    if (request->channel != NULL) {
        return wsgi_channel_length(request->channel, (uint64_t)length);
    }
    if (request->req == NULL) {
        return 0;
    }
    value = xs_slice_of(
        digits, (size_t)(xs_digits_put(digits, (uint64_t)length) - digits));
    err = xs_response_header(request->req, XS_LIT("content-length"), value);
    return err == 0 ? 0 : ext_raise(err, "the response");
}

/* Several blocks: one, if they are short; else their length is known. */
static int take_several(struct wsgi_request *request)
{
    Py_ssize_t sum = indexed_sum(request->blocks);
    PyObject *all;

    if (sum < 0) {
        return -1;
    }
    if ((size_t)sum <= XS_TX_COPY_MAX) {
        all = indexed_joined(request->blocks, sum);
        if (all == NULL) {
            return -1;
        }
        Py_SETREF(request->blocks, PyTuple_Pack(1, all));
        Py_DECREF(all);
        return request->blocks == NULL ? -1 : 0;
    }
    if (request->head != WSGI_HEAD_SET || request->has_length ||
        request->is_bodiless) {
        return 0;
    }
    return give_length(request, sum);
}

/* ---- any iterable ---- */

/* Its length, if it has one: PEP 3333 lets us trust it. -1: it has none, or an
 * exception is set that is none of its own. */
static Py_ssize_t count_of(PyObject *result)
{
    const PySequenceMethods *sequence = Py_TYPE(result)->tp_as_sequence;
    const PyMappingMethods *mapping = Py_TYPE(result)->tp_as_mapping;
    Py_ssize_t count;

    if ((sequence == NULL || sequence->sq_length == NULL) &&
        (mapping == NULL || mapping->mp_length == NULL)) {
        return -1;
    }
    count = PyObject_Size(result);
    if (count < 0 && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
    }
    return count;
}

/* The application returned wsgi.file_wrapper: if all of the body is to come
 * from it, and the system can send it, it is one block. 0: it cannot; -1 with
 * an exception set. */
static int take_file(struct wsgi_request *request, PyObject *result)
{
    PyObject *range;

    if (Py_TYPE(result) != request->gateway->wsgi->file_type ||
        request->head != WSGI_HEAD_SET || request->spooled > 0) {
        return 0;
    }
    if (request->has_length) {
        /* PEP 3333: "or until Content-Length bytes have been written". */
        wsgi_file_limit(result, request->length);
    }
    range = wsgi_file_range(result,
                            request->has_length ? request->length : SIZE_MAX);
    if (range == NULL) {
        return PyErr_Occurred() != NULL ? -1 : 0;
    }
    request->is_indexed = true;
    request->blocks = PyTuple_Pack(1, range);
    Py_DECREF(range);
    return request->blocks == NULL ? -1 : 1;
}

int wsgi_response_take(struct wsgi_request *request, PyObject *result)
{
    int taken;

    XS_ASSERT(request->result == NULL);
    request->result = result;
    if (PyList_CheckExact(result) || PyTuple_CheckExact(result)) {
        request->is_indexed = true;
        request->blocks = Py_NewRef(result);
        return indexed_count(result) > 1 ? take_several(request) : 0;
    }
    taken = take_file(request, result);
    if (taken != 0) {
        return taken < 0 ? -1 : 0;
    }
    request->count = count_of(result);
    if (request->count < 0 && PyErr_Occurred() != NULL) {
        return -1;
    }
    request->blocks = PyObject_GetIter(result);
    if (request->blocks == NULL && PyErr_ExceptionMatches(PyExc_TypeError) &&
        Py_TYPE(result)->tp_iter == NULL) {
        PyErr_Format(PyExc_TypeError,
                     "the application must return an iterable of bytes, "
                     "not %.100s",
                     Py_TYPE(result)->tp_name);
    }
    return request->blocks == NULL ? -1 : 0;
}

/* ---- sending ---- */

static enum step step_indexed(struct wsgi_request *request)
{
    Py_ssize_t count = indexed_count(request->blocks);
    PyObject *block = NULL;
    bool more;
    int err;

    if (request->next < count) {
        block = Py_NewRef(indexed_at(request->blocks, request->next));
        request->next++;
        if (check_block(block) < 0) {
            Py_DECREF(block);
            return STEP_ERROR;
        }
    }
    more = request->next < count;
    if (more && PyBytes_GET_SIZE(block) == 0) {
        Py_DECREF(block);
        return STEP_MORE;
    }
    err = wsgi_request_put(request, block, more, false);
    Py_XDECREF(block);
    if (err < 0) {
        return STEP_ERROR;
    }
    return more ? STEP_MORE : STEP_DONE;
}

static enum step step_iterated(struct wsgi_request *request)
{
    PyObject *block = PyIter_Next(request->blocks);
    bool more;
    int err;

    if (block == NULL) {
        if (PyErr_Occurred() != NULL ||
            wsgi_request_put(request, NULL, false, false) < 0) {
            return STEP_ERROR;
        }
        return STEP_DONE;
    }
    if (check_block(block) < 0) {
        Py_DECREF(block);
        return STEP_ERROR;
    }
    if (PyBytes_GET_SIZE(block) == 0) {
        Py_DECREF(block);
        return STEP_MORE;
    }
    more = request->count != 1;
    err = wsgi_request_put(request, block, more, more);
    Py_DECREF(block);
    if (err < 0) {
        return STEP_ERROR;
    }
    return more ? STEP_MORE : STEP_DONE;
}

static enum step response_step(struct wsgi_request *request)
{
    if (request->req != NULL && xs_response_full(request->req)) {
        return STEP_WAIT;
    }
    if (request->spooled > 0 || request->is_torn) {
        return wsgi_spool_send(request) < 0 ? STEP_ERROR : STEP_MORE;
    }
    return request->is_indexed ? step_indexed(request) : step_iterated(request);
}

static void on_turn(struct xs_io_job *job)
{
    struct wsgi_request *request =
        xs_container_of(job, struct wsgi_request, turn);

    request->is_turn_posted = false;
    if (request->is_running && request->req != NULL) {
        wsgi_response_go(request);
    }
    Py_DECREF(request);
}

/* Let others have their turn, then go on. */
static void post_turn(struct wsgi_request *request)
{
    struct xs_io *io = request->req->io;

    XS_ASSERT(!request->is_turn_posted);
    request->is_turn_posted = true;
    request->turn.run = on_turn;
    Py_INCREF(request);
    io->ops->post(io, &request->turn);
}

void wsgi_response_go(struct wsgi_request *request)
{
    unsigned budget = request->is_indexed ? TURN_INDEXED : WSGI_TURN_BLOCKS;
    enum step step = STEP_MORE;

    while (step == STEP_MORE && (budget > 0 || request->channel != NULL)) {
        step = response_step(request);
        budget--;
    }
    switch (step) {
        case STEP_MORE:
            post_turn(request);
            return;
        case STEP_WAIT:
            return;
        case STEP_DONE:
            wsgi_request_finish(request);
            return;
        case STEP_ERROR:
            wsgi_request_fail(request);
            return;
    }
    XS_UNREACHABLE();
}
