/* request.c - a parsed request on its way to the gateway, and its body. */

#include <string.h>

#include "core/conn/access.h"
#include "core/conn/conn.h"

_Static_assert(XS_ADDRESS_MAX <= XS_IO_HOST_MAX, "an address is a host");

bool xs_request_is_proxied(const struct xs_server *server,
                           const struct xs_io_conn *io)
{
    const struct xs_proxies *proxies = &server->config.proxies;
    char host[XS_ADDRESS_MAX];

    if (proxies->look == NULL) {
        return false;
    }
    if (io->peer.is_unix) {
        return proxies->unix_sockets;
    }
    return proxies->look(proxies->user, xs_slice_str(io->peer.host), host) ==
           XS_HOP_TRUSTED;
}

/* xs_request_client when there is a field that may say so. */
static const struct xs_io_addr *request_forwarded(struct xs_conn *conn,
                                                  bool *https)
{
    struct xs_io_addr *client = conn->client;
    struct xs_forwarded said;

    xs_forwarded_read(&said, &conn->rx.parser.head,
                      &conn->server->config.proxies);
    *https = said.scheme == XS_SCHEME_HTTPS;
    if (said.host[0] == '\0') {
        return NULL;
    }
    *client = (struct xs_io_addr){.port = said.port};
    memcpy(client->host, said.host, sizeof said.host);
    return client;
}

const struct xs_io_addr *xs_request_client(struct xs_conn *conn, bool *https)
{
    *https = false;
    if (conn->client == NULL || !conn->rx.parser.head.forwarded) {
        return NULL;
    }
    return request_forwarded(conn, https);
}

void xs_request_begin(struct xs_conn *conn)
{
    struct xs_server *server = conn->server;
    struct xs_request *req = &conn->request;
    const struct xs_head *head = &conn->rx.parser.head;
    bool https;
    const struct xs_io_addr *client;

    xs_access_sent(conn); /* what is kept for it is overwritten now */
    client = xs_request_client(conn, &https);
    *req = (struct xs_request){
        .gateway = server->gateway,
        .head = head,
        .peer = &conn->io->peer,
        .local = &conn->io->local,
        .io = server->io,
        .conn_id = conn->id,
        .conn_user = &conn->conn_user,
        .client = client,
        .is_https = https,
    };
    conn->gw.wait_body = false;
    conn->gw.eof_told = false;
    conn->gw.number++;
    conn->gw.continue_owed = head->expect_continue && conn->rx.message;
    xs_access_begin(conn, head);
    xs_response_begin(conn);
    server->stats.requests++;
    server->stats.served++;
    xs_conn_go(conn, XS_CONN_ACTIVE);
    req->gateway->ops->on_request(req->gateway, req);
    req->head = NULL;
}

void xs_request_end(struct xs_conn *conn, const char *why)
{
    struct xs_server *server = conn->server;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    XS_ASSERT(server->stats.requests > 0);
    server->stats.requests--;
    conn->gw.wait_body = false;
    xs_rx_end(conn);
    xs_access_end(conn, why);
    if (server->state == XS_SERVER_STOPPING && server->stats.requests == 0) {
        server->io->ops->defer(server->io);
    }
}

/* A client whose body comes does not wait for our word. */
static void request_is_sent(struct xs_conn *conn)
{
    if (conn->rx.parser.body_total > 0 || conn->rx.refused) {
        conn->gw.continue_owed = false;
    }
}

void xs_request_notify(struct xs_conn *conn)
{
    struct xs_request *req = &conn->request;

    request_is_sent(conn);
    if (conn->gw.wait_body &&
        (conn->rx.parser.body_len > 0 || !conn->rx.message || conn->rx.ahead)) {
        conn->gw.wait_body = false;
        req->gateway->ops->on_body(req);
    }
    if (conn->state == XS_CONN_ACTIVE && !conn->rx.message &&
        (conn->rx.eof || conn->rx.hangup) && !conn->gw.eof_told) {
        conn->gw.eof_told = true;
        req->gateway->ops->on_eof(req);
    }
}

/* The client waits for our word before it sends the body. */
static void request_continue(struct xs_conn *conn)
{
    if (!conn->gw.continue_owed || conn->tx.writer.state > XS_WRITER_HEAD) {
        return; /* not wanted, or the final head is on its way already */
    }
    if (xs_writer_continue(&conn->tx.queue) != 0) {
        return; /* the client sends after a while by itself */
    }
    conn->gw.continue_owed = false;
    xs_conn_dirty(conn);
}

enum xs_body xs_request_body(struct xs_request *req, struct xs_slice *out,
                             bool *last)
{
    struct xs_conn *conn = xs_conn_of(req);
    const struct xs_parser *parser = &conn->rx.parser;

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    xs_rx_pull(conn);
    request_is_sent(conn);
    if (parser->body_len > 0 && !conn->rx.refused) {
        *out = xs_slice_of(parser->body, parser->body_len);
        *last = !conn->rx.message;
        return XS_BODY_DATA;
    }
    *out = (struct xs_slice){NULL, 0};
    *last = true;
    if (!conn->rx.message) {
        return XS_BODY_END;
    }
    *last = false;
    conn->gw.wait_body = true;
    request_continue(conn);
    xs_conn_dirty(conn); /* the body deadline starts */
    return XS_BODY_WAIT;
}

void xs_request_body_consume(struct xs_request *req, size_t len)
{
    struct xs_conn *conn = xs_conn_of(req);

    XS_ASSERT(conn->state == XS_CONN_ACTIVE);
    xs_rx_take(conn, len);
    if (conn->rx.parser.body_len > 0) {
        return;
    }
    if (!conn->in_turn) {
        xs_rx_settle(conn); /* who asks next, before the turn, may have it */
    }
    xs_conn_dirty(conn); /* reading may go on */
}
