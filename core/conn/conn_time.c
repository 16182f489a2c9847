/* conn_time.c - the deadlines of a connection: which run, and what is over.
 *
 * There are two at a time, one of each side. Both follow from the state when a
 * turn ends, so nothing else has to remember to arm one. */

#include "core/conn/conn.h"

#define NO_TIMER XS_DEADLINE_KINDS

void xs_time_init(struct xs_conn *conn)
{
    conn->receiving_kind = NO_TIMER;
    xs_deadline_init(&conn->receiving);
    xs_deadline_init(&conn->writing);
}

void xs_time_disarm_receiving(struct xs_conn *conn)
{
    xs_deadline_disarm(&conn->receiving);
    conn->receiving_kind = NO_TIMER;
}

void xs_time_disarm(struct xs_conn *conn)
{
    xs_time_disarm_receiving(conn);
    xs_deadline_disarm(&conn->writing);
}

/* what runs */

/* Which deadline the receiving side is under follows from the state. */
static unsigned time_receiving_kind(const struct xs_conn *conn)
{
    switch (conn->state) {
        case XS_CONN_IDLE:
            if (conn->tx.queue.bytes > 0 || conn->rx.parsed < conn->rx.end) {
                return NO_TIMER; /* the peer reads first: see `writing` */
            }
            return conn->request.gateway == NULL ? XS_DEADLINE_HEAD
                                                 : XS_DEADLINE_KEEP_ALIVE;
        case XS_CONN_HEAD:
            return XS_DEADLINE_HEAD;
        case XS_CONN_ACTIVE:
            return conn->gw.wait_body ? XS_DEADLINE_BODY : NO_TIMER;
        case XS_CONN_REST:
            return XS_DEADLINE_BODY;
        case XS_CONN_LINGER:
            return XS_DEADLINE_LINGER;
        case XS_CONN_CLOSING:
        case XS_CONN_CLOSED:
        case XS_CONN_STATE_COUNT:
            return NO_TIMER;
    }
    XS_UNREACHABLE();
}

static void time_settle_receiving(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;
    unsigned kind = time_receiving_kind(conn);
    /* A head and a linger are timed as a whole, the others by progress. */
    bool fresh = xs_rx_progressed(conn) && kind != XS_DEADLINE_HEAD &&
                 kind != XS_DEADLINE_LINGER;

    if (kind == conn->receiving_kind && !fresh) {
        return;
    }
    conn->receiving_kind = kind;
    if (kind == NO_TIMER) {
        xs_deadline_disarm(&conn->receiving);
        return;
    }
    conn->receiving_ns = server->io->ops->now(server->io);
    xs_deadline_arm(&server->deadlines, &conn->receiving, kind,
                    conn->receiving_ns);
    xs_server_alarm(server, conn->receiving.at_ns);
}

/* A server that stops waits for this one, and not for long. */
static void time_settle_fresh(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;

    if (server->state == XS_SERVER_STOPPING && xs_rx_is_fresh(conn)) {
        xs_server_look(server, conn->receiving_ns + XS_STOP_FRESH_NS);
    }
}

/* The write deadline runs while bytes wait, and starts again with every byte
 * that goes. It is looked at in parts: what is acknowledged meanwhile shows in
 * the part in which it was. */
static void time_settle_writing(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;
    bool fresh = xs_tx_progressed(conn);

    if (fresh) {
        conn->stalls = 0;
    }
    if (xs_queue_ready(&conn->tx.queue) == 0) {
        if (xs_deadline_armed(&conn->writing)) {
            xs_deadline_disarm(&conn->writing);
        }
        return;
    }
    if (fresh || !xs_deadline_armed(&conn->writing)) {
        xs_deadline_arm(&server->deadlines, &conn->writing, XS_DEADLINE_WRITE,
                        server->io->ops->now(server->io));
        xs_server_alarm(server, conn->writing.at_ns);
        conn->unacked = server->io->ops->unacked(conn->io);
        /* Who is waited for can pay, also if the sum has not changed. */
        xs_server_backlog(server, 0, 0);
    }
}

void xs_time_settle(struct xs_conn *conn)
{
    time_settle_receiving(conn);
    time_settle_fresh(conn);
    time_settle_writing(conn);
}

/* what is over */

/* No head came in time. */
static void time_expire_head(struct xs_conn *conn)
{
    if (conn->state == XS_CONN_HEAD) {
        xs_rx_refuse(conn, XS_REFUSE_HEAD_TIMEOUT);
    } else {
        xs_conn_shut(conn, XS_CONN_END_CLOSE);
    }
}

static void time_expire_body(struct xs_conn *conn)
{
    if (conn->state == XS_CONN_ACTIVE) {
        xs_conn_abort(conn, XS_ABORT_BODY_TIMEOUT, XS_REFUSE_BODY_TIMEOUT);
    } else {
        xs_conn_shut(conn, XS_CONN_END_CLOSE);
    }
}

/* A part of the write deadline has passed: was that the last? */
static bool time_write_is_over(struct xs_conn *conn)
{
    conn->stalls = xs_tx_stalled(conn) ? conn->stalls + 1 : 0;
    return conn->stalls == XS_WRITE_LOOKS;
}

/* An application may have kept the loop from reading for longer than a
 * deadline lasts: what has come meanwhile has come in time, and is looked at
 * first. A head is late if it is still not whole. */
static bool time_read_is_over(struct xs_conn *conn, enum xs_deadline_kind kind)
{
    xs_rx_look(conn);
    xs_conn_turn(conn);
    return conn->receiving_kind == kind && !xs_deadline_armed(&conn->receiving);
}

/* Whether a deadline that has passed leaves nothing to wait for. */
static bool time_is_over(struct xs_conn *conn, enum xs_deadline_kind kind)
{
    switch (kind) {
        case XS_DEADLINE_HEAD:
        case XS_DEADLINE_BODY:
        case XS_DEADLINE_KEEP_ALIVE:
            return time_read_is_over(conn, kind);
        case XS_DEADLINE_WRITE:
            if (time_write_is_over(conn)) {
                return true;
            }
            xs_conn_turn(conn);
            return false;
        case XS_DEADLINE_LINGER:
        case XS_DEADLINE_KINDS:
            return true;
    }
    XS_UNREACHABLE();
}

void xs_time_expire(struct xs_conn *conn, enum xs_deadline_kind kind)
{
    XS_ASSERT(conn->state != XS_CONN_CLOSED);
    if (!time_is_over(conn, kind)) {
        return;
    }
    xs_io_note(conn->server->io, "conn.expire", conn->id, (uint64_t)kind);
    if (kind != XS_DEADLINE_WRITE) {
        conn->receiving_kind = NO_TIMER;
    }
    switch (kind) {
        case XS_DEADLINE_HEAD:
            time_expire_head(conn);
            break;
        case XS_DEADLINE_BODY:
            time_expire_body(conn);
            break;
        case XS_DEADLINE_KEEP_ALIVE:
            xs_conn_shut(conn, XS_CONN_END_RESTING);
            break;
        case XS_DEADLINE_WRITE:
            xs_conn_lose(conn, XS_ABORT_WRITE_TIMEOUT);
            break;
        case XS_DEADLINE_LINGER:
            xs_conn_close(conn, false);
            break;
        case XS_DEADLINE_KINDS:
            XS_UNREACHABLE();
    }
    if (conn->state != XS_CONN_CLOSED) {
        xs_conn_turn(conn);
    }
}
