/* conn.h - one connection: the assembly line from socket to gateway and back.
 *
 *     conn_rx.c   socket ──▶ block ──▶ parser ──▶ request.c ──▶ gateway
 *     conn_tx.c   socket ◀── queue ◀── writer ◀── response.c ◀── gateway
 *     conn_time.c the deadlines of both
 *     conn.c      the state, the turn that runs both
 *
 * The happy path of one turn:
 *
 *   1. The backend says readable. conn_rx receives into a block.
 *   2. The parser finds a head; the request goes to the gateway.
 *   3. The gateway answers, now or later; the writer fills the queue.
 *   4. Next request in the block, if any: again from 2.
 *   5. conn_tx hands all of it to the socket in one write.
 *   6. Interest and deadlines follow from the state (conn_settle).
 *
 * An answer that comes later marks the connection dirty; the turn then runs
 * from step 4 before the backend blocks.
 *
 * What goes wrong:
 *
 *   - the peer is malformed or late: a refusal goes out, the connection
 *     closes behind it, lingering so that the peer can read it;
 *   - the peer ends or resets inside a request: the gateway is told;
 *   - the socket takes no more: the queue fills, the gateway waits for a
 *     drain; past the write deadline the connection is reset;
 *   - the application fails: a 500, or an end that the peer can tell;
 *   - a file of a response is shorter than was said, or cannot be read: an end
 *     that the peer can tell.
 *
 * The states, and the only moves between them:
 *
 *     IDLE    -> HEAD     the first byte of a request
 *     IDLE    -> ACTIVE   a whole head in one read
 *     HEAD    -> ACTIVE   the head is complete and legal
 *     ACTIVE  -> IDLE     answered; the connection lives on
 *     ACTIVE  -> REST     answered before the request's body has ended
 *     REST    -> IDLE     it has ended now
 *     any but CLOSING, LINGER -> CLOSING  no further request; output goes out
 *     CLOSING -> LINGER   all is out and our stream ended; the peer's has not
 *     any     -> CLOSED   gone */

#ifndef XS_CONN_CONN_H
#define XS_CONN_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/deadline.h"
#include "core/base/list.h"
#include "core/base/queue.h"
#include "core/conn/server.h"
#include "core/gateway.h"
#include "core/http1/parser.h"
#include "core/http1/writer.h"
#include "core/io.h"

enum xs_conn_state {
    XS_CONN_IDLE,    /* between requests */
    XS_CONN_HEAD,    /* a part of a request head is here */
    XS_CONN_ACTIVE,  /* a request is at the gateway */
    XS_CONN_REST,    /* the rest of an answered request is thrown away */
    XS_CONN_CLOSING, /* what is queued goes out, nothing comes in */
    XS_CONN_LINGER,  /* what the peer still sends is thrown away */
    XS_CONN_CLOSED,  /* gone; freed before the backend blocks */
    XS_CONN_STATE_COUNT
};

/* How a connection in CLOSING ends once its queue is empty. */
enum xs_conn_end {
    XS_CONN_END_CLOSE,   /* at once: the peer sends nothing that we leave */
    XS_CONN_END_RESTING, /* at once if the peer has got all that we wrote: a
                          * request that it sends meanwhile would make the
                          * system throw away what is on the way */
    XS_CONN_END_LINGER,  /* the peer may still be sending */
    XS_CONN_END_RESET,   /* it must not look complete */
};

/* Owned by the server's connection list from accept until CLOSED, then by the
 * dirty list until it is freed. */
struct xs_conn {
    /* Fixed at accept. */
    struct xs_io_conn *io;     /* the backend's until close; then NULL */
    struct xs_server *server;  /* borrowed */
    uint64_t id;               /* unique for the life of the server; for logs */
    struct xs_io_addr *client; /* owned; NULL unless the peer is a proxy that
                                * is trusted: the client of its request */
    struct xs_list link;       /* xs_server.conns */

    /* Written only by conn.c. */
    enum xs_conn_state state;
    enum xs_conn_end end;
    unsigned wanted;      /* what the backend was last asked to tell */
    size_t backlog;       /* its part of xs_server_stats.backlog */
    bool in_turn;         /* a turn runs: no need to ask for another */
    struct xs_list dirty; /* xs_server.dirty */

    /* Written only by conn_time.c. */
    struct xs_deadline receiving; /* xs_deadlines.lists */
    unsigned receiving_kind;      /* its kind while armed */
    uint64_t receiving_ns;        /* when it began; it may be switched off */
    struct xs_deadline writing;   /* xs_deadlines.lists */
    int64_t unacked;              /* by the peer, when it was armed */
    unsigned stalls;              /* parts of it without progress, in a row */

    /* Written only by conn_rx.c. */
    struct {
        struct xs_parser parser;
        uint8_t *block;          /* owned while not NULL; XS_RX_BLOCK bytes */
        struct xs_field *fields; /* owned while not NULL */
        size_t head_at;     /* in block: where the present message begins */
        size_t parsed;      /* in block: first byte not parsed */
        size_t end;         /* in block: one past the last byte received */
        uint64_t discarded; /* bytes thrown away in REST or LINGER */
        bool message;       /* a message has begun and not ended */
        bool eof;           /* the peer's stream has ended */
        bool hangup;        /* it was told while reading was paused */
        bool ahead;         /* bytes of the body wait in the socket */
        bool pulled;        /* some were received in this turn */
        bool refused;       /* the body that was pulled is malformed */
        bool progress;      /* see xs_rx_progressed */
    } rx;

    /* Written only by conn_tx.c, and the writer by response.c. */
    struct {
        struct xs_queue queue;
        struct xs_writer writer;
        size_t turn_bytes; /* written in this turn of the backend */
        bool progress;     /* see xs_tx_progressed */
        bool blocked;      /* the socket took less than we had, or we have had
                            * our turn */
        bool broken;       /* nothing can be written any more */
        bool starved;      /* broken for want of memory, not by the peer */
        bool torn;         /* a file ended early or could not be read: what
                            * waits will never be complete */
        bool full;         /* over the high mark; a drain is owed */
    } tx;

    /* Written only by request.c. */
    struct xs_request request;
    struct {
        bool wait_body;     /* on_body is owed */
        bool continue_owed; /* the client waits for "100 Continue" */
        bool eof_told;      /* on_eof was called */
        unsigned number;    /* of the connection's requests, from 1 */
    } gw;

    /* Written only by access.c. */
    struct {
        uint64_t start_ns;
        bool untold;      /* a request has ended, and the log was not told */
        const char *why;  /* how, while untold; NULL: well */
        char *text;       /* owned: what is kept of the heads */
        size_t text_head; /* bytes of it that are the request's */
        size_t text_len;
        size_t text_cap;
    } log;

    /* Written by the gateway. */
    void *conn_user; /* NULL when it was told that the connection is gone */
};

static inline struct xs_conn *xs_conn_of(const struct xs_request *req)
{
    return xs_container_of(req, struct xs_conn, request);
}

/* conn.c */

/* Take over an accepted connection. Takes `io` on success.
 *
 * Errors: XS_ENOMEM */
XS_MUST_CHECK int xs_conn_open(struct xs_server *server, struct xs_io_conn *io);

/* Free a CLOSED connection. */
void xs_conn_free(struct xs_conn *conn);

/* Change the state, along the list above. */
void xs_conn_go(struct xs_conn *conn, enum xs_conn_state next);

/* No further request; once the queue is empty end like this. A stronger end
 * (later in the enum) that was set before stays. */
void xs_conn_shut(struct xs_conn *conn, enum xs_conn_end end);

/* Gone, now: everything is released but the struct. */
void xs_conn_close(struct xs_conn *conn, bool abort);

/* There is work for a turn before the backend blocks. */
void xs_conn_dirty(struct xs_conn *conn);

/* Read what is in the block, write what is queued, settle. */
void xs_conn_turn(struct xs_conn *conn);

/* What waits for this client is too much, or has waited too long: it is lost,
 * and the connection reset, for `why`. Never inside a call of the gateway's. */
void xs_conn_drop(struct xs_conn *conn, enum xs_abort why);

/* Likewise, without the turn that follows. */
void xs_conn_lose(struct xs_conn *conn, enum xs_abort why);

/* The request at the gateway, if any, is over for `why`; an answer goes out
 * if none has begun and `refusal` says which. Never inside a call of the
 * gateway's. */
void xs_conn_abort(struct xs_conn *conn, enum xs_abort why,
                   enum xs_refusal refusal);

/* conn_rx.c */

/* There are bytes: receive once into the block, unless they are of a body that
 * the gateway is to ask for. */
void xs_rx_receive(struct xs_conn *conn);

/* Receive once into the block what may have come, asked for or not. */
void xs_rx_look(struct xs_conn *conn);

/* The gateway asks: receive what is known to wait in the socket, once in a
 * turn. Calls nobody back. */
void xs_rx_pull(struct xs_conn *conn);

/* The backend says that the peer has hung up. */
void xs_rx_hangup(struct xs_conn *conn);

/* The server is stopping: whether a head is waited for since so short a time
 * that it may be on its way. */
bool xs_rx_is_fresh(const struct xs_conn *conn);

/* Before IDLE or HEAD ends for its time: nothing has come meanwhile. The
 * server may have been busy with others. */
bool xs_rx_is_silent(struct xs_conn *conn);

/* Parse what is there and hand on what comes of it, within a budget. True if
 * there is more to do at once. */
bool xs_rx_advance(struct xs_conn *conn);

/* Whether a request waits in the block for nothing but its turn. */
bool xs_rx_may_advance(const struct xs_conn *conn);

/* Whether to be told of bytes. */
bool xs_rx_listens(const struct xs_conn *conn);

/* Whether bytes came, or a request ended, since this was last asked. */
bool xs_rx_progressed(struct xs_conn *conn);

/* The gateway has taken `len` bytes of the body. */
void xs_rx_take(struct xs_conn *conn, size_t len);

/* The request is over: what is here of its body is not wanted, and a new wait
 * begins for the peer. */
void xs_rx_end(struct xs_conn *conn);

/* What comes from now on is thrown away, and counted. */
void xs_rx_discard(struct xs_conn *conn);

/* Give back what is not needed between turns. */
void xs_rx_settle(struct xs_conn *conn);
void xs_rx_free(struct xs_conn *conn);

/* Refuse what the peer sent: answer, tell the server, close behind it. No
 * request is at the gateway. */
void xs_rx_refuse(struct xs_conn *conn, enum xs_refusal why);

/* conn_tx.c */

/* The backend calls: so much may be written again. */
void xs_tx_turn(struct xs_conn *conn);

/* It says that the socket takes more. */
void xs_tx_writable(struct xs_conn *conn);

/* Nothing can be written any more: the peer is gone; or there is no memory for
 * it, and load is shed. The turn ends the connection. */
void xs_tx_break(struct xs_conn *conn);
void xs_tx_starve(struct xs_conn *conn);

/* Hand the ready bytes to the socket as far as it takes them. Calls nobody
 * back. */
void xs_tx_flush(struct xs_conn *conn);

/* Likewise those of the last XS_TX_TOGETHER dirty connections. Whoever answers
 * on another one has left them: no piece follows without a wait. */
void xs_tx_flush_dirty(struct xs_server *server);

/* A request begins: no drain is owed to it. */
void xs_tx_begin(struct xs_conn *conn);

/* Bytes were queued: flush if they are many; note if they are too many. */
void xs_tx_pushed(struct xs_conn *conn);

/* Whether as much waits as may: nothing more is begun. */
bool xs_tx_is_over(const struct xs_conn *conn);

/* What waits is never sent: the end of the response is lost. */
void xs_tx_drop(struct xs_conn *conn);

/* The drain that is owed, if it is due. True if it was given. */
bool xs_tx_drain(struct xs_conn *conn);

/* Whether bytes went since this was last asked. */
bool xs_tx_progressed(struct xs_conn *conn);

/* The write deadline has passed: true if the peer took nothing since. */
bool xs_tx_stalled(const struct xs_conn *conn);

/* conn_time.c */

void xs_time_init(struct xs_conn *conn);

/* The peer may take its time, on its way in or on both. */
void xs_time_disarm_receiving(struct xs_conn *conn);
void xs_time_disarm(struct xs_conn *conn);

/* The deadlines follow from the state. */
void xs_time_settle(struct xs_conn *conn);

/* That of `kind` has passed. */
void xs_time_expire(struct xs_conn *conn, enum xs_deadline_kind kind);

/* request.c */

/* Asked once for a connection: whether its requests may name their client. */
bool xs_request_is_proxied(const struct xs_server *server,
                           const struct xs_io_conn *io);

/* Whom the peer, if it is a proxy, names as the client of the parsed head,
 * which is legal; or NULL. Borrowed until the next call. `*https` is set if
 * the client spoke TLS. */
const struct xs_io_addr *xs_request_client(struct xs_conn *conn, bool *https);

/* Hand the parsed head to the gateway. */
void xs_request_begin(struct xs_conn *conn);

/* The request is over at the gateway, for the reason `why` (static); NULL: it
 * was answered. */
void xs_request_end(struct xs_conn *conn, const char *why);

/* Tell the gateway what it waits for, if it is there. */
void xs_request_notify(struct xs_conn *conn);

/* response.c */

/* Be ready for the response to the present request. */
void xs_response_begin(struct xs_conn *conn);

/* How the connection ends behind a part of a response: that this ends too
 * early shows, unless its end is that of the stream. */
enum xs_conn_end xs_response_torn_end(const struct xs_conn *conn);

/* The request is aborted. If its response has not begun to leave, drop it, and
 * answer `refusal` instead, if it is one. XS_EGONE: nothing was answered. */
XS_MUST_CHECK int xs_response_abort(struct xs_conn *conn,
                                    enum xs_refusal refusal);

/* server.c */

/* "date: …\r\nserver: …\r\n" for now. Borrowed until the next call. */
struct xs_slice xs_server_common(struct xs_server *server);

/* A deadline at `at_ns` was armed: the backend shall wake us by then. */
void xs_server_alarm(struct xs_server *server, uint64_t at_ns);

/* Count and tell a refusal. See xs_server_events.refused. */
void xs_server_refused(struct xs_conn *conn, enum xs_refusal why,
                       bool answered);

/* The server is stopping: look at its connections at `at_ns`, or a little
 * later. */
void xs_server_look(struct xs_server *server, uint64_t at_ns);

/* Of the bytes that wait for clients, `before` have become `after`. */
void xs_server_backlog(struct xs_server *server, size_t before, size_t after);

/* A connection is gone. */
void xs_server_closed(struct xs_server *server, struct xs_conn *conn);

#endif
