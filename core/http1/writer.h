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
    XS_WRITER_IDLE, /* nothing said yet */
    XS_WRITER_HEAD, /* started; the head is held back */
    XS_WRITER_BODY, /* the head is out */
    XS_WRITER_DONE, /* complete */
};

struct xs_writer {
    /* Set by xs_writer_begin for the whole response. */
    unsigned minor;         /* of the request */
    bool is_head;           /* it was a HEAD: no body goes out */
    bool keep_alive;        /* in: we could; out, after the head: we will */
    struct xs_slice common; /* borrowed: "date: …\r\nserver: …\r\n", or less;
                              * each line is left out if the application has
                              * its own. First line is Date. */

    enum xs_writer_state state;
    enum xs_framing framing;
    unsigned status;
    uint64_t left;       /* of Content-Length, with XS_FRAMING_LENGTH or HEAD */
    uint64_t body_bytes; /* body bytes accepted from the application */
    bool has_length;     /* the application gave Content-Length */
    bool has_date;
    bool has_server;
    bool bodiless; /* 1xx, 204, 304 */
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
 * response that may have none (HEAD, 204, 304) is counted and dropped. */
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

/* "HTTP/1.1 100 Continue\r\n\r\n". Nothing is held. Errors: XS_ENOMEM */
XS_MUST_CHECK int xs_writer_continue(struct xs_queue *queue);

/* The usual phrase of `status` (RFC 9110 15), empty if it has none. */
struct xs_slice xs_writer_phrase(unsigned status);

/* Bytes that xs_writer_common needs. */
#define XS_COMMON_MAX 128

/* Render "date: …\r\nserver: …\r\n" for `wall_ns`; `server` empty leaves that
 * line out. The length. */
size_t xs_writer_common(char out[XS_COMMON_MAX], uint64_t wall_ns,
                        struct xs_slice server);

#endif
