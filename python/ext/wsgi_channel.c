/* wsgi_channel.c - one request between the loop's thread and a worker's.
 *
 *     worker                                        loop
 *     ------                                        ----
 *     head, put ──▶ [head] [pieces] ──▶ job: pump ──▶ xs_response_...
 *     read      ◀── [blocks]        ◀── job: pump ◀── xs_request_body
 *
 * The worker never touches the core's request: it leaves what it wants in the
 * channel and posts a job; it waits, without the GIL, until `pump` has made
 * room or brought something, or the request is over. Both queues are bounded.
 *
 * The order of the locks: first the GIL, then `lock`. Nobody waits for the GIL
 * with `lock` in hand, and nothing of Python or of the core is called there. */

#include <pthread.h>

#include "core/base/base.h"
#include "core/http1/digits.h"
#include "python/ext/bridge.h"
#include "python/ext/wsgi_parts.h"

/* Response blocks, and their bytes, that wait for the loop's thread. */
#define PIECES_MAX 16u
#define PIECE_BYTES_HIGH ((size_t)64 * 1024)

/* Request blocks that wait for the worker: it works on one meanwhile. */
#define BLOCKS_MAX 2u

struct piece {
    PyObject *block; /* owned; NULL: no bytes; see ext_lend */
    bool more;
};

struct wsgi_channel {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t news;  /* for the worker: look again */

    bool is_posted;  /* the job is with the backend, and holds a reference */
    bool is_over;    /* the response has ended on the loop's side */
    bool has_failed; /* the worker gave up: fail when the pieces are sent */

    PyObject *status; /* owned: of a head that the core has not got; or NULL */
    PyObject *fields; /* owned: a tuple, likewise */
    struct piece pieces[PIECES_MAX];
    unsigned piece_first;
    unsigned piece_count;
    size_t piece_bytes;
    int piece_err; /* why the core refused one */

    PyObject *blocks[BLOCKS_MAX]; /* owned */
    unsigned block_count;
    bool is_wanted; /* the application has asked for the body */
    bool is_end;    /* the last block has been brought */

    /* Only the worker's thread. */
    bool is_said;    /* the last piece has been put, or none will be */
    bool is_counted; /* the application gave Content-Length */
    uint64_t left;   /* of it */

    /* Fixed by wsgi_channel_open. */
    bool is_head; /* of a HEAD request: its body is not counted */
    struct wsgi_request *request; /* borrowed: it owns us */
    struct xs_io *io;             /* borrowed until `is_over` */

    /* Only the loop's thread. */
    struct xs_request *req; /* borrowed while answerable, then NULL */
    struct xs_io_job job;
    bool pull_at_once; /* the client does not wait for "100 Continue" */
};

static void lock(struct wsgi_channel *channel)
{
    int err = pthread_mutex_lock(&channel->lock);

    XS_ASSERT(err == 0);
    (void)err;
}

static void unlock(struct wsgi_channel *channel)
{
    int err = pthread_mutex_unlock(&channel->lock);

    XS_ASSERT(err == 0);
    (void)err;
}

/* ---- on the loop's thread ---- */

/* The core's request is over: drop the core's reference, wake the worker. */
static void channel_over(struct wsgi_channel *channel)
{
    struct wsgi_request *request = channel->request;

    if (channel->req == NULL) {
        return;
    }
    channel->req = NULL;
    lock(channel);
    channel->is_over = true;
    pthread_cond_broadcast(&channel->news);
    unlock(channel);
    Py_DECREF(request);
}

/* An exception is set that no worker will see. */
static void channel_fail(struct wsgi_channel *channel)
{
    if (PyErr_Occurred() != NULL) {
        wsgi_report_raised(channel->request, "the response failed");
    }
    xs_response_fail(channel->req);
    channel_over(channel);
}

static bool take_piece(struct wsgi_channel *channel, struct piece *piece,
                       PyObject *head[2])
{
    bool found;

    lock(channel);
    found = channel->piece_count > 0;
    if (found) {
        *piece = channel->pieces[channel->piece_first];
        channel->piece_first = (channel->piece_first + 1) % PIECES_MAX;
        channel->piece_count--;
        channel->piece_bytes -= ext_block_len(piece->block);
        head[0] = channel->status;
        head[1] = channel->fields;
        channel->status = NULL;
        channel->fields = NULL;
        pthread_cond_broadcast(&channel->news);
    }
    unlock(channel);
    return found;
}

/* The core did not take a piece. If the worker will come again it hears of it
 * then; if not, this is the place to say it. */
static void refuse_piece(struct wsgi_channel *channel, int err, bool more)
{
    if (err == XS_EGONE) {
        return; /* on_abort is on its way */
    }
    lock(channel);
    channel->piece_err = err;
    unlock(channel);
    if (!more) {
        (void)wsgi_request_raise(channel->request, err);
    }
    channel_fail(channel);
}

static void send_piece(struct wsgi_channel *channel, const struct piece *piece,
                       PyObject *const head[2])
{
    struct wsgi_head_facts facts;
    int err;

    if (head[0] != NULL &&
        wsgi_head_give(channel->req, head[0], head[1], &facts) < 0) {
        channel_fail(channel);
        return;
    }
    err = ext_lend(channel->req, piece->block, piece->more);
    if (err != 0) {
        refuse_piece(channel, err, piece->more);
    } else if (!piece->more) {
        channel_over(channel);
    }
}

static void pump_pieces(struct wsgi_channel *channel)
{
    unsigned budget = PIECES_MAX;
    struct piece piece;
    PyObject *head[2];

    while (channel->req != NULL && budget > 0 &&
           !xs_response_full(channel->req) &&
           take_piece(channel, &piece, head)) {
        send_piece(channel, &piece, head);
        Py_XDECREF(piece.block);
        Py_XDECREF(head[0]);
        Py_XDECREF(head[1]);
        budget--;
    }
}

static void put_block(struct wsgi_channel *channel, PyObject *block, bool last)
{
    lock(channel);
    if (block != NULL) {
        XS_ASSERT(channel->block_count < BLOCKS_MAX);
        channel->blocks[channel->block_count] = block;
        channel->block_count++;
    }
    channel->is_end = last;
    pthread_cond_broadcast(&channel->news);
    unlock(channel);
}

/* Bring one block. False: not now, or never again. */
static bool pull_block(struct wsgi_channel *channel)
{
    struct xs_slice bytes;
    PyObject *block;
    bool last = false;

    switch (xs_request_body(channel->req, &bytes, &last)) {
        case XS_BODY_WAIT:
            return false;
        case XS_BODY_END:
            put_block(channel, NULL, true);
            return false;
        case XS_BODY_DATA:
            block = PyBytes_FromStringAndSize((const char *)bytes.data,
                                              (Py_ssize_t)bytes.len);
            if (block == NULL) {
                channel_fail(channel);
                return false;
            }
            xs_request_body_consume(channel->req, bytes.len);
            put_block(channel, block, last);
            return !last;
    }
    XS_UNREACHABLE();
}

static bool wants_block(struct wsgi_channel *channel)
{
    bool wants;

    lock(channel);
    wants = !channel->is_end && channel->block_count < BLOCKS_MAX &&
            (channel->is_wanted || channel->pull_at_once);
    unlock(channel);
    return wants;
}

void wsgi_channel_pump(struct wsgi_channel *channel)
{
    bool fail;

    if (channel->request->hints != NULL) {
        wsgi_hints_send(channel->request, channel->req);
    }
    pump_pieces(channel);
    while (channel->req != NULL && wants_block(channel) &&
           pull_block(channel)) {
    }
    lock(channel);
    fail = channel->has_failed && channel->piece_count == 0;
    unlock(channel);
    if (fail && channel->req != NULL) {
        channel_fail(channel);
    }
}

void wsgi_channel_abort(struct wsgi_channel *channel)
{
    channel_over(channel);
}

static void on_job(struct xs_io_job *job)
{
    struct wsgi_channel *channel =
        xs_container_of(job, struct wsgi_channel, job);
    struct wsgi_request *request = channel->request;

    lock(channel);
    channel->is_posted = false;
    unlock(channel);
    wsgi_channel_pump(channel);
    Py_DECREF(request);
}

int wsgi_channel_open(struct wsgi_request *request, struct xs_request *req)
{
    struct wsgi_channel *channel = PyMem_RawCalloc(1, sizeof *channel);

    if (channel == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (pthread_mutex_init(&channel->lock, NULL) != 0) {
        PyMem_RawFree(channel);
        PyErr_NoMemory();
        return -1;
    }
    if (pthread_cond_init(&channel->news, NULL) != 0) {
        pthread_mutex_destroy(&channel->lock);
        PyMem_RawFree(channel);
        PyErr_NoMemory();
        return -1;
    }
    channel->request = request;
    channel->io = req->io;
    channel->req = req;
    channel->job.run = on_job;
    channel->is_head = req->head->is_head;
    channel->is_end = req->head->framing == XS_FRAMING_NONE;
    channel->pull_at_once = !req->head->expect_continue;
    request->channel = channel;
    return 0;
}

void wsgi_channel_free(struct wsgi_channel *channel)
{
    unsigned i;

    if (channel == NULL) {
        return;
    }
    XS_ASSERT(channel->req == NULL);
    XS_ASSERT(!channel->is_posted);
    for (i = 0; i < channel->piece_count; i++) {
        Py_XDECREF(
            channel->pieces[(channel->piece_first + i) % PIECES_MAX].block);
    }
    for (i = 0; i < channel->block_count; i++) {
        Py_DECREF(channel->blocks[i]);
    }
    Py_XDECREF(channel->status);
    Py_XDECREF(channel->fields);
    pthread_cond_destroy(&channel->news);
    pthread_mutex_destroy(&channel->lock);
    PyMem_RawFree(channel);
}

/* ---- on a worker's thread ---- */

/* Let the loop's thread look. The lock is held, and the GIL. */
static void channel_post(struct wsgi_channel *channel)
{
    if (channel->is_posted || channel->is_over) {
        return;
    }
    channel->is_posted = true;
    Py_INCREF(channel->request);
    channel->io->ops->post(channel->io, &channel->job);
}

/* Wait for news. The lock is held; it and the GIL are away meanwhile. */
static void channel_wait(struct wsgi_channel *channel)
{
    PyThreadState *thread = ext_gil_release();

    pthread_cond_wait(&channel->news, &channel->lock);
    unlock(channel);
    ext_gil_take(thread);
    lock(channel);
}

void wsgi_channel_head(struct wsgi_channel *channel, PyObject *status,
                       PyObject *fields, const struct wsgi_head_facts *facts)
{
    PyObject *old_status;
    PyObject *old_fields;

    lock(channel);
    old_status = channel->status;
    old_fields = channel->fields;
    channel->status = Py_NewRef(status);
    channel->fields = Py_NewRef(fields);
    unlock(channel);
    channel->is_counted =
        facts->has_length && !facts->is_bodiless && !channel->is_head;
    channel->left = facts->length;
    Py_XDECREF(old_status);
    Py_XDECREF(old_fields);
}

int wsgi_channel_length(struct wsgi_channel *channel, uint64_t length)
{
    PyObject *field = Py_BuildValue("((sN))", "Content-Length",
                                    PyUnicode_FromFormat("%llu", length));
    PyObject *fields;

    if (field == NULL) {
        return -1;
    }
    /* Nobody else changes it while there is no piece. */
    fields = PySequence_Concat(channel->fields, field);
    Py_DECREF(field);
    if (fields == NULL) {
        return -1;
    }
    Py_SETREF(channel->fields, fields);
    return 0;
}

/* Raise what has become of the response; the lock is not held. Always -1. */
static int raise_over(const struct wsgi_channel *channel, int err)
{
    if (err == 0 || channel->request->is_gone) {
        return wsgi_request_raise_over(channel->request);
    }
    return wsgi_request_raise(channel->request, err);
}

/* The core counts the bytes of a Content-Length too, but when it does, the
 * application is elsewhere. False: more than was promised, or less at the
 * end. */
static bool count_put(struct wsgi_channel *channel, size_t len, bool more)
{
    if (!channel->is_counted) {
        return true;
    }
    if (more ? len > channel->left : len != channel->left) {
        return false;
    }
    channel->left -= len;
    return true;
}

int wsgi_channel_put(struct wsgi_channel *channel, PyObject *block, bool more,
                     bool flush)
{
    size_t len = ext_block_len(block);
    bool over;
    int err;

    if (channel->is_said) {
        return wsgi_request_raise_over(channel->request);
    }
    if (!count_put(channel, len, more)) {
        return wsgi_request_raise(channel->request, XS_ELENGTH);
    }
    lock(channel);
    while (!channel->is_over && (channel->piece_count == PIECES_MAX ||
                                 channel->piece_bytes > PIECE_BYTES_HIGH)) {
        channel_post(channel);
        channel_wait(channel);
    }
    over = channel->is_over;
    err = channel->piece_err;
    if (!over) {
        channel->pieces[(channel->piece_first + channel->piece_count) %
                        PIECES_MAX] = (struct piece){Py_XNewRef(block), more};
        channel->piece_count++;
        channel->piece_bytes += len;
        channel->is_said = !more;
        if (flush || !more) {
            channel_post(channel);
        }
    }
    unlock(channel);
    return over ? raise_over(channel, err) : 0;
}

void wsgi_channel_wake(struct wsgi_channel *channel)
{
    lock(channel);
    channel_post(channel);
    unlock(channel);
}

void wsgi_channel_fail(struct wsgi_channel *channel)
{
    channel->is_said = true;
    lock(channel);
    channel->has_failed = true;
    channel_post(channel);
    unlock(channel);
}

int wsgi_channel_read(struct wsgi_channel *channel, PyObject **block)
{
    bool over;

    *block = NULL;
    lock(channel);
    channel->is_wanted = true;
    while (channel->block_count == 0 && !channel->is_end && !channel->is_over) {
        channel_post(channel);
        channel_wait(channel);
    }
    over = channel->block_count == 0 && !channel->is_end;
    if (channel->block_count > 0) {
        *block = channel->blocks[0];
        channel->block_count--;
        channel->blocks[0] = channel->blocks[1];
        if (!channel->is_end) {
            channel_post(channel);
        }
    }
    unlock(channel);
    if (!over) {
        return 0;
    }
    if (channel->request->is_gone) {
        return wsgi_request_raise_gone(channel->request);
    }
    PyErr_SetString(PyExc_ValueError,
                    "wsgi.input: the response has ended, and with it what was "
                    "left of the request body");
    return -1;
}
