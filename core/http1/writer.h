/* writer.h - what an application says becomes response bytes in a queue.
 *
 *     start ──▶ header* ──▶ body* ──▶ end
 *
 * The head is rendered as it is given and held in the queue (queue.h) until
 * the first body call tells how the body is framed:
 *
 *     Content-Length was given         -> LENGTH
 *     no body is allowed, or HEAD      -> NONE
 *     the first body is also the last  -> LENGTH
 *     HTTP/1.1                         -> CHUNKED
 *     HTTP/1.0                         -> CLOSE
 *
 * Nothing here knows of connections, time or the application. */

#ifndef XS_HTTP1_WRITER_H
#define XS_HTTP1_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/error.h"
#include "core/base/queue.h"
#include "core/base/slice.h"
#include "core/http1/head.h"
#include "core/http1/refusal.h"

enum xs_writer_state {
    XS_WRITER_IDLE,    /* nothing said yet */
    XS_WRITER_HEAD,    /* started; the head is held back */
    XS_WRITER_BODY,    /* the head is out */
    XS_WRITER_TRAILER, /* the body is whole; trailers are awaited */
    XS_WRITER_DONE,    /* complete */
};

struct xs_writer {
    /* Set by xs_writer_begin for the whole response. */
    unsigned minor;         /* of the request */
    bool is_head;           /* it was a HEAD: no body goes out */
    bool keep_alive;        /* in: we could; out, after the head: we will */
    struct xs_slice common; /* borrowed: "date: …\r\nserver: …\r\n", or less;
                              * each line is left out if the application has
                              * its own. Date comes first. */

    enum xs_writer_state state;
    enum xs_framing framing;
    unsigned status;
    uint64_t left;       /* of Content-Length, with has_length */
    uint64_t body_bytes; /* body bytes accepted from the application */
    bool has_length;     /* the application gave Content-Length */
    bool has_date;       /* likewise: ours are left out */
    bool has_server;
    bool close;          /* the application wants the connection to end */
    bool bodiless;       /* 204, 205, 304 */
    bool trailing;       /* trailers end the response, not the last body */
    bool sends_trailers; /* and they go out */
    size_t trailer_len;  /* bytes of them so far */
};

/* Be ready for a new response. */
void xs_writer_begin(struct xs_writer *writer, unsigned minor, bool is_head,
                     bool keep_alive, struct xs_slice common);

/* See xs_response_start, xs_response_header and xs_response_body in gateway.h
 * for the rules and the errors. A second start drops the head given before. */
XS_MUST_CHECK int xs_writer_start(struct xs_writer *writer,
                                  struct xs_queue *queue, unsigned status,
                                  struct xs_slice reason);
XS_MUST_CHECK int xs_writer_header(struct xs_writer *writer,
                                   struct xs_queue *queue, struct xs_slice name,
                                   struct xs_slice value);

/* `more` false ends the response: XS_WRITER_DONE. A fault leaves the queue
 * with whole pieces only: nothing of this call is in it. The body of a
 * response that may have none (HEAD, 204, 205, 304) is counted and dropped. */
XS_MUST_CHECK int xs_writer_body(struct xs_writer *writer,
                                 struct xs_queue *queue,
                                 const struct xs_lent *lent, bool more);

/* A whole error response with a plain text body. `writer` was begun and its
 * head has not left; a head that is held is dropped. keep_alive false says
 * "connection: close".
 *
 * Errors: XS_ENOMEM */
XS_MUST_CHECK int xs_writer_refuse(struct xs_writer *writer,
                                   struct xs_queue *queue, enum xs_refusal why);

/* "HTTP/1.1 100 Continue\r\n\r\n", in front of a head that is held. Errors:
 * XS_ENOMEM */
XS_MUST_CHECK int xs_writer_continue(struct xs_queue *queue);

/* Bytes that xs_writer_common needs, and the longest name that it takes. */
#define XS_COMMON_MAX 128
#define XS_SERVER_NAME_MAX 64

/* Render "date: …\r\nserver: …\r\n" for `wall_ns`; `server` empty, or
 * longer than XS_SERVER_NAME_MAX, leaves that line out. The length. */
size_t xs_writer_common(char out[XS_COMMON_MAX], uint64_t wall_ns,
                        struct xs_slice server);

#endif
