/* gateway.h - what an application side must do: the contract upwards.
 *
 * The core turns bytes into requests and hands each to the gateway, which
 * calls the application and answers with the functions below. The core has
 * never heard of Python.
 *
 *     core                                  gateway
 *     ----                                  -------
 *     on_request(gw, req)             -->   call the application
 *     on_body(req)                    -->   more of the body may be taken
 *     on_drain(req)                   -->   the response may go on
 *     on_eof(req)                     -->   the peer sends no more
 *     on_abort(req, why)              -->   it is over; forget `req`
 *
 *     xs_request_body, xs_request_body_consume      <-- take the body
 *     xs_response_hint                              <-- before the answer
 *     xs_response_start, _header, _body, _flush     <-- answer
 *     xs_response_expect_trailers, _trailers        <-- behind the body
 *     xs_response_fail                              <-- cannot answer
 *
 * The rules. Each has a test in tests/contract.
 *
 *   1. One thread: everything here is called on the backend's thread.
 *   2. No re-entry. No function below calls the gateway before it returns.
 *      The gateway may call any of them inside any `on_...` but on_abort.
 *   3. A request is the gateway's from `on_request` until it has ended:
 *      `xs_response_body` with `more` false returned 0, `xs_response_fail`
 *      returned, or `on_abort` came. After that it does not touch `req`, and
 *      nothing comes for it.
 *   4. What `req->head` points at is borrowed until `on_request` returns.
 *   5. At most one request of a connection is at the gateway.
 *   6. `on_body` comes once, some time after `xs_request_body` said
 *      XS_BODY_WAIT, when it would say something else. It may be spurious. A
 *      body is looked at when it is asked for: not before that does one that
 *      is malformed or too large end the request.
 *   7. `on_drain` comes once, some time after `xs_response_full` was true,
 *      when it is false again; it comes to a request that has not ended. What
 *      is held back, the head, does not count.
 *   8. `on_eof` comes at most once, and only after the whole request has
 *      arrived: the peer has closed its side, or all of it. Writing may still
 *      work. A peer that ends inside its request gives `on_abort`.
 *   9. `on_abort` comes at most once, and is the last word. Its reason says
 *      why. Whatever the gateway lent is released, then or later.
 *  10. Headers go out in the order in which they were given; the response
 *      reaches the peer as far as it was given before a `fail` or abort.
 *  11. The first call is `xs_response_start`, then headers, then bodies, the
 *      last with `more` false. The head leaves with the first body piece.
 *      Hints come before them all, and each leaves at once. If trailers are
 *      expected the last trailers end the response, not the last body.
 *  12. Until the first `xs_response_body`, `xs_response_start` may be called
 *      again: it drops the head given before.
 *  13. `req->client` is asked for with each request anew, who is trusted once
 *      for a connection. Without a trusted proxy that names somebody it is
 *      NULL. */

#ifndef XS_GATEWAY_H
#define XS_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/queue.h"
#include "core/base/slice.h"
#include "core/http1/head.h"
#include "core/io.h"

struct xs_gateway;
struct xs_request;

/* Why a request ended before its response did. One list for log and code. */
#define XS_ABORTS(X)                                                   \
    X(XS_ABORT_RESET, "reset", "the client reset the connection")      \
    X(XS_ABORT_EOF, "eof", "the client closed inside its request")     \
    X(XS_ABORT_SYNTAX, "syntax", "the request body was malformed")     \
    X(XS_ABORT_LIMIT, "limit", "the request body was too large")       \
    X(XS_ABORT_BODY_TIMEOUT, "body timeout",                           \
      "the request body did not arrive in time")                       \
    X(XS_ABORT_WRITE_TIMEOUT, "write timeout",                         \
      "the client did not take the response in time")                  \
    X(XS_ABORT_BACKLOG, "backlog", "too much waited for slow clients") \
    X(XS_ABORT_SHUTDOWN, "shutdown", "the server is stopping")         \
    X(XS_ABORT_MEMORY, "memory", "out of memory")                      \
    X(XS_ABORT_FILE, "file", "a file ended early or could not be read")

enum xs_abort {
#define X(name, word, text) name,
    XS_ABORTS(X)
#undef X
};

/* The word for logs ("reset") and the sentence, both static. */
const char *xs_abort_word(enum xs_abort why);
const char *xs_abort_text(enum xs_abort why);

struct xs_gateway_ops {
    /* A request whose head is complete and legal. Some or all of its body may
     * be there already. `req->user` is the gateway's to set. */
    void (*on_request)(struct xs_gateway *gateway, struct xs_request *req);
    void (*on_body)(struct xs_request *req);
    void (*on_drain)(struct xs_request *req);
    void (*on_eof)(struct xs_request *req);
    void (*on_abort)(struct xs_request *req, enum xs_abort why);
};

/* Embedded first in the gateway's own struct. */
struct xs_gateway {
    const struct xs_gateway_ops *ops; /* static */
};

/* What a gateway may see of a request. The core's own part is behind it. */
struct xs_request {
    struct xs_gateway *gateway;      /* borrowed */
    const struct xs_head *head;      /* borrowed until on_request returns */
    const struct xs_io_addr *peer;   /* borrowed until the request ends */
    const struct xs_io_addr *local;  /* likewise */
    struct xs_io *io;                /* borrowed */
    uint64_t conn_id;                /* unique for the life of the server */
    void *user;                      /* the gateway's */
    const struct xs_io_addr *client; /* likewise: whom the peer, a proxy that
                                      * is trusted, names as the client of this
                                      * request; port 0: it did not say. NULL:
                                      * the peer is the client */
    bool is_https;    /* likewise: the client spoke TLS to a proxy */
    void **conn_user; /* the gateway's, kept from one request of a connection
                       * to the next; see xs_server.on_conn_close */
};

enum xs_body {
    XS_BODY_DATA, /* `out` holds bytes */
    XS_BODY_WAIT, /* none now; `on_body` will come */
    XS_BODY_END,  /* all of it has been taken */
};

/* The next bytes of the request body, all that are there, borrowed until the
 * gateway returns, asks again or calls `xs_request_body_consume`. With
 * XS_BODY_DATA, `*last` says that nothing follows these. The first call that
 * has to wait sends "100 Continue" if the client asked for it. */
enum xs_body xs_request_body(struct xs_request *req, struct xs_slice *out,
                             bool *last);

/* The first `len` bytes of what `xs_request_body` gave are taken. */
void xs_request_body_consume(struct xs_request *req, size_t len);

/* Say "103 Early Hints" with these fields (RFC 8297) now, as often as there is
 * something to say. Not to HTTP/1.0, nor without any field.
 *
 * Errors: nothing was said
 *   XS_EINVALID  as with xs_response_header, or the name of a field that a 1xx
 *                may not have: framing, the connection
 *   XS_ELIMIT    more than XS_ASIDE_MAX bytes
 *   XS_ESTATE    xs_response_start was called
 *   XS_EGONE, XS_EAGAIN, XS_ENOMEM  see xs_response_body; it may be left out
 *                as well */
XS_MUST_CHECK int xs_response_hint(struct xs_request *req,
                                   const struct xs_field *fields,
                                   unsigned count);

/* Begin the response. `reason` may be empty: the usual phrase is used.
 *
 * Errors:
 *   XS_EINVALID  not 200 to 999, or illegal bytes in the phrase
 *   XS_ESTATE    the head has left already
 *   XS_ENOMEM    no head was begun */
XS_MUST_CHECK int xs_response_start(struct xs_request *req, unsigned status,
                                    struct xs_slice reason);

/* Add a header field. `content-length` is honoured; `transfer-encoding`,
 * `connection: close` and `keep-alive` are understood and not repeated; of
 * `date` and `server` the first is sent and no further one.
 *
 * Errors: the field was not added
 *   XS_EINVALID  the name is no token, or the value has CR, LF or NUL, or a
 *                second or malformed Content-Length
 *   XS_ESTATE    not between start and the first body piece
 *   XS_ENOMEM    */
XS_MUST_CHECK int xs_response_header(struct xs_request *req,
                                     struct xs_slice name,
                                     struct xs_slice value);

/* Add body bytes, may be none; `more` false ends the response and the request.
 * Short ones are copied at once. Long ones are taken by reference if
 * `lent->release` is set (it is called exactly once, maybe before this
 * returns) and copied otherwise. A range of a file (queue.h) is always taken
 * so, and its `release` is set; if it ends early or cannot be read, the
 * response ends so that the client can tell, and the request, if it has not
 * ended, with XS_ABORT_FILE.
 *
 * Errors: nothing was taken, `release` is not called
 *   XS_ESTATE   no xs_response_start before it
 *   XS_ELENGTH  more, or at the end less, than Content-Length: fail it
 *   XS_EGONE    the peer is gone; `on_abort` is on its way
 *   XS_EAGAIN   the queue is over its high mark: wait for on_drain
 *   XS_ENOMEM   fail it */
XS_MUST_CHECK int xs_response_body(struct xs_request *req,
                                   const struct xs_lent *lent, bool more);

/* Fields will follow the body: `xs_response_trailers` with `more` false ends
 * the response and the request, and not `xs_response_body`. If the client takes
 * them (TE: trailers) and the response may be chunked, it is.
 *
 * Errors: XS_ESTATE: not between start and the first body piece. */
XS_MUST_CHECK int xs_response_expect_trailers(struct xs_request *req);

/* Add trailer fields behind the last body piece. They leave with the end, in
 * order; to a client that does not take them, or behind a body that is not
 * chunked, not at all. Never waits.
 *
 * Errors: nothing was taken
 *   XS_EINVALID  as with xs_response_header, or a field that may not be in a
 *                trailer (RFC 9110 6.5.1)
 *   XS_ELIMIT    all of them are more than XS_ASIDE_MAX bytes
 *   XS_ESTATE    not behind the last body piece of a response that expects them
 *   XS_EGONE, XS_ENOMEM  see xs_response_body */
XS_MUST_CHECK int xs_response_trailers(struct xs_request *req,
                                       const struct xs_field *fields,
                                       unsigned count, bool more);

/* The queue is over its high mark: wait for `on_drain` before more. */
bool xs_response_full(const struct xs_request *req);

/* Bytes of the body that the application's Content-Length says are to come yet;
 * UINT64_MAX: it has given none. */
uint64_t xs_response_left(const struct xs_request *req);

/* Hand what is queued to the socket now, as far as it takes it (PEP 3333: a
 * yielded block may not be held back). Errors show at the next body. */
void xs_response_flush(struct xs_request *req);

/* The application failed: a 500 if no byte of the head has been committed,
 * else what was given goes out and the connection ends so that the client
 * can tell. Ends the request. */
void xs_response_fail(struct xs_request *req);

#endif
