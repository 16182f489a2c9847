/* conn_tx.c - the way out: queue and socket.
 *
 * A write that the socket takes in part leaves the rest at the head of the
 * queue and asks to be told when more fits, whether the socket is full or the
 * bytes of a file are not in memory yet: the backend knows. */

#include "core/conn/conn.h"

void xs_tx_turn(struct xs_conn *conn)
{
    conn->tx.turn_bytes = 0;
}

void xs_tx_writable(struct xs_conn *conn)
{
    conn->tx.blocked = false;
}

void xs_tx_break(struct xs_conn *conn)
{
    conn->tx.broken = true;
}

void xs_tx_starve(struct xs_conn *conn)
{
    conn->tx.broken = true;
    conn->tx.starved = true;
}

/* Hand on what comes before the next range of a file. The bytes taken. */
static int64_t tx_write_bytes(struct xs_conn *conn, size_t *offered)
{
    struct xs_slice slices[XS_QUEUE_SLICES];
    const struct xs_io_ops *ops = conn->server->io->ops;
    unsigned count = xs_queue_peek(&conn->tx.queue, slices, XS_QUEUE_SLICES);

    for (unsigned i = 0; i < count; i++) {
        *offered += slices[i].len;
    }
    return ops->writev(conn->io, slices, count);
}

/* Hand on a range of a file, of a long one as much as others wait for. */
static int64_t tx_write_file(struct xs_conn *conn, const struct xs_piece *file,
                             size_t *offered)
{
    const struct xs_io_ops *ops = conn->server->io->ops;

    *offered = file->len < XS_TX_TURN ? file->len : XS_TX_TURN;
    return ops->sendfile(conn->io, file->file, file->offset, *offered);
}

/* One write. False when there is no use in another one now. */
static bool tx_write(struct xs_conn *conn)
{
    struct xs_queue *queue = &conn->tx.queue;
    const struct xs_piece *file = xs_queue_file(queue);
    size_t offered = 0;
    int64_t took;

    took = file != NULL ? tx_write_file(conn, file, &offered)
                        : tx_write_bytes(conn, &offered);
    if (took == XS_EAGAIN) {
        conn->tx.blocked = true;
        return false;
    }
    if (file != NULL && (took == 0 || took == XS_EIO)) {
        conn->tx.torn = true;
        return false;
    }
    if (took < 0) {
        xs_tx_break(conn);
        return false;
    }
    XS_ASSERT(took > 0);
    XS_ASSERT((size_t)took <= offered);
    xs_queue_consume(queue, (size_t)took);
    conn->tx.turn_bytes += (size_t)took;
    conn->tx.progress = true;
    if ((size_t)took < offered) {
        conn->tx.blocked = true; /* full */
        return false;
    }
    return true;
}

void xs_tx_flush(struct xs_conn *conn)
{
    XS_ASSERT(conn->io != NULL);
    if (conn->tx.broken || conn->tx.torn || conn->tx.blocked) {
        return;
    }
    while (xs_queue_ready(&conn->tx.queue) > 0) {
        if (conn->tx.turn_bytes >= XS_TX_TURN) {
            conn->tx.blocked = true; /* others get their turn first */
            return;
        }
        if (!tx_write(conn)) {
            return;
        }
    }
}

void xs_tx_flush_dirty(struct xs_server *server)
{
    struct xs_list *link = server->dirty.prev;

    for (unsigned i = 0; i < XS_TX_TOGETHER && link != &server->dirty; i++) {
        struct xs_conn *conn = xs_container_of(link, struct xs_conn, dirty);

        link = link->prev;
        if (conn->state != XS_CONN_CLOSED) {
            xs_tx_flush(conn);
        }
    }
}

void xs_tx_begin(struct xs_conn *conn)
{
    conn->tx.full = false;
}

/* What is lent is all in memory until its last byte has gone, however few of
 * them wait: a slow peer is to have one piece of it, not two. */
static bool tx_lends(const struct xs_conn *conn)
{
    return conn->tx.blocked && conn->tx.queue.lent > 0;
}

bool xs_tx_is_over(const struct xs_conn *conn)
{
    const struct xs_queue *queue = &conn->tx.queue;

    return queue->bytes >= conn->server->config.limits.tx_high ||
           queue->lent >= XS_TX_LENT;
}

void xs_tx_pushed(struct xs_conn *conn)
{
    const struct xs_queue *queue = &conn->tx.queue;

    if (xs_queue_ready(queue) >= XS_TX_FLUSH || queue->lent >= XS_TX_LENT) {
        xs_tx_flush(conn);
    }
    if (xs_tx_is_over(conn) || tx_lends(conn)) {
        conn->tx.full = true;
    }
    xs_conn_dirty(conn);
}

bool xs_tx_drain(struct xs_conn *conn)
{
    const struct xs_limits *limits = &conn->server->config.limits;
    struct xs_request *req = &conn->request;

    /* A head that is held cannot drain. */
    if (!conn->tx.full || xs_queue_ready(&conn->tx.queue) > limits->tx_low ||
        tx_lends(conn)) {
        return false;
    }
    conn->tx.full = false;
    if (conn->state != XS_CONN_ACTIVE) {
        return false;
    }
    req->gateway->ops->on_drain(req);
    return true;
}

void xs_tx_drop(struct xs_conn *conn)
{
    struct xs_queue *queue = &conn->tx.queue;

    xs_queue_unhold(queue);
    xs_queue_consume(queue, queue->bytes);
    conn->tx.full = false;
    conn->tx.torn = false;
}

bool xs_tx_progressed(struct xs_conn *conn)
{
    bool progress = conn->tx.progress;

    conn->tx.progress = false;
    return progress;
}

bool xs_tx_stalled(const struct xs_conn *conn)
{
    int64_t unacked = conn->server->io->ops->unacked(conn->io);

    /* The kernel takes more only when much of its buffer is free again. A
     * live slow reader shows before that: it acknowledges. */
    return unacked < 0 || conn->unacked < 0 || unacked >= conn->unacked;
}
