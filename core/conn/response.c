/* response.c - what the gateway answers, on its way into the queue. */

#include "core/conn/access.h"
#include "core/conn/conn.h"
#include "core/http1/aside.h"

/* Whether a next request may follow on this connection, as far as we know
 * when the head of the response leaves. */
static bool response_may_keep(const struct xs_conn *conn)
{
    unsigned max = conn->server->config.limits.keep_alive_max;

    if (conn->server->state != XS_SERVER_RUNNING || conn->tx.broken ||
        (max != 0 && conn->gw.number >= max)) {
        return false;
    }
    if (!conn->rx.message) {
        return !conn->rx.eof || conn->rx.parsed < conn->rx.end;
    }
    if (conn->rx.eof || conn->gw.continue_owed) {
        return false; /* the body may come, or not: nobody can tell */
    }
    return conn->rx.parser.head.framing != XS_FRAMING_LENGTH ||
           conn->rx.parser.head.length - conn->rx.parser.body_total <=
               XS_DISCARD_MAX;
}

void xs_response_begin(struct xs_conn *conn)
{
    const struct xs_head *head = &conn->rx.parser.head;

    xs_tx_begin(conn);
    xs_writer_begin(&conn->tx.writer, head->minor, head->is_head,
                    head->keep_alive, xs_server_common(conn->server));
}

enum xs_conn_end xs_response_torn_end(const struct xs_conn *conn)
{
    return conn->tx.writer.framing == XS_FRAMING_CLOSE ? XS_CONN_END_RESET
                                                       : XS_CONN_END_LINGER;
}

int xs_response_abort(struct xs_conn *conn, enum xs_refusal refusal)
{
    struct xs_writer *writer = &conn->tx.writer;

    xs_queue_unwrite(&conn->tx.queue); /* a head, or trailers */
    if (writer->state >= XS_WRITER_BODY) {
        return XS_EGONE;
    }
    xs_access_forget(conn);
    if (refusal == XS_REFUSE_NOT || conn->tx.broken) {
        return XS_EGONE;
    }
    writer->keep_alive = false;
    return xs_writer_refuse(writer, &conn->tx.queue, refusal);
}

/* The response is complete or has been given up: what becomes of the
 * connection. */
static void response_end(struct xs_conn *conn, const char *why)
{
    bool keep = conn->tx.writer.keep_alive && !conn->tx.broken;
    /* RFC 9112 9.6: a client that has not said that it is done may be sending
     * its next request, and a reset would take our answer with it. */
    bool rest = conn->rx.message || conn->rx.parsed < conn->rx.end ||
                conn->rx.parser.head.keep_alive;

    xs_request_end(conn, why);
    if (!keep) {
        xs_conn_shut(conn, rest ? XS_CONN_END_LINGER : XS_CONN_END_CLOSE);
    } else if (conn->rx.message) {
        xs_rx_discard(conn);
        xs_conn_go(conn, XS_CONN_REST);
    } else {
        xs_conn_go(conn, XS_CONN_IDLE);
    }
    xs_conn_dirty(conn);
}

/* 0, XS_EGONE, or XS_EAGAIN: whether the connection takes anything now. */
static int response_ready(struct xs_conn *conn)
{
    if (conn->tx.broken || conn->tx.torn) {
        xs_conn_dirty(conn);
        return XS_EGONE;
    }
    return conn->tx.full ? XS_EAGAIN : 0;
}

int xs_response_hint(struct xs_request *req, const struct xs_field *fields,
                     unsigned count)
{
    struct xs_conn *conn = xs_conn_of(req);
    int err;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    err = response_ready(conn);
    if (err != 0) {
        return err;
    }
    err = xs_aside_hint(&conn->tx.writer, &conn->tx.queue, fields, count);
    if (err == 0) {
        xs_tx_flush(conn); /* it is worth nothing later */
        xs_tx_pushed(conn);
    }
    return err;
}

int xs_response_start(struct xs_request *req, unsigned status,
                      struct xs_slice reason)
{
    struct xs_conn *conn = xs_conn_of(req);
    int err;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    err = xs_writer_start(&conn->tx.writer, &conn->tx.queue, status, reason);
    if (err == 0 || err == XS_ENOMEM) {
        xs_access_forget(conn); /* the head given before was dropped */
    }
    return err;
}

int xs_response_header(struct xs_request *req, struct xs_slice name,
                       struct xs_slice value)
{
    struct xs_conn *conn = xs_conn_of(req);
    struct xs_writer *writer = &conn->tx.writer;
    int err;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    if (conn->server->config.wants.response_count == 0) {
        /* Nearly always, and then there is nothing to keep over the call. */
        return xs_writer_header(writer, &conn->tx.queue, name, value);
    }
    err = xs_writer_header(writer, &conn->tx.queue, name, value);
    if (err == 0) {
        xs_access_header(conn, name, value);
    }
    return err;
}

int xs_response_body(struct xs_request *req, const struct xs_lent *lent,
                     bool more)
{
    struct xs_conn *conn = xs_conn_of(req);
    struct xs_writer *writer = &conn->tx.writer;
    int err;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    err = response_ready(conn);
    if (err != 0) {
        return err;
    }
    if (writer->state == XS_WRITER_HEAD) {
        writer->keep_alive = writer->keep_alive && response_may_keep(conn);
    }
    err = xs_writer_body(writer, &conn->tx.queue, lent, more);
    if (err != 0) {
        return err;
    }
    if (writer->state != XS_WRITER_DONE) {
        xs_tx_pushed(conn);
    } else {
        response_end(conn, NULL);
    }
    return 0;
}

int xs_response_expect_trailers(struct xs_request *req)
{
    struct xs_conn *conn = xs_conn_of(req);

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    return xs_aside_expect(&conn->tx.writer, conn->rx.parser.head.trailers);
}

int xs_response_trailers(struct xs_request *req, const struct xs_field *fields,
                         unsigned count, bool more)
{
    struct xs_conn *conn = xs_conn_of(req);
    int err;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    if (conn->tx.broken || conn->tx.torn) {
        xs_conn_dirty(conn);
        return XS_EGONE;
    }
    err = xs_aside_trailers(&conn->tx.writer, &conn->tx.queue, fields, count,
                            more);
    if (err == 0 && !more) {
        response_end(conn, NULL);
    }
    return err;
}

bool xs_response_full(const struct xs_request *req)
{
    return xs_conn_of(req)->tx.full;
}

uint64_t xs_response_left(const struct xs_request *req)
{
    const struct xs_writer *writer = &xs_conn_of(req)->tx.writer;

    return writer->has_length ? writer->left : UINT64_MAX;
}

void xs_response_flush(struct xs_request *req)
{
    struct xs_conn *conn = xs_conn_of(req);

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    xs_tx_flush(conn);
    if (conn->tx.broken || conn->tx.torn) {
        xs_conn_dirty(conn);
    }
}

/* The head has left: end so that the client can tell. */
static void response_fail_late(struct xs_conn *conn)
{
    xs_queue_unwrite(&conn->tx.queue); /* trailers that are not whole */
    xs_request_end(conn, "failed");
    xs_conn_shut(conn, xs_response_torn_end(conn));
    xs_conn_dirty(conn);
}

void xs_response_fail(struct xs_request *req)
{
    struct xs_conn *conn = xs_conn_of(req);
    struct xs_writer *writer = &conn->tx.writer;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    if (writer->state >= XS_WRITER_BODY) {
        response_fail_late(conn);
        return;
    }
    xs_access_forget(conn);
    writer->keep_alive =
        conn->rx.parser.head.keep_alive && response_may_keep(conn);
    if (xs_writer_refuse(writer, &conn->tx.queue, XS_REFUSE_FAILED) != 0) {
        xs_tx_starve(conn);
    }
    response_end(conn, "failed");
}
