/* asgi_parts.h - what the parts of the ASGI gateway share.
 *
 * One request of an application is three kinds of object:
 *
 *     runner ──▶ the application's coroutine ──▶ await ──▶ request ──▶ core
 *     (task)     (app(scope, receive, send))    (one per call of
 *                                                receive and send)
 *
 * A request runs from on_request until the application has returned. Within
 * that it is answerable until its response has ended or the client has gone;
 * `req` is NULL afterwards, so what the application kept may be called for
 * ever and never reaches the core again. */

#ifndef XS_EXT_ASGI_PARTS_H
#define XS_EXT_ASGI_PARTS_H

#include "core/base/list.h"
#include "core/gateway.h"
#include "python/ext/asgi.h"
#include "python/ext/names.h"
#include "python/ext/python.h"

/* How far the application is with its response. */
enum asgi_response {
    ASGI_RESPONSE_NONE,    /* nothing said */
    ASGI_RESPONSE_STARTED, /* http.response.start was taken */
    ASGI_RESPONSE_BODY,    /* a body that goes on was taken */
    ASGI_RESPONSE_TRAILER, /* the last body was; trailers are awaited */
    ASGI_RESPONSE_ENDED,   /* complete, or failed */
};

/* How a request's task comes to be: see asgi_task.c. */
enum asgi_task_mode {
    ASGI_TASK_PLAIN,
    ASGI_TASK_AHEAD,
    ASGI_TASK_EAGER,
    ASGI_TASK_LAZY,
};

/* The most keys of scope["extensions"]. */
#define ASGI_EXTENSIONS_MAX 4

struct asgi_gateway {
    struct ext_gateway base;

    /* Fixed by ext_asgi_new. */
    struct ext_asgi *asgi;   /* borrowed: the module outlives its servers */
    bool early_hints;        /* they may be sent */
    PyObject *loop;          /* owned */
    PyObject *create_future; /* owned: bound to `loop` */
    PyObject *context;       /* owned: what each request's is a copy of */

    /* Written only by asgi_task.c. */
    struct {
        enum asgi_task_mode mode;
        PyObject *start;    /* owned: asyncio.Task or loop.create_task */
        PyObject *keywords; /* owned: of the former; NULL for the latter */
        PyObject *ready;    /* owned: the loop's queue; NULL if not ahead */
        unsigned suspends;  /* how often a request has suspended lately */
    } task;

    /* Written only by asgi_scope.c. */
    struct {
        PyObject *model;        /* owned: a scope with the commonest values */
        PyObject *versions;     /* owned: scope["asgi"] */
        PyObject *state;        /* owned: the lifespan's; NULL: none */
        PyObject *root_path;    /* owned: str */
        PyObject *root_raw;     /* owned: bytes */
        PyObject *server;       /* owned: the model's (host, port) */
        PyObject *methods;      /* owned: see method.h */
        PyObject *http_1_0;     /* owned: str */
        struct ext_names names; /* keys are bytes, values pairs of bytes */
    } scope;

    /* Likewise. */
    struct {
        PyObject *names[ASGI_EXTENSIONS_MAX]; /* borrowed: the keys */
        unsigned count;
        PyObject *last; /* owned: those of the scope before; or NULL */
    } extensions;

    struct xs_list requests; /* asgi_request.link; each holds a reference */
};

struct asgi_request {
    PyObject_HEAD

        struct ext_asgi *asgi;    /* borrowed: as long as our type lives */
    struct asgi_gateway *gateway; /* borrowed while it runs, then NULL */
    struct xs_request *req;       /* borrowed while answerable, then NULL */
    struct xs_list link;          /* asgi_gateway.requests */
    PyObject *scope;              /* owned while it runs */
    PyObject *task;               /* owned while it runs */

    /* Whom to wake. */
    struct xs_list receivers; /* asgi_await.link */
    struct xs_list senders;   /* asgi_await.link */

    enum asgi_response response; /* written by asgi_send.c */
    bool trailing;               /* likewise: trailers end the response */
    bool body_taken;             /* written by asgi_receive.c */
    bool at_eof;                 /* on_eof came */
    bool told;                   /* http.disconnect was received */
    bool gone;                   /* on_abort came, for the reason `why` */
    enum xs_abort why;
};

enum asgi_await_state {
    ASGI_AWAIT_NEW,     /* not stepped yet */
    ASGI_AWAIT_WAITING, /* for its future, or for the step after it */
    ASGI_AWAIT_DONE,    /* returned or raised */
};

/* What one call of `receive()` or `send(message)` gave. */
struct asgi_await {
    PyObject_HEAD

        struct asgi_request *request; /* owned */
    PyObject *message;                /* owned; NULL: this is a receive() */
    PyObject *future;                 /* owned while WAITING */
    PyObject *waiter;                 /* owned while WAITING: its iterator */
    struct xs_list link;              /* a list of the request, until woken */
    enum asgi_await_state state;
    bool stepping; /* a step is on the stack */
    bool queued;   /* the message has been taken: nothing but to wait */
};

/* asgi_request.c */

int asgi_request_init_type(PyObject *module, struct ext_asgi *asgi);

/* A new request of `gateway`, running, answerable through `req`. The gateway's
 * list has a reference of its own. NULL with an exception set. */
struct asgi_request *asgi_request_new(struct asgi_gateway *gateway,
                                      struct xs_request *req);

/* New bound methods. NULL with an exception set. */
PyObject *asgi_request_receive(struct asgi_request *request);
PyObject *asgi_request_send(struct asgi_request *request);

/* The application has returned, or never will: an unfinished response fails,
 * and the gateway forgets the request. May be called again. */
void asgi_request_finish(struct asgi_request *request);

/* The response is over: the core's request is not ours any more. */
void asgi_request_detach(struct asgi_request *request);

/* Let everybody in `waiters`, a list of the request, look again. */
void asgi_request_wake(struct asgi_request *request, struct xs_list *waiters);

/* Raise xsgi.ClientDisconnected with the reason. Always returns -1. */
int asgi_request_raise_gone(const struct asgi_request *request);

/* asgi_await.c */

int asgi_await_init_type(PyObject *module, struct ext_asgi *asgi);

/* A new coroutine for `receive()` (`message` NULL) or `send(message)`. */
PyObject *asgi_await_new(struct asgi_request *request, PyObject *message);

/* Raise what throw(type[, value[, traceback]]) was given. */
void asgi_throw(PyObject *const *args, Py_ssize_t count);

/* asgi_receive.c, asgi_send.c: go as far as it goes.
 *
 *   PYGEN_RETURN  done; `*result` is a new reference
 *   PYGEN_NEXT    to be called again when the request wakes its receivers or
 *                 senders
 *   PYGEN_ERROR   an exception is set */
PySendResult asgi_receive_step(struct asgi_await *await, PyObject **result);
PySendResult asgi_send_step(struct asgi_await *await, PyObject **result);

/* Who still may answer? -1 with the reason raised. */
int asgi_request_check_live(const struct asgi_request *request);

/* Whether `message` has `key`, and it is true; 0 if it has not. -1 with an
 * exception set. */
int asgi_message_flag(PyObject *message, PyObject *key);

/* A header is a pair: its parts, new. `what` is for the message. 0, or -1 with
 * an exception set. */
int asgi_header_parts(PyObject *item, PyObject *parts[2], const char *what);

/* Part of a header field, as bytes, new; what can change is copied. NULL
 * without an exception: it is none. */
PyObject *asgi_field_bytes(PyObject *object);

/* asgi_aside.c */

/* Trailers, the last of which end the response. */
PySendResult asgi_aside_trailers(struct asgi_request *request,
                                 PyObject *message);

/* An early hint. PYGEN_NEXT: not while the queue is full. */
PySendResult asgi_aside_hint(struct asgi_request *request, PyObject *message);

/* asgi_send.c, for asgi_file.c: the parts of a step. */

/* message["more_body"]: 1 or 0; -1 with an exception set. */
int asgi_send_more(const struct ext_asgi *asgi, PyObject *message);
/* xs_response_body has given `err` for the message of type `what`: the step. */
PySendResult asgi_send_taken(struct asgi_await *await, int err, bool more,
                             const char *what);
/* The core could not go on: the response is over. */
void asgi_send_failed(struct asgi_request *request);

/* asgi_file.c: a step of these messages. */
PySendResult asgi_send_path(struct asgi_await *await);
PySendResult asgi_send_file(struct asgi_await *await);

/* asgi_scope.c */

int asgi_scope_init(struct asgi_gateway *gateway, PyObject *config);
int asgi_scope_traverse(struct asgi_gateway *gateway, visitproc visit,
                        void *arg);
void asgi_scope_fini(struct asgi_gateway *gateway);

/* The scope of `req`, a new dict. NULL with an exception set. */
PyObject *asgi_scope_new(struct asgi_gateway *gateway, struct xs_request *req);

/* asgi_headers.c */

int asgi_headers_init(struct asgi_gateway *gateway);

/* scope["headers"], a new list. NULL with an exception set. */
PyObject *asgi_headers_new(struct asgi_gateway *gateway,
                           const struct xs_head *head);

/* asgi_runner.c */

int asgi_runner_init_type(PyObject *module, struct ext_asgi *asgi);

/* A new coroutine that runs the application for `request`, whose scope is set,
 * and finishes it. */
PyObject *asgi_runner_new(struct asgi_request *request);

/* The first step was made without a task: let the task's first step give what
 * it gave. Takes `object`: what was yielded, returned or raised. */
void asgi_runner_hold(PyObject *self, PySendResult step, PyObject *object);

/* asgi_task.c */

int asgi_task_init(struct asgi_gateway *gateway, PyObject *config);
int asgi_task_traverse(struct asgi_gateway *gateway, visitproc visit,
                       void *arg);
void asgi_task_fini(struct asgi_gateway *gateway);

/* Run the application for `request` in a task of its own. -1 with an exception
 * set: it has not begun. */
int asgi_task_start(struct asgi_request *request);

/* asgi_lazy.c */

/* Whether this Python can do it; -1 with an exception set. Once per gateway. */
int asgi_lazy_init(struct ext_asgi *asgi);

/* As asgi_task_start. 1: the application has suspended. */
int asgi_lazy_start(struct asgi_request *request, PyObject *runner);

/* asgi_report.c: what the log says. */

/* The application raised: take what is raised. */
void asgi_report_raised(struct asgi_request *request);

/* It returned before its response was complete. */
void asgi_report_incomplete(struct asgi_request *request);

#endif
