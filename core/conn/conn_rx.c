/* conn_rx.c - the way in: socket, block, parser, gateway.
 *
 *     block:  | head | decoded body | gap | not parsed | room |
 *              head_at               parsed^          end^
 *
 * A block is taken when bytes arrive and given back when nothing in it is
 * needed: an idle connection has none. Bytes of the next request wait in it
 * unparsed until the present one is answered. When it is full, reading stops.
 *
 * A body is received when the gateway asks for it, not when it comes: the
 * socket is what reads ahead. So many slow uploads share one block, and that is
 * all the back-pressure there is. */

#include <string.h>

#include "core/conn/access.h"
#include "core/conn/conn.h"
#include "core/http1/hosts.h"

/* Whether the block can take more bytes. */
static bool rx_has_room(const struct xs_conn *conn)
{
    const struct xs_parser *parser = &conn->rx.parser;
    size_t unparsed = conn->rx.end - conn->rx.parsed;

    switch (conn->state) {
        case XS_CONN_IDLE:
        case XS_CONN_ACTIVE:
        case XS_CONN_REST:
            return parser->body_len + unparsed < XS_RX_BLOCK;
        case XS_CONN_HEAD:
            return conn->rx.end - conn->rx.head_at < XS_RX_BLOCK;
        case XS_CONN_LINGER:
            return true;
        case XS_CONN_CLOSING:
        case XS_CONN_CLOSED:
        case XS_CONN_STATE_COUNT:
            return false;
    }
    XS_UNREACHABLE();
}

/* Whether what comes stays in the socket until the gateway asks. Behind a peer
 * that has hung up comes no more than is there: its end is to be found. */
static bool rx_leaves(const struct xs_conn *conn)
{
    return conn->state == XS_CONN_ACTIVE && conn->rx.message &&
           !conn->rx.hangup;
}

bool xs_rx_listens(const struct xs_conn *conn)
{
    return rx_has_room(conn) && !(conn->rx.ahead && rx_leaves(conn));
}

/* Move what is needed to the start of the block. */
static void rx_compact(struct xs_conn *conn)
{
    struct xs_parser *parser = &conn->rx.parser;
    uint8_t *block = conn->rx.block;
    size_t unparsed = conn->rx.end - conn->rx.parsed;

    if (conn->state == XS_CONN_HEAD) {
        size_t at = conn->rx.head_at;
        memmove(block, block + at, conn->rx.end - at);
        xs_parser_rebase(parser, -(ptrdiff_t)at);
        conn->rx.head_at = 0;
        conn->rx.parsed -= at;
        conn->rx.end -= at;
        return;
    }
    if (parser->body_len > 0) {
        memmove(block, parser->body, parser->body_len);
        parser->body = block;
    }
    memmove(block + parser->body_len, block + conn->rx.parsed, unparsed);
    conn->rx.head_at = 0;
    conn->rx.parsed = parser->body_len;
    conn->rx.end = conn->rx.parsed + unparsed;
}

/* There is a block with room in it. False if there is no memory. */
static bool rx_make_room(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;

    if (conn->rx.block == NULL) {
        conn->rx.block = xs_pool_take(&server->block_pool);
        if (conn->rx.block == NULL) {
            return false;
        }
        conn->rx.head_at = 0;
        conn->rx.parsed = 0;
        conn->rx.end = 0;
    }
    if (conn->rx.end == XS_RX_BLOCK) {
        rx_compact(conn);
    }
    return true;
}

/* The peer's stream has ended. */
static void rx_ended(struct xs_conn *conn, int64_t result)
{
    conn->rx.eof = true;
    xs_io_note(conn->server->io, "conn.eof", conn->id, (uint64_t)-result);
    if (result != 0) {
        xs_tx_break(conn);
    }
}

void xs_rx_look(struct xs_conn *conn)
{
    int64_t got;

    conn->rx.ahead = false;
    if (!rx_has_room(conn) || conn->rx.eof) {
        return;
    }
    if (!rx_make_room(conn)) {
        xs_tx_starve(conn);
        return;
    }
    got = conn->server->io->ops->recv(conn->io, conn->rx.block + conn->rx.end,
                                      XS_RX_BLOCK - conn->rx.end);
    if (got == XS_EAGAIN) {
        return;
    }
    if (got <= 0) {
        rx_ended(conn, got);
        return;
    }
    conn->rx.progress = true;
    if (conn->state == XS_CONN_LINGER) {
        /* Of no use, but a reset could take our answer with it: no count of
         * bytes ends this, only XS_DEADLINE_LINGER. */
        conn->rx.discarded += (uint64_t)got;
        return;
    }
    conn->rx.end += (size_t)got;
}

void xs_rx_receive(struct xs_conn *conn)
{
    if (rx_leaves(conn)) {
        conn->rx.ahead = true;
    } else {
        xs_rx_look(conn);
    }
}

void xs_rx_hangup(struct xs_conn *conn)
{
    if ((conn->wanted & XS_IO_READ) != 0) {
        xs_rx_receive(conn);
    } else {
        conn->rx.hangup = true;
    }
}

bool xs_rx_progressed(struct xs_conn *conn)
{
    bool progress = conn->rx.progress;

    conn->rx.progress = false;
    return progress;
}

void xs_rx_take(struct xs_conn *conn, size_t len)
{
    xs_parser_take(&conn->rx.parser, len);
}

void xs_rx_end(struct xs_conn *conn)
{
    xs_rx_take(conn, conn->rx.parser.body_len);
    conn->rx.progress = true;
}

void xs_rx_discard(struct xs_conn *conn)
{
    conn->rx.discarded = 0;
}

void xs_rx_refuse(struct xs_conn *conn, enum xs_refusal why)
{
    struct xs_server *server = conn->server;
    struct xs_writer *writer = &conn->tx.writer;
    const struct xs_parser *parser = &conn->rx.parser;
    /* A busy server may refuse what has ended already. */
    bool is_head = why == XS_REFUSE_BUSY ? parser->head.is_head
                                         : xs_parser_is_head(parser);
    int err;

    xs_access_sent(conn);
    xs_writer_begin(writer, 1, is_head, false, xs_server_common(server));
    err = xs_writer_refuse(writer, &conn->tx.queue, why);
    xs_server_refused(conn, why, err == 0);
    xs_access_refused(conn, why);
    xs_conn_shut(conn, err == 0 ? XS_CONN_END_LINGER : XS_CONN_END_RESET);
}

/* The table of fields for the message that begins. */
static bool rx_take_fields(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;

    if (conn->rx.fields == NULL) {
        conn->rx.fields = xs_pool_take(&server->field_pool);
        if (conn->rx.fields == NULL) {
            return false;
        }
        xs_parser_fields(&conn->rx.parser, conn->rx.fields,
                         server->config.limits.request_fields_max);
    }
    return true;
}

static void rx_give_fields(struct xs_conn *conn)
{
    if (conn->rx.fields != NULL) {
        xs_pool_give(&conn->server->field_pool, conn->rx.fields);
        conn->rx.fields = NULL;
    }
}

/* Parse once. Notes where the message is. */
static enum xs_parse rx_feed(struct xs_conn *conn)
{
    size_t used = 0;
    enum xs_parse result;

    result = xs_parser_feed(&conn->rx.parser, conn->rx.block + conn->rx.parsed,
                            conn->rx.end - conn->rx.parsed, &used);
    XS_ASSERT(used <= conn->rx.end - conn->rx.parsed);
    conn->rx.parsed += used;
    if (result == XS_PARSE_END) {
        conn->rx.message = false;
    }
    return result;
}

void xs_rx_pull(struct xs_conn *conn)
{
    bool filled;

    if (!conn->rx.ahead || conn->rx.pulled || conn->rx.refused) {
        return;
    }
    XS_ASSERT(conn->rx.message);
    xs_rx_look(conn);
    filled = conn->rx.end == XS_RX_BLOCK;
    conn->rx.pulled = true;
    conn->rx.refused =
        conn->rx.parsed < conn->rx.end && rx_feed(conn) == XS_PARSE_REFUSE;
    /* Then there is more: the backend need not be asked. */
    conn->rx.ahead = filled && conn->rx.message;
    xs_conn_dirty(conn);
}

/* A head is complete: take in what else is here of the message, so that a
 * small body is known with the head, and hand it on. */
static void rx_begin(struct xs_conn *conn)
{
    const struct xs_server *server = conn->server;
    unsigned max = server->config.limits.requests_max;
    enum xs_parse result;

    if (!xs_hosts_have(server->config.hosts, conn->rx.parser.head.host)) {
        xs_rx_refuse(conn, XS_REFUSE_MISDIRECTED);
        return;
    }
    conn->rx.message = true;
    result = rx_feed(conn);
    if (result == XS_PARSE_REFUSE) {
        xs_rx_refuse(conn, conn->rx.parser.refusal);
        return;
    }
    if (max != 0 && server->stats.requests >= max) {
        xs_rx_refuse(conn, XS_REFUSE_BUSY);
        return;
    }
    xs_request_begin(conn);
    rx_give_fields(conn);
}

/* IDLE or HEAD: look for a head, and hand it on. */
static void rx_advance_head(struct xs_conn *conn)
{
    struct xs_parser *parser = &conn->rx.parser;

    if (conn->state == XS_CONN_IDLE) {
        conn->rx.head_at = conn->rx.parsed;
        if (!rx_take_fields(conn)) {
            xs_tx_starve(conn);
            return;
        }
    }
    switch (rx_feed(conn)) {
        case XS_PARSE_MORE:
            if (!parser->began) {
                conn->rx.head_at = conn->rx.parsed;
                return;
            }
            if (conn->state == XS_CONN_IDLE) {
                xs_conn_go(conn, XS_CONN_HEAD);
            }
            if (!rx_has_room(conn)) {
                xs_rx_refuse(conn, XS_REFUSE_HEAD_SIZE);
            }
            return;
        case XS_PARSE_HEAD:
            rx_begin(conn);
            return;
        case XS_PARSE_REFUSE:
            xs_rx_refuse(conn, parser->refusal);
            return;
        case XS_PARSE_END:
            break;
    }
    XS_UNREACHABLE();
}

/* ACTIVE: end the request if its body will never be whole. */
static void rx_advance_torn(struct xs_conn *conn)
{
    if (conn->rx.refused) {
        enum xs_refusal refusal = conn->rx.parser.refusal;
        conn->rx.refused = false;
        xs_conn_abort(
            conn,
            refusal == XS_REFUSE_BODY_SIZE ? XS_ABORT_LIMIT : XS_ABORT_SYNTAX,
            refusal);
    } else if (conn->rx.message && conn->rx.eof && !conn->tx.broken) {
        xs_conn_abort(conn, XS_ABORT_EOF, XS_REFUSE_NOT);
    }
}

/* ACTIVE: more of the body, if the message goes on. */
static void rx_advance_body(struct xs_conn *conn)
{
    conn->rx.pulled = false;
    if (conn->rx.message && conn->rx.parsed < conn->rx.end &&
        !conn->rx.refused) {
        conn->rx.refused = rx_feed(conn) == XS_PARSE_REFUSE;
    }
    rx_advance_torn(conn);
    if (conn->state == XS_CONN_ACTIVE) {
        xs_request_notify(conn);
    }
    if (conn->state == XS_CONN_ACTIVE) {
        rx_advance_torn(conn); /* the gateway has pulled */
    }
}

/* REST: throw the rest of the body away. True if it has ended. */
static bool rx_advance_rest(struct xs_conn *conn)
{
    if (conn->rx.parsed < conn->rx.end || conn->rx.refused) {
        size_t before = conn->rx.parsed;
        if (conn->rx.refused || rx_feed(conn) == XS_PARSE_REFUSE) {
            xs_server_refused(conn, conn->rx.parser.refusal, false);
            xs_conn_shut(conn, XS_CONN_END_LINGER);
            return false;
        }
        conn->rx.discarded += conn->rx.parsed - before;
        xs_parser_take(&conn->rx.parser, conn->rx.parser.body_len);
    }
    if (!conn->rx.message) {
        xs_conn_go(conn, XS_CONN_IDLE);
        return true;
    }
    if (conn->rx.eof || conn->rx.discarded > XS_DISCARD_CHUNKED_MAX) {
        xs_conn_shut(conn, XS_CONN_END_LINGER);
    }
    return false;
}

static bool rx_is_dry(const struct xs_conn *conn)
{
    return conn->rx.parsed == conn->rx.end;
}

bool xs_rx_is_silent(struct xs_conn *conn)
{
    if (rx_is_dry(conn)) {
        xs_rx_receive(conn);
    }
    return rx_is_dry(conn);
}

bool xs_rx_is_fresh(const struct xs_conn *conn)
{
    const struct xs_server *server = conn->server;
    uint64_t now = server->io->ops->now(server->io);

    XS_ASSERT(server->state == XS_SERVER_STOPPING);
    return conn->receiving_kind == XS_DEADLINE_HEAD &&
           now < server->stop_at_ns &&
           now < conn->receiving_ns + XS_STOP_FRESH_NS;
}

/* Whether IDLE or HEAD may look for a request now. When none can come any
 * more, this is the end, however much is still to be written. */
static bool rx_may_begin(struct xs_conn *conn)
{
    const struct xs_server *server = conn->server;

    if (rx_is_dry(conn) && conn->rx.eof) {
        xs_conn_shut(conn, XS_CONN_END_CLOSE);
        return false;
    }
    if (conn->state == XS_CONN_IDLE && server->state != XS_SERVER_RUNNING &&
        !xs_rx_is_fresh(conn) && xs_rx_is_silent(conn)) {
        xs_conn_shut(conn, XS_CONN_END_RESTING);
        return false;
    }
    return !rx_is_dry(conn) && !xs_tx_is_over(conn);
}

bool xs_rx_may_advance(const struct xs_conn *conn)
{
    return conn->state == XS_CONN_IDLE && conn->rx.parsed < conn->rx.end &&
           !xs_tx_is_over(conn);
}

bool xs_rx_advance(struct xs_conn *conn)
{
    for (unsigned i = 0; i < XS_PIPELINE_TURN; i++) {
        switch (conn->state) {
            case XS_CONN_IDLE:
            case XS_CONN_HEAD:
                if (conn->tx.broken || conn->tx.torn || !rx_may_begin(conn)) {
                    return false;
                }
                rx_advance_head(conn);
                break;
            case XS_CONN_ACTIVE:
                if (!conn->tx.broken) {
                    rx_advance_body(conn);
                }
                if (conn->state == XS_CONN_ACTIVE) {
                    return conn->gw.wait_body && conn->rx.ahead;
                }
                break;
            case XS_CONN_REST:
                if (conn->tx.broken || !rx_advance_rest(conn)) {
                    return false;
                }
                break;
            case XS_CONN_LINGER:
                if (conn->rx.eof) {
                    xs_conn_close(conn, conn->tx.broken);
                }
                return false;
            case XS_CONN_CLOSING:
            case XS_CONN_CLOSED:
                return false;
            case XS_CONN_STATE_COUNT:
                XS_UNREACHABLE();
        }
    }
    return true;
}

void xs_rx_free(struct xs_conn *conn)
{
    rx_give_fields(conn);
    if (conn->rx.block != NULL) {
        xs_pool_give(&conn->server->block_pool, conn->rx.block);
        conn->rx.block = NULL;
    }
    conn->rx.head_at = 0;
    conn->rx.parsed = 0;
    conn->rx.end = 0;
    conn->rx.parser.body = NULL;
    conn->rx.parser.body_len = 0;
}

void xs_rx_settle(struct xs_conn *conn)
{
    if (conn->state == XS_CONN_HEAD) {
        return;
    }
    rx_give_fields(conn);
    if (conn->rx.block != NULL && conn->rx.parsed == conn->rx.end &&
        conn->rx.parser.body_len == 0) {
        xs_pool_give(&conn->server->block_pool, conn->rx.block);
        conn->rx.block = NULL;
        conn->rx.head_at = 0;
        conn->rx.parsed = 0;
        conn->rx.end = 0;
    }
}
