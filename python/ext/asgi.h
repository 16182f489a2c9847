/* asgi.h - the ASGI gateway: an ASGI 3 application as the core's upper side.
 *
 *     asgi_gateway.c   the contract of core/gateway.h
 *     asgi_scope.c     a request head becomes a scope
 *     asgi_headers.c   its header fields
 *     asgi_task.c      a request gets an asyncio.Task
 *     asgi_lazy.c      one that becomes a task only if it has to
 *     asgi_fields.c    what is in it until then
 *     asgi_touched.c   what was done to it until then
 *     asgi_runner.c    the coroutine that the task runs
 *     asgi_report.c    what the log says of how it ended
 *     asgi_request.c   what `receive` and `send` are bound to
 *     asgi_await.c     the coroutine that each call of them returns
 *     asgi_receive.c   what a step of `receive()` does
 *     asgi_send.c      what a step of `send(message)` does
 *     asgi_aside.c     likewise, with early hints and trailers
 *     asgi_file.c      likewise, if the body is in a file
 *     asgi_types.c     what the module holds of all this
 *
 * Everything here is called on the loop's thread with the GIL held. */

#ifndef XS_EXT_ASGI_H
#define XS_EXT_ASGI_H

#include "python/ext/asgi_fields.h"
#include "python/ext/gateway.h"
#include "python/ext/python.h"
#include "python/ext/spare.h"
#include "python/ext/strings.h"

/* The strings that messages and scopes are made of. */
#define ASGI_STRINGS(X)                               \
    X(type, "type")                                   \
    X(asgi, "asgi")                                   \
    X(version, "version")                             \
    X(spec_version, "spec_version")                   \
    X(http, "http")                                   \
    X(http_version, "http_version")                   \
    X(server, "server")                               \
    X(client, "client")                               \
    X(scheme, "scheme")                               \
    X(https, "https")                                 \
    X(method, "method")                               \
    X(root_path, "root_path")                         \
    X(path, "path")                                   \
    X(raw_path, "raw_path")                           \
    X(query_string, "query_string")                   \
    X(headers, "headers")                             \
    X(state, "state")                                 \
    X(extensions, "extensions")                       \
    X(early_hint, "http.response.early_hint")         \
    X(trailers_of_response, "http.response.trailers") \
    X(trailers, "trailers")                           \
    X(more_trailers, "more_trailers")                 \
    X(links, "links")                                 \
    X(body, "body")                                   \
    X(more_body, "more_body")                         \
    X(file, "file")                                   \
    X(offset, "offset")                               \
    X(count, "count")                                 \
    X(pathsend, "http.response.pathsend")             \
    X(zerocopysend, "http.response.zerocopysend")     \
    X(status, "status")                               \
    X(http_request, "http.request")                   \
    X(http_disconnect, "http.disconnect")             \
    X(throw_, "throw")                                \
    X(close, "close")                                 \
    X(done, "done")                                   \
    X(set_result, "set_result")                       \
    X(cancel, "cancel")

/* The part of the module's state that is ours. Zeroed until ext_asgi_init. */
struct ext_asgi {
    PyTypeObject *request_type; /* owned */
    PyTypeObject *await_type;   /* owned */
    PyTypeObject *runner_type;  /* owned */
    PyObject *module;           /* borrowed */

    /* Made for the first gateway. */
    PyObject *cancelled; /* owned: asyncio.CancelledError */

    /* Made by asgi_lazy.c for the first gateway that wants it. */
    struct {
        PyTypeObject *type; /* owned: a subtype of asyncio.Task; NULL: none */
        PyObject *enter;    /* owned: makes a task the current one */
        PyObject *leave;    /* owned; NULL: `enter` gives the one before */
        PyObject *spare;    /* owned: a task that nobody has seen */
        PyObject *name;     /* owned: of one that is none yet */
        struct asgi_fields fields;
    } lazy;
    struct ext_spare spare_requests;
    struct ext_spare spare_awaits;
    struct ext_spare spare_runners;
    struct asgi_strings {
        ASGI_STRINGS(EXT_STRING_FIELD)
    } str;
};

/* Make the types. 0, or -1 with an exception set. */
int ext_asgi_init(struct ext_asgi *asgi, PyObject *module);

/* For the module's m_traverse, m_clear and m_free. Accept a zeroed struct. */
int ext_asgi_traverse(struct ext_asgi *asgi, visitproc visit, void *arg);
void ext_asgi_clear(struct ext_asgi *asgi);
void ext_asgi_fini(struct ext_asgi *asgi);

/* A gateway for `app` on `loop`, owned by the caller until its `free`. Of
 * `config` (see option.h) are asked
 *
 *     root_path   str: the path below which the application is mounted
 *     early_hints bool: the application may send them
 *     state       dict: the lifespan's, a copy of it is in each scope
 *     task_mode   "auto", "eager", "task": see asgi_task.c
 *
 * NULL with an exception set. */
struct ext_gateway *ext_asgi_new(struct ext_asgi *asgi, PyObject *app,
                                 PyObject *loop, PyObject *config);

#endif
