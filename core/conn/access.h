/* access.h - what the access log is told of a request.
 *
 *     head ─begin─▶ what is kept ◀─header, forget─ response
 *                        │
 *                   end ─┴─▶ untold ─turn, sent, cut─▶ the log
 *                                  refused ──────────▶ the log
 *
 * It is told of each request once, never inside a call of the gateway's. */

#ifndef XS_CONN_ACCESS_H
#define XS_CONN_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "core/gateway.h"
#include "core/http1/head.h"
#include "core/http1/refusal.h"
#include "core/io.h"

struct xs_conn;

/* Bytes of a target that the access log gets, and of a method or a field. */
#define XS_ACCESS_TEXT ((size_t)2048)
#define XS_ACCESS_VALUE ((size_t)1024)

/* What a connection between two requests keeps of that memory. */
#define XS_ACCESS_KEEP ((size_t)1024)

/* Fields of request and response together that the access log may want. */
#define XS_ACCESS_FIELDS 16u

/* Which fields the access log wants: names in lower case, borrowed until the
 * server's fini. */
struct xs_access_wants {
    const struct xs_slice *request;
    const struct xs_slice *response;
    unsigned request_count;
    unsigned response_count;
};

/* How one request ended, or was refused, for the access log. All is borrowed
 * for the call; a slice without data was not there or is not known. */
struct xs_access {
    const struct xs_io_addr *peer; /* or whom it named as the client */
    uint64_t conn_id;
    struct xs_slice method;
    struct xs_slice target;
    const struct xs_slice *request_values;  /* of xs_access_wants.request */
    const struct xs_slice *response_values; /* of the application's head */
    unsigned minor;
    unsigned status;     /* 0: no head was sent */
    uint64_t body_bytes; /* of the response, accepted from the application and
                          * not dropped, as those of a HEAD are */
    uint64_t start_ns;   /* when the head was complete, by xs_io_ops.clock */
    uint64_t end_ns; /* when the socket had taken the response, or it failed */
    const char *why; /* static: "ok", or why it ended early: an xs_abort word,
                      * "failed", or a refusal's rule */
    bool is_refused; /* it was never at the gateway; method, target and fields
                      * are as far as they had been understood */
};

/* What follows is called by the files of conn/, and does nothing without
 * xs_server_events.access. */

/* Keep of the request's head what the access log wants. */
void xs_access_begin(struct xs_conn *conn, const struct xs_head *head);

/* Forget what was kept of the response's head; keep of it, if wanted, this
 * field. */
void xs_access_forget(struct xs_conn *conn);
void xs_access_header(struct xs_conn *conn, struct xs_slice name,
                      struct xs_slice value);

/* The request has ended: the access log, if there is one, is to be told. If it
 * has ended well (`why` is NULL), not before its response has gone. */
void xs_access_end(struct xs_conn *conn, const char *why);

/* Tell it, if that is due. */
void xs_access_turn(struct xs_conn *conn);

/* Tell it now, if it was not told: another request comes; or the connection
 * ends, and what is left in the queue is lost for `why`. */
void xs_access_sent(struct xs_conn *conn);
void xs_access_cut(struct xs_conn *conn, enum xs_abort why);

/* Between requests: a connection that waits keeps little. */
void xs_access_settle(struct xs_conn *conn);

/* Tell it that what the parser has was refused. */
void xs_access_refused(struct xs_conn *conn, enum xs_refusal why);

#endif
