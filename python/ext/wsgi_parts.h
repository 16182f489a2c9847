/* wsgi_parts.h - what the parts of the WSGI gateway share.
 *
 *     core ──▶ gateway ──▶ request ──▶ application
 *                             ▲  start_response, write, iterable
 *     core ◀── channel ◀──────┘
 *              (only with workers)
 *
 * A request is one call of the application, and is itself the start_response
 * that the application is given. It runs until the application's iterable has
 * been closed. Within that it is answerable until its response has ended or
 * the client has gone; what the application kept may be called for ever and
 * never reaches the core again.
 *
 * Whoever holds a request has a reference: the core (xs_request.user) while it
 * is answerable, the worker or the present turn while it runs. */

#ifndef XS_EXT_WSGI_PARTS_H
#define XS_EXT_WSGI_PARTS_H

#include <stdint.h>

#include "core/base/base.h"
#include "core/base/list.h"
#include "core/base/slice.h"
#include "core/gateway.h"
#include "core/io.h"
#include "python/ext/names.h"
#include "python/ext/python.h"
#include "python/ext/wsgi.h"

/* PY_SSIZE_T_MAX, which strict C11 has only if Python.h comes first. */
#define WSGI_SIZE_MAX ((Py_ssize_t)(SIZE_MAX / 2))

/* Blocks of one iterable that are sent in one turn of the loop before others
 * get theirs. */
#define WSGI_TURN_BLOCKS 8u

/* What is read from a file at once. */
#define WSGI_FILE_BLOCK ((Py_ssize_t)64 * 1024)

/* Bytes of a spooled body that stay in memory: of one that is known to be no
 * longer, and of any other. A file costs some 200 us, what many slow clients
 * send at once costs memory. */
#define WSGI_SPOOL_SHORT ((Py_ssize_t)512 * 1024)
#define WSGI_SPOOL_LONG ((Py_ssize_t)64 * 1024)

/* Bytes that `write` may leave behind for a client that does not take them. */
#define WSGI_SPOOL_MAX ((uint64_t)1024 * 1024 * 1024)

struct wsgi_channel;
struct wsgi_pool;

struct wsgi_gateway {
    struct ext_gateway base;

    /* Written with the GIL held. */
    size_t refs; /* the owner's, and one of each request */

    /* Fixed by ext_wsgi_new. */
    struct ext_wsgi *wsgi;  /* borrowed: the module outlives its servers */
    struct wsgi_pool *pool; /* owned; NULL: the loop's thread is the only one */
    bool early_hints;       /* environ has wsgi.early_hints */

    /* Written only by wsgi_spool.c. */
    PyObject *spool_type; /* owned: tempfile.SpooledTemporaryFile, once used */

    /* Written only by wsgi_environ.c and wsgi_headers.c. */
    struct {
        PyObject *model;         /* owned: an environ of the commonest values */
        PyObject *input;         /* owned: the wsgi.input of no body */
        PyObject *errors;        /* owned: the file that we opened; or NULL */
        PyObject *root;          /* owned: the root path, as bytes */
        PyObject *methods;       /* owned: see method.h */
        struct xs_io_addr local; /* what the model's SERVER_… were made of */
        uint64_t serial;         /* of the present request; for ext_name.seen */
        struct ext_names names;  /* keys HTTP_… and values are str */
    } environ;
};

/* How far the response head is. */
enum wsgi_head {
    WSGI_HEAD_NONE, /* start_response was not called */
    WSGI_HEAD_SET,  /* it was, and may be called again with exc_info */
    WSGI_HEAD_SENT, /* the first body block has been taken */
};

struct wsgi_request {
    PyObject_HEAD

        vectorcallfunc start_response;
    struct wsgi_gateway *gateway; /* shared */

    /* The way to the core, one of two. */
    struct xs_request *req;       /* borrowed while answerable, then NULL */
    struct wsgi_channel *channel; /* owned: it runs on a worker's thread */

    /* Written by the thread that it runs on. */
    PyObject *environ;  /* owned while it runs */
    PyObject *result;   /* owned until closed: what the application returned */
    PyObject *blocks;   /* owned: its iterator; or itself, if indexed */
    Py_ssize_t next;    /* the next one, if indexed */
    Py_ssize_t count;   /* of blocks; -1: not known */
    PyObject *spool;    /* owned: bytes that wait; see wsgi_spool.c */
    uint64_t spooled;   /* bytes in it that were not sent */
    uint64_t unspooled; /* bytes in it that were, before those */
    enum wsgi_head head;
    bool is_bodiless; /* the status allows no body */
    bool has_length;  /* the application gave Content-Length */
    uint64_t length;  /* it, with has_length */
    bool is_indexed;  /* the result is a list or a tuple */
    bool is_running;  /* counted in gateway->running */
    bool is_torn;     /* a block is missing that write() could not keep */
    bool is_short;    /* its body, which waits in memory; see wsgi_spool.c */

    /* Written with the GIL held. */
    PyObject *hints; /* owned: a list, for the loop's thread; or NULL */

    /* Written by the loop's thread. */
    bool is_gone; /* on_abort came, for the reason `why` */
    enum xs_abort why;
    struct xs_list link;   /* wsgi_pool.waiting */
    struct xs_io_job turn; /* to go on with the iterable; while it is posted */
    bool is_turn_posted;   /* it holds a reference */
};

static inline struct wsgi_request *wsgi_request_of(PyObject *self)
{
    return (struct wsgi_request *)(void *)self;
}

/* The str that PEP 3333 calls native: bytes as latin-1. New; NULL with an
 * exception set. */
static inline PyObject *wsgi_text(struct xs_slice bytes)
{
    return PyUnicode_DecodeLatin1((const char *)bytes.data,
                                  (Py_ssize_t)bytes.len, NULL);
}

/* wsgi_gateway.c */

void wsgi_gateway_unref(struct wsgi_gateway *gateway);

/* wsgi_environ.c */

int wsgi_environ_init(struct wsgi_gateway *gateway, PyObject *config);
int wsgi_environ_traverse(struct wsgi_gateway *gateway, visitproc visit,
                          void *arg);
void wsgi_environ_fini(struct wsgi_gateway *gateway);

/* For ext_gateway_ops. */
void wsgi_environ_conn_close(void *conn_user);

/* The environ of `req`, a new dict; wsgi.input is that of no body. NULL with
 * an exception set. */
PyObject *wsgi_environ_new(struct wsgi_gateway *gateway,
                           struct xs_request *req);

/* wsgi_headers.c */

int wsgi_headers_init(struct wsgi_gateway *gateway);

/* Add the header fields of `head` to `environ`. */
int wsgi_headers_add(struct wsgi_gateway *gateway, PyObject *environ,
                     const struct xs_head *head);

/* wsgi_input.c */

int wsgi_input_init_type(PyObject *module, struct ext_wsgi *wsgi);

/* New wsgi.input objects; NULL with an exception set. What comes from: `block`
 * (bytes, or NULL: nothing); `spool`, from where it stands; the channel of
 * `request`. */
PyObject *wsgi_input_of_block(struct ext_wsgi *wsgi, PyObject *block);
PyObject *wsgi_input_of_spool(struct ext_wsgi *wsgi, PyObject *spool);
PyObject *wsgi_input_of_channel(struct wsgi_request *request);

/* wsgi_file.c */

int wsgi_file_init_type(PyObject *module, struct ext_wsgi *wsgi);

/* What is left of the file that `wrapper`, of wsgi->file_type, has, at most
 * `max` bytes: a new range, see file.h. NULL: its blocks are to be asked for;
 * or an exception is set. */
PyObject *wsgi_file_range(PyObject *wrapper, uint64_t max);

/* Its blocks end behind `max` bytes. */
void wsgi_file_limit(PyObject *wrapper, uint64_t max);

/* wsgi_request.c */

int wsgi_request_init_type(PyObject *module, struct ext_wsgi *wsgi);

/* A new request of `gateway`, running. NULL with an exception set. */
struct wsgi_request *wsgi_request_new(struct wsgi_gateway *gateway,
                                      struct xs_request *req);

/* Call the application and send what it gives, as far as it goes now. On the
 * loop's thread, or on a worker's if there is a channel. */
void wsgi_request_run(struct wsgi_request *request);

/* An exception is set: report it, and let the response fail. */
void wsgi_request_fail(struct wsgi_request *request);

/* The application is done with: close what it returned. May be called again.
 * Leaves no exception set. */
void wsgi_request_finish(struct wsgi_request *request);

/* The core's request is over: drop the core's reference. May be called
 * again. */
void wsgi_request_detach(struct wsgi_request *request);

/* Give a body block (exact or subclass of bytes; NULL: none) to the core. On a
 * worker's thread this waits while the client is slow.
 *
 * `flush` hands it to the kernel now. `more` false ends the response. 0, or -1
 * with an exception set. */
int wsgi_request_put(struct wsgi_request *request, PyObject *block, bool more,
                     bool flush);

/* Raise for an error of ext_lend. Always returns -1. */
int wsgi_request_raise(const struct wsgi_request *request, int err);

/* The response cannot be added to: raise why. Always returns -1. */
int wsgi_request_raise_over(const struct wsgi_request *request);

/* Raise xsgi.ClientDisconnected with the reason. Always returns -1. */
int wsgi_request_raise_gone(const struct wsgi_request *request);

/* xsgi.client_disconnected for `request`; NULL: always False. New. */
PyObject *wsgi_request_disconnected(struct wsgi_request *request);

/* wsgi_hints.c */

/* Put wsgi.early_hints into the environ of `request`. */
int wsgi_hints_give(struct wsgi_request *request);

/* On the loop's thread: send what a worker has left in request->hints, or drop
 * it if `req` is NULL. */
void wsgi_hints_send(struct wsgi_request *request, struct xs_request *req);

/* wsgi_head.c */

/* The bytes of a native string (PEP 3333: bytes as latin-1), borrowed from
 * it. `what` is for the message. */
int wsgi_native(PyObject *text, const char *what, struct xs_slice *out);

/* What a head says about the body. */
struct wsgi_head_facts {
    uint64_t length; /* with has_length */
    bool has_length;
    bool is_bodiless;
};

/* Begin the response of `req` with what start_response was given; `fields` is
 * a list or a tuple. `req` NULL: only check that it would be taken. 0 and the
 * facts, or -1 with an exception set. */
int wsgi_head_give(struct xs_request *req, PyObject *status, PyObject *fields,
                   struct wsgi_head_facts *facts);

/* wsgi_response.c */

/* Take what the application returned (a new reference, even on an error). */
int wsgi_response_take(struct wsgi_request *request, PyObject *result);

/* Send as much of it as goes now, and finish if that is all. */
void wsgi_response_go(struct wsgi_request *request);

/* wsgi_spool.c */

/* Close a file and drop it; the exception state stays. Accepts NULL. */
void wsgi_spool_close(PyObject **spool);

/* Take what has arrived of the request body; run the application when that is
 * all of it. */
void wsgi_spool_body(struct wsgi_request *request);

/* Keep a block that `write` was given. */
int wsgi_spool_write(struct wsgi_request *request, PyObject *block);

/* Send one block of what was kept. */
int wsgi_spool_send(struct wsgi_request *request);

/* wsgi_report.c: what the log says. All of them keep the exception state. */

/* `what` went wrong; takes what is raised, clearing it. */
void wsgi_report_raised(struct wsgi_request *request, const char *what);

/* wsgi_channel.c */

/* Give `request` a channel to `req`, on the loop's thread. */
int wsgi_channel_open(struct wsgi_request *request, struct xs_request *req);

/* For tp_dealloc: nobody uses it. Accepts NULL. */
void wsgi_channel_free(struct wsgi_channel *channel);

/* On the loop's thread: move what can be moved in either direction. */
void wsgi_channel_pump(struct wsgi_channel *channel);

/* On the loop's thread: the request is over. */
void wsgi_channel_abort(struct wsgi_channel *channel);

/* On a worker's thread: a checked head, instead of one given before. */
void wsgi_channel_head(struct wsgi_channel *channel, PyObject *status,
                       PyObject *fields, const struct wsgi_head_facts *facts);

/* On a worker's thread: the head's Content-Length. */
int wsgi_channel_length(struct wsgi_channel *channel, uint64_t length);

/* On a worker's thread: see wsgi_request_put. */
int wsgi_channel_put(struct wsgi_channel *channel, PyObject *block, bool more,
                     bool flush);

/* On a worker's thread: the loop's shall look. */
void wsgi_channel_wake(struct wsgi_channel *channel);

/* On a worker's thread: the response fails. */
void wsgi_channel_fail(struct wsgi_channel *channel);

/* On a worker's thread: the next block of the request body, waiting for it.
 * `*block` is a new reference, NULL at the end. 0, or -1 with an exception
 * set. */
int wsgi_channel_read(struct wsgi_channel *channel, PyObject **block);

/* wsgi_pool.c */

int wsgi_pool_init_type(PyObject *module, struct ext_wsgi *wsgi);

/* A pool whose `count` threads run. NULL with an exception set. */
struct wsgi_pool *wsgi_pool_new(struct ext_wsgi *wsgi, long count);

/* The threads end; waits a moment for them. Accepts NULL. */
void wsgi_pool_free(struct wsgi_pool *pool);

/* Let a worker run `request`. */
void wsgi_pool_submit(struct wsgi_pool *pool, struct wsgi_request *request);

/* Take it back, if no worker has it yet. */
bool wsgi_pool_revoke(struct wsgi_pool *pool, struct wsgi_request *request);

#endif
