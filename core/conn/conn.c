/* conn.c - one connection: its state, its turn. */

#include "core/conn/conn.h"

#include "core/conn/access.h"

#define BIT(state) (1u << (state))

/* Row: where we are. Bits: where we may go from there. */
static const unsigned conn_moves[XS_CONN_STATE_COUNT] = {
    [XS_CONN_IDLE] = BIT(XS_CONN_HEAD) | BIT(XS_CONN_ACTIVE) |
                     BIT(XS_CONN_CLOSING) | BIT(XS_CONN_CLOSED),
    [XS_CONN_HEAD] =
        BIT(XS_CONN_ACTIVE) | BIT(XS_CONN_CLOSING) | BIT(XS_CONN_CLOSED),
    [XS_CONN_ACTIVE] = BIT(XS_CONN_IDLE) | BIT(XS_CONN_REST) |
                       BIT(XS_CONN_CLOSING) | BIT(XS_CONN_CLOSED),
    [XS_CONN_REST] =
        BIT(XS_CONN_IDLE) | BIT(XS_CONN_CLOSING) | BIT(XS_CONN_CLOSED),
    [XS_CONN_CLOSING] = BIT(XS_CONN_LINGER) | BIT(XS_CONN_CLOSED),
    [XS_CONN_LINGER] = BIT(XS_CONN_CLOSED),
    [XS_CONN_CLOSED] = 0,
};

void xs_conn_go(struct xs_conn *conn, enum xs_conn_state next)
{
    XS_ASSERT(next < XS_CONN_STATE_COUNT);
    XS_ASSERT((conn_moves[conn->state] & BIT(next)) != 0);
    xs_io_note(conn->server->io, "conn.state", conn->id, (uint64_t)next);
    conn->state = next;
    if (next == XS_CONN_ACTIVE) {
        /* The head is here: the deadline of the next one is another one, even
         * if that begins in the same turn. */
        xs_time_disarm_receiving(conn);
    }
}

static void conn_on_ready(struct xs_io_conn *io, unsigned events)
{
    struct xs_conn *conn = io->user;

    XS_ASSERT(conn->state != XS_CONN_CLOSED);
    xs_tx_turn(conn);
    if ((events & XS_IO_WRITE) != 0) {
        xs_tx_writable(conn);
    }
    if ((events & XS_IO_READ) != 0) {
        xs_rx_receive(conn);
    } else if ((events & XS_IO_HANGUP) != 0) {
        xs_rx_hangup(conn);
    }
    xs_conn_turn(conn);
}

int xs_conn_open(struct xs_server *server, struct xs_io_conn *io)
{
    struct xs_conn *conn = xs_pool_take(&server->conn_pool);

    if (conn == NULL) {
        return XS_ENOMEM;
    }
    *conn = (struct xs_conn){.io = io, .server = server};
    if (xs_request_is_proxied(server, io)) {
        conn->client = xs_mem_new(server->io->mem, sizeof *conn->client);
        if (conn->client == NULL) {
            xs_pool_give(&server->conn_pool, conn);
            return XS_ENOMEM;
        }
    }
    conn->id = server->next_id++;
    xs_list_init(&conn->link);
    xs_list_init(&conn->dirty);
    xs_time_init(conn);
    xs_parser_init(&conn->rx.parser, &server->config.limits);
    xs_queue_init(&conn->tx.queue, server->io->mem);
    io->on_ready = conn_on_ready;
    io->user = conn;
    xs_list_append(&server->conns, &conn->link);
    server->stats.connections++;
    server->stats.accepted++;
    xs_io_note(server->io, "conn.open", conn->id, 0);
    xs_conn_turn(conn);
    return 0;
}

/* What the server holds for this client counts for the worker. Of lent bytes
 * no more than the high mark: a larger one is the application's own. Files are
 * no memory. */
static void conn_settle_backlog(struct xs_conn *conn)
{
    size_t high = conn->server->config.limits.tx_high;
    size_t copied = xs_queue_copied(&conn->tx.queue);
    size_t lent = conn->tx.queue.bytes - copied - conn->tx.queue.in_files;
    size_t backlog = copied + (lent < high ? lent : high);

    if (backlog != conn->backlog) {
        xs_server_backlog(conn->server, conn->backlog, backlog);
        conn->backlog = backlog;
    }
}

void xs_conn_close(struct xs_conn *conn, bool abort)
{
    struct xs_server *server = conn->server;

    XS_ASSERT(conn->state != XS_CONN_ACTIVE);
    xs_access_cut(conn, conn->tx.starved ? XS_ABORT_MEMORY : XS_ABORT_RESET);
    xs_conn_go(conn, XS_CONN_CLOSED);
    xs_time_disarm(conn);
    server->io->ops->close(conn->io, abort);
    conn->io = NULL;
    xs_rx_free(conn);
    xs_queue_fini(&conn->tx.queue);
    conn_settle_backlog(conn);
    xs_server_closed(server, conn);
    conn->in_turn = false;
    xs_conn_dirty(conn); /* to be freed when nobody looks at it any more */
}

void xs_conn_free(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;

    XS_ASSERT(conn->state == XS_CONN_CLOSED);
    XS_ASSERT(xs_list_empty(&conn->dirty));
    xs_mem_free(server->io->mem, conn->client);
    xs_mem_free(server->io->mem, conn->log.text);
    xs_pool_give(&server->conn_pool, conn);
}

void xs_conn_dirty(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;

    if (conn->in_turn || !xs_list_empty(&conn->dirty)) {
        return;
    }
    if (server->dirty_count == XS_TX_TOGETHER) {
        xs_tx_flush_dirty(server);
        server->dirty_count = 0;
    }
    server->dirty_count++;
    xs_list_append(&server->dirty, &conn->dirty);
    server->io->ops->defer(server->io);
}

void xs_conn_shut(struct xs_conn *conn, enum xs_conn_end end)
{
    if (conn->state != XS_CONN_CLOSING) {
        conn->end = end;
        xs_conn_go(conn, XS_CONN_CLOSING);
    } else if (end > conn->end) {
        conn->end = end;
    }
}

void xs_conn_abort(struct xs_conn *conn, enum xs_abort why,
                   enum xs_refusal refusal)
{
    struct xs_request *req = &conn->request;
    enum xs_conn_end end = XS_CONN_END_RESET;
    int err;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    err = xs_response_abort(conn, refusal);
    xs_request_end(conn, xs_abort_word(why));
    if (why == XS_ABORT_FILE) {
        end = xs_response_torn_end(conn);
    } else if (err == 0) {
        end = XS_CONN_END_LINGER;
    }
    xs_conn_shut(conn, end);
    req->gateway->ops->on_abort(req, why);
    if (refusal != XS_REFUSE_NOT) {
        xs_server_refused(conn, refusal, err == 0);
    }
}

/* Whether nothing is lost if the connection ends now. */
static bool conn_may_end(const struct xs_conn *conn)
{
    return conn->end == XS_CONN_END_CLOSE || conn->rx.eof ||
           (conn->end == XS_CONN_END_RESTING &&
            conn->server->io->ops->unacked(conn->io) <= 0);
}

/* The queue is empty and no request will come: end. */
static void conn_finish(struct xs_conn *conn)
{
    if (conn->tx.broken || conn->end == XS_CONN_END_RESET) {
        xs_conn_close(conn, true);
        return;
    }
    if (conn_may_end(conn)) {
        xs_conn_close(conn, false);
        return;
    }
    if (conn->server->io->ops->shutdown_wr(conn->io) != 0) {
        xs_conn_close(conn, true);
        return;
    }
    xs_conn_go(conn, XS_CONN_LINGER);
    xs_rx_discard(conn);
    xs_rx_free(conn);
}

/* A server that stops does not wait for those who have all that was sent to
 * them and send nothing more. */
static bool conn_linger_is_over(const struct xs_conn *conn)
{
    return conn->server->state == XS_SERVER_STOPPING &&
           conn->rx.discarded == 0 &&
           conn->server->io->ops->unacked(conn->io) == 0;
}

static void conn_settle_linger(struct xs_conn *conn)
{
    if (conn_linger_is_over(conn)) {
        xs_conn_close(conn, false);
    } else if (conn->server->state == XS_SERVER_STOPPING) {
        xs_server_look(conn->server, 0);
    }
}

/* What the backend has to tell us follows from the state. */
static unsigned conn_events(const struct xs_conn *conn)
{
    unsigned events = conn->tx.blocked ? (unsigned)XS_IO_WRITE : 0;

    if (conn->rx.eof) {
        return events;
    }
    if (conn->state != XS_CONN_CLOSING && xs_rx_listens(conn)) {
        return events | XS_IO_READ;
    }
    return conn->rx.hangup ? events : events | XS_IO_HANGUP;
}

/* Interest, deadlines and memory follow from the state. */
static void conn_settle(struct xs_conn *conn)
{
    unsigned events;

    if (conn->state == XS_CONN_CLOSING &&
        (conn->tx.broken || conn->tx.queue.bytes == 0)) {
        conn_finish(conn);
    }
    if (conn->state == XS_CONN_LINGER) {
        conn_settle_linger(conn);
    }
    if (conn->state == XS_CONN_CLOSED) {
        return;
    }
    xs_rx_settle(conn);
    xs_access_settle(conn);
    xs_time_settle(conn);
    conn_settle_backlog(conn);
    events = conn_events(conn);
    if (events != conn->wanted) {
        conn->wanted = events;
        conn->server->io->ops->want(conn->io, events);
    }
}

/* The socket is gone: nobody can be answered. */
static void conn_break(struct xs_conn *conn)
{
    if (conn->state == XS_CONN_ACTIVE) {
        xs_conn_abort(conn, conn->tx.starved ? XS_ABORT_MEMORY : XS_ABORT_RESET,
                      XS_REFUSE_NOT);
    } else if (conn->state != XS_CONN_CLOSED) {
        xs_conn_close(conn, true);
    }
}

/* The socket lives, but what waits cannot follow what has gone. */
static void conn_tear(struct xs_conn *conn)
{
    if (conn->state == XS_CONN_ACTIVE) {
        xs_conn_abort(conn, XS_ABORT_FILE, XS_REFUSE_NOT);
    } else {
        xs_access_cut(conn, XS_ABORT_FILE);
        xs_conn_shut(conn, xs_response_torn_end(conn));
    }
    xs_tx_drop(conn);
}

void xs_conn_turn(struct xs_conn *conn)
{
    bool again = true;

    XS_ASSERT(!conn->in_turn);
    conn->in_turn = true;
    for (unsigned i = 0; again && i < XS_TURN_ROUNDS; i++) {
        again = xs_rx_advance(conn);
        if (conn->state == XS_CONN_CLOSED) {
            return;
        }
        xs_tx_flush(conn);
        xs_access_turn(conn);
        if (conn->tx.broken) {
            conn_break(conn);
            again = false;
        } else if (conn->tx.torn) {
            conn_tear(conn);
            again = false;
        } else if (xs_tx_drain(conn) || xs_rx_may_advance(conn)) {
            again = true;
        }
        if (conn->state == XS_CONN_CLOSED) {
            return;
        }
    }
    conn->in_turn = false;
    if (again) {
        xs_conn_dirty(conn);
    }
    conn_settle(conn);
}

void xs_conn_lose(struct xs_conn *conn, enum xs_abort why)
{
    xs_tx_break(conn);
    if (conn->state == XS_CONN_ACTIVE) {
        xs_conn_abort(conn, why, XS_REFUSE_NOT);
    } else {
        xs_access_cut(conn, why);
        xs_conn_close(conn, true);
    }
}

void xs_conn_drop(struct xs_conn *conn, enum xs_abort why)
{
    xs_io_note(conn->server->io, "conn.drop", conn->id, (uint64_t)why);
    xs_conn_lose(conn, why);
    if (conn->state != XS_CONN_CLOSED) {
        xs_conn_turn(conn);
    }
}
