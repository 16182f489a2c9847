/* server.c - listeners and connections under one gateway. */

#include "core/conn/server.h"

#include <string.h>

#include "core/conn/access.h"
#include "core/conn/conn.h"

/* Spare connections, blocks and tables kept for the next who needs one. */
#define SPARE_CONNS 64u
#define SPARE_BLOCKS 8u
#define SPARE_FIELDS 8u

_Static_assert(XS_DEADLINE_KINDS <= XS_DEADLINE_LISTS_MAX,
               "a kind of deadline has no list");

struct xs_slice xs_server_common(struct xs_server *server)
{
    uint64_t now = server->io->ops->now(server->io);

    if (now >= server->common_until_ns) {
        uint64_t wall = server->io->ops->wall(server->io);
        server->common_until_ns = now + XS_SECOND_NS - wall % XS_SECOND_NS;
        server->common_len =
            xs_writer_common(server->common, wall, server->config.server_name);
    }
    if (!server->config.date) {
        const char *line = memchr(server->common, '\n', server->common_len);
        size_t skip = (size_t)(line + 1 - server->common);
        return xs_slice_of(line + 1, server->common_len - skip);
    }
    return xs_slice_of(server->common, server->common_len);
}

void xs_server_alarm(struct xs_server *server, uint64_t at_ns)
{
    if (at_ns < server->alarm_at_ns) {
        server->alarm_at_ns = at_ns;
        server->io->ops->alarm(server->io, at_ns);
    }
}

void xs_server_look(struct xs_server *server, uint64_t at_ns)
{
    uint64_t soon = server->io->ops->now(server->io) + XS_STOP_LOOK_NS;

    /* Each look is at all of them: not one for each. */
    at_ns = at_ns > soon ? at_ns : soon;
    if (at_ns < server->look_at_ns) {
        server->look_at_ns = at_ns;
        xs_server_alarm(server, at_ns);
    }
}

/* STOPPING: those who linger may have got everything by now, and those who
 * were fresh may not be any more. */
static void server_look(struct xs_server *server)
{
    struct xs_list *link;

    server->look_at_ns = XS_NEVER;
    for (link = server->conns.next; link != &server->conns; link = link->next) {
        struct xs_conn *conn = xs_container_of(link, struct xs_conn, link);
        if (conn->state == XS_CONN_LINGER || conn->state == XS_CONN_IDLE ||
            conn->state == XS_CONN_HEAD) {
            xs_conn_dirty(conn);
        }
    }
}

static void server_accept_want(struct xs_server *server, bool want)
{
    server->accept_paused = !want;
    for (unsigned i = 0; i < server->listener_count; i++) {
        server->io->ops->accept_want(server->listeners[i], want);
    }
}

/* No descriptors or no memory: leave those who wait alone for a while. */
static void server_accept_later(struct xs_server *server, int err)
{
    const struct xs_server_events *events = &server->config.events;
    uint64_t now = server->io->ops->now(server->io);

    server_accept_want(server, false);
    server->accept_at_ns = now + XS_ACCEPT_PAUSE_NS;
    xs_server_alarm(server, server->accept_at_ns);
    if (events->accept_failed != NULL) {
        events->accept_failed(events->user, err);
    }
}

static void on_accept(struct xs_io_listener *listener)
{
    struct xs_server *server = listener->user;
    const struct xs_io_ops *ops = server->io->ops;
    unsigned max = server->config.limits.connections_max;

    for (unsigned i = 0; i < XS_ACCEPT_TURN; i++) {
        struct xs_io_conn *io = NULL;
        int err;

        if (max != 0 && server->stats.connections >= max) {
            server_accept_want(server, false);
            return;
        }
        err = ops->accept(listener, &io);
        if (err == XS_EAGAIN) {
            return;
        }
        if (err == XS_EABORTED) {
            continue;
        }
        if (err != 0) {
            server_accept_later(server, err);
            return;
        }
        if (xs_conn_open(server, io) != 0) {
            ops->close(io, true);
        }
    }
}

void xs_server_refused(struct xs_conn *conn, enum xs_refusal why, bool answered)
{
    struct xs_server *server = conn->server;
    const struct xs_server_events *events = &server->config.events;

    server->stats.refused++;
    if (events->refused != NULL) {
        events->refused(events->user, &conn->io->peer, why, answered);
    }
}

void xs_server_backlog(struct xs_server *server, size_t before, size_t after)
{
    XS_ASSERT(server->stats.backlog >= before);
    server->stats.backlog += after - before;
    if (server->stats.backlog > server->config.limits.backlog_max) {
        server->io->ops->defer(server->io);
    }
}

/* Who has taken nothing for the longest time, to a part of the deadline; NULL
 * if nobody is waited for, or if no deadline is kept for that. */
static struct xs_conn *server_slowest(const struct xs_server *server)
{
    const struct xs_list *list = &server->deadlines.lists[XS_DEADLINE_WRITE];

    if (xs_list_empty(list)) {
        return NULL;
    }
    return xs_container_of(list->next, struct xs_conn, writing.link);
}

/* The slowest pay for all. */
static void server_shed(struct xs_server *server)
{
    while (server->stats.backlog > server->config.limits.backlog_max) {
        struct xs_conn *conn = server_slowest(server);
        if (conn == NULL) {
            return;
        }
        xs_conn_drop(conn, XS_ABORT_BACKLOG);
    }
}

void xs_server_closed(struct xs_server *server, struct xs_conn *conn)
{
    const struct xs_server_events *events = &server->config.events;

    xs_io_note(server->io, "conn.close", conn->id, 0);
    XS_ASSERT(server->stats.connections > 0);
    server->stats.connections--;
    xs_list_remove(&conn->link);
    if (events->conn_close != NULL && conn->conn_user != NULL) {
        events->conn_close(events->user, conn->conn_user);
    }
    conn->conn_user = NULL;
    if (server->accept_paused && server->accept_at_ns == XS_NEVER) {
        server_accept_want(server, true);
    }
}

/* Ask for the earliest of all the deadlines. */
static void server_next_alarm(struct xs_server *server)
{
    uint64_t next = xs_deadlines_next(&server->deadlines);

    if (server->accept_at_ns < next) {
        next = server->accept_at_ns;
    }
    if (server->stop_at_ns < next) {
        next = server->stop_at_ns;
    }
    if (server->look_at_ns < next) {
        next = server->look_at_ns;
    }
    server->alarm_at_ns = XS_NEVER;
    xs_server_alarm(server, next);
}

/* Patience has ended: end everything. */
static void server_abort_all(struct xs_server *server)
{
    while (!xs_list_empty(&server->conns)) {
        struct xs_conn *conn =
            xs_container_of(server->conns.next, struct xs_conn, link);
        if (conn->state == XS_CONN_ACTIVE) {
            xs_conn_abort(conn, XS_ABORT_SHUTDOWN, XS_REFUSE_NOT);
        }
        xs_access_cut(conn, XS_ABORT_SHUTDOWN);
        xs_conn_close(conn, true);
    }
}

static struct xs_conn *server_conn_of(struct xs_deadline *deadline,
                                      unsigned kind)
{
    if (kind == XS_DEADLINE_WRITE) {
        return xs_container_of(deadline, struct xs_conn, writing);
    }
    return xs_container_of(deadline, struct xs_conn, receiving);
}

static void on_alarm(struct xs_io *io)
{
    struct xs_server *server = io->user;
    uint64_t now = io->ops->now(io);
    struct xs_deadline *due;
    unsigned kind = 0;

    if (server->stop_at_ns <= now) {
        server->stop_at_ns = XS_NEVER;
        server_abort_all(server);
    }
    while ((due = xs_deadlines_due(&server->deadlines, now, &kind)) != NULL) {
        xs_time_expire(server_conn_of(due, kind), (enum xs_deadline_kind)kind);
    }
    if (server->look_at_ns <= now) {
        server_look(server);
    }
    if (server->accept_at_ns <= now) {
        server->accept_at_ns = XS_NEVER;
        if (server->state == XS_SERVER_RUNNING) {
            server_accept_want(server, true);
        }
    }
    server_next_alarm(server);
}

/* STOPPING and nothing runs: nobody was promised anything any more, and only
 * who has just begun may go on. */
static void server_close_heads(struct xs_server *server)
{
    struct xs_list *link = server->conns.next;

    while (link != &server->conns) {
        struct xs_conn *conn = xs_container_of(link, struct xs_conn, link);
        link = link->next;
        if (conn->state == XS_CONN_HEAD && !xs_rx_is_fresh(conn)) {
            if (xs_rx_is_silent(conn)) {
                xs_conn_shut(conn, XS_CONN_END_RESTING);
            }
            xs_conn_dirty(conn);
        } else if (conn->state == XS_CONN_REST) {
            xs_conn_shut(conn, XS_CONN_END_LINGER);
            xs_conn_dirty(conn);
        }
    }
}

static void server_stop_goes_on(struct xs_server *server)
{
    if (server->stats.requests == 0) {
        server_close_heads(server);
    }
    if (xs_list_empty(&server->conns) && xs_list_empty(&server->dirty)) {
        server->state = XS_SERVER_STOPPED;
        if (server->config.events.stopped != NULL) {
            server->config.events.stopped(server->config.events.user);
        }
    }
}

static void on_defer(struct xs_io *io)
{
    struct xs_server *server = io->user;
    struct xs_list batch;
    struct xs_list *link;

    xs_list_init(&batch);
    xs_list_splice(&batch, &server->dirty);
    server->dirty_count = 0;
    while ((link = xs_list_pop(&batch)) != NULL) {
        struct xs_conn *conn = xs_container_of(link, struct xs_conn, dirty);
        if (conn->state == XS_CONN_CLOSED) {
            xs_conn_free(conn);
        } else {
            xs_tx_turn(conn);
            xs_conn_turn(conn);
        }
    }
    server_shed(server);
    if (server->state == XS_SERVER_STOPPING) {
        server_stop_goes_on(server);
    }
}

void xs_server_init(struct xs_server *server, struct xs_io *io,
                    struct xs_gateway *gateway,
                    const struct xs_server_config *config)
{
    const struct xs_limits *limits = &config->limits;

    XS_ASSERT(limits->request_fields_max > 0);
    XS_ASSERT(limits->request_fields_max <= XS_FIELDS_MAX);
    XS_ASSERT(limits->request_head_max <= XS_RX_BLOCK);
    XS_ASSERT(limits->tx_low < limits->tx_high);
    *server = (struct xs_server){
        .io = io,
        .gateway = gateway,
        .config = *config,
        .state = XS_SERVER_RUNNING,
        .alarm_at_ns = XS_NEVER,
        .stop_at_ns = XS_NEVER,
        .accept_at_ns = XS_NEVER,
        .look_at_ns = XS_NEVER,
        .next_id = 1,
    };
    xs_list_init(&server->conns);
    xs_list_init(&server->dirty);
    xs_deadlines_init(&server->deadlines);
    for (unsigned i = 0; i < XS_DEADLINE_KINDS; i++) {
        server->deadlines.lasts_ns[i] = limits->timeout_ns[i];
    }
    if (limits->timeout_ns[XS_DEADLINE_WRITE] != XS_NEVER) {
        server->deadlines.lasts_ns[XS_DEADLINE_WRITE] =
            limits->timeout_ns[XS_DEADLINE_WRITE] / XS_WRITE_LOOKS + 1;
    }
    xs_pool_init(&server->conn_pool, io->mem, sizeof(struct xs_conn),
                 SPARE_CONNS);
    xs_pool_init(&server->block_pool, io->mem, XS_RX_BLOCK, SPARE_BLOCKS);
    xs_pool_init(&server->field_pool, io->mem,
                 sizeof(struct xs_field) * limits->request_fields_max,
                 SPARE_FIELDS);
    io->on_alarm = on_alarm;
    io->on_defer = on_defer;
    io->user = server;
}

void xs_server_fini(struct xs_server *server)
{
    XS_ASSERT(server->listener_count == 0);
    XS_ASSERT(xs_list_empty(&server->conns));
    XS_ASSERT(xs_list_empty(&server->dirty));
    server->io->ops->alarm(server->io, XS_NEVER);
    xs_pool_fini(&server->conn_pool);
    xs_pool_fini(&server->block_pool);
    xs_pool_fini(&server->field_pool);
}

int xs_server_listen(struct xs_server *server, const struct xs_io_spec *spec)
{
    struct xs_io_listener *listener = NULL;
    int err;

    XS_ASSERT(server->state == XS_SERVER_RUNNING);
    if (server->listener_count == XS_LISTENERS_MAX) {
        return XS_ELIMIT;
    }
    err = server->io->ops->listen(server->io, &listener, spec);
    if (err != 0) {
        return err;
    }
    listener->on_ready = on_accept;
    listener->user = server;
    server->listeners[server->listener_count++] = listener;
    return 0;
}

void xs_server_stop(struct xs_server *server, uint64_t grace_ns)
{
    uint64_t now = server->io->ops->now(server->io);
    struct xs_list *link;

    if (server->state == XS_SERVER_STOPPED) {
        return;
    }
    server->state = XS_SERVER_STOPPING;
    server->stop_at_ns = grace_ns == XS_NEVER ? XS_NEVER : now + grace_ns;
    xs_server_alarm(server, server->stop_at_ns);
    while (server->listener_count > 0) {
        server->listener_count--;
        server->io->ops->unlisten(server->listeners[server->listener_count]);
    }
    for (link = server->conns.next; link != &server->conns; link = link->next) {
        xs_conn_dirty(xs_container_of(link, struct xs_conn, link));
    }
    server->io->ops->defer(server->io);
}
