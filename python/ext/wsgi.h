/* wsgi.h - the WSGI gateway: a PEP 3333 application as the core's upper side.
 *
 *     wsgi_gateway.c    the contract of core/gateway.h
 *     wsgi_environ.c    a request head becomes an environ
 *     wsgi_headers.c    its header fields
 *     wsgi_input.c      wsgi.input
 *     wsgi_file.c       wsgi.file_wrapper
 *     wsgi_hints.c      wsgi.early_hints
 *     wsgi_request.c    one call of the application
 *     wsgi_head.c       what start_response was given becomes a response head
 *     wsgi_response.c   what the application returned becomes the body
 *     wsgi_spool.c      bodies that nobody can wait for: memory, then a file
 *     wsgi_channel.c    one request between the loop's thread and a worker's
 *     wsgi_pool.c       the workers
 *     wsgi_report.c     what the log says of how it ended
 *     wsgi_types.c      what the module holds of all this
 *
 * With one thread the application runs on the loop's. It cannot wait there,
 * for it would wait for the loop: it is called when all of the request body
 * has arrived ("100 Continue" is said before), and what it `write`s beyond the
 * output queue's high mark is spooled. With more threads it runs on a
 * worker's, and waits.
 *
 * Everything here is called on the loop's thread with the GIL held. */

#ifndef XS_EXT_WSGI_H
#define XS_EXT_WSGI_H

#include <stdbool.h>
#include <stddef.h>

#include "python/ext/gateway.h"
#include "python/ext/python.h"
#include "python/ext/spare.h"
#include "python/ext/strings.h"

/* The strings that an environ is made of, and the names that are called. */
#define WSGI_STRINGS(X)                                     \
    X(request_method, "REQUEST_METHOD")                     \
    X(script_name, "SCRIPT_NAME")                           \
    X(path_info, "PATH_INFO")                               \
    X(query_string, "QUERY_STRING")                         \
    X(raw_uri, "RAW_URI")                                   \
    X(request_uri, "REQUEST_URI")                           \
    X(content_type, "CONTENT_TYPE")                         \
    X(content_length, "CONTENT_LENGTH")                     \
    X(server_name, "SERVER_NAME")                           \
    X(server_port, "SERVER_PORT")                           \
    X(server_protocol, "SERVER_PROTOCOL")                   \
    X(server_software, "SERVER_SOFTWARE")                   \
    X(remote_addr, "REMOTE_ADDR")                           \
    X(remote_port, "REMOTE_PORT")                           \
    X(wsgi_version, "wsgi.version")                         \
    X(wsgi_url_scheme, "wsgi.url_scheme")                   \
    X(lower_https, "https")                                 \
    X(https, "HTTPS")                                       \
    X(on, "on")                                             \
    X(wsgi_input, "wsgi.input")                             \
    X(wsgi_input_terminated, "wsgi.input_terminated")       \
    X(wsgi_errors, "wsgi.errors")                           \
    X(wsgi_multithread, "wsgi.multithread")                 \
    X(wsgi_multiprocess, "wsgi.multiprocess")               \
    X(wsgi_run_once, "wsgi.run_once")                       \
    X(wsgi_file_wrapper, "wsgi.file_wrapper")               \
    X(wsgi_early_hints, "wsgi.early_hints")                 \
    X(xsgi_client_disconnected, "xsgi.client_disconnected") \
    X(http, "http")                                         \
    X(http_1_0, "HTTP/1.0")                                 \
    X(http_1_1, "HTTP/1.1")                                 \
    X(get, "GET")                                           \
    X(empty, "")                                            \
    X(slash, "/")                                           \
    X(close, "close")                                       \
    X(write, "write")

/* The part of the module's state that is ours. Zeroed until ext_wsgi_init. */
struct ext_wsgi {
    PyTypeObject *request_type; /* owned */
    PyTypeObject *input_type;   /* owned */
    PyTypeObject *file_type;    /* owned */
    PyTypeObject *pool_type;    /* owned */
    struct ext_spare spare_requests;
    struct wsgi_strings {
        WSGI_STRINGS(EXT_STRING_FIELD)
    } str;
};

/* Make the types. 0, or -1 with an exception set. */
int ext_wsgi_init(struct ext_wsgi *wsgi, PyObject *module);

/* For the module's m_traverse, m_clear and m_free. Accept a zeroed struct. */
int ext_wsgi_traverse(struct ext_wsgi *wsgi, visitproc visit, void *arg);
void ext_wsgi_clear(struct ext_wsgi *wsgi);
void ext_wsgi_fini(struct ext_wsgi *wsgi);

/* A gateway for `app`, owned by the caller until its `free`, which waits a
 * moment for workers that still run the application. Of `config` (see
 * option.h) are asked
 *
 *     threads     int: how many run the application
 *     workers     int: processes, which the application is told of
 *     root_path   str: the path below which the application is mounted
 *     early_hints bool: the application may send them
 *
 * NULL with an exception set. */
struct ext_gateway *ext_wsgi_new(struct ext_wsgi *wsgi, PyObject *app,
                                 PyObject *config);

#endif
