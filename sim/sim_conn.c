/* sim_conn.c - the server's end of a connection, with faults.
 *
 * Each call first asks the tape whether something goes wrong, then lets the
 * kernel (sim_end.c) do its part. What goes wrong here is always something
 * that a real system may do. */

#include <stdlib.h>

#include "sim/sim_types.h"

static void conn_on_late(struct xs_sim_timer *timer)
{
    struct sim_conn *conn = xs_container_of(timer, struct sim_conn, late);

    conn->held = false;
    sim_conn_update(conn);
}

struct sim_conn *sim_conn_new(struct sim_link *link)
{
    struct xs_sim *sim = link->peer.sim;
    struct sim_conn *conn = calloc(1, sizeof *conn);

    if (conn == NULL) {
        return NULL;
    }
    conn->base.io = &sim->io;
    conn->base.peer = link->peer.local;
    conn->base.local = link->peer.remote;
    conn->link = link;
    conn->late.fire = conn_on_late;
    conn->fetch.fire = sim_on_fetched;
    xs_list_init(&conn->ready);
    xs_list_init(&conn->all);
    xs_list_append(&sim->conns, &conn->all);
    sim->stats.conns++;
    link->conn = conn;
    return conn;
}

void sim_conn_free(struct sim_conn *conn)
{
    struct xs_sim *sim = conn->link->peer.sim;

    if (sim->current == conn) {
        sim->current = NULL;
    }
    xs_sim_timer_stop(sim, &conn->late);
    xs_sim_timer_stop(sim, &conn->fetch);
    xs_list_remove(&conn->ready);
    xs_list_remove(&conn->all);
    conn->link->conn = NULL;
    sim->stats.conns--;
    free(conn);
}

/* What is both true and wanted. */
static unsigned conn_events(const struct sim_conn *conn)
{
    const struct sim_end *end = &conn->link->server;
    const struct sim_pipe *in = &end->other->out;
    size_t room = conn->link->peer.sim->write_room;
    unsigned events = 0;

    if (end->dead) {
        events = XS_IO_READ | XS_IO_WRITE | XS_IO_HANGUP;
    } else {
        if (sim_pipe_readable(in) > 0 || in->fin_arrived) {
            events |= XS_IO_READ;
        }
        if ((sim_pipe_room(&end->out) >= room || end->out.fin) &&
            conn->fetch.slot == 0) {
            events |= XS_IO_WRITE;
        }
        if (in->fin_arrived) {
            events |= XS_IO_HANGUP;
        }
    }
    return events & conn->want;
}

void sim_conn_update(struct sim_conn *conn)
{
    struct xs_sim *sim = conn->link->peer.sim;

    if (conn->held || conn_events(conn) == 0) {
        xs_list_remove(&conn->ready);
    } else if (xs_list_empty(&conn->ready)) {
        xs_list_append(&sim->ready, &conn->ready);
    }
}

/* What to tell of `events`: all, or some, or one more than is true. */
static unsigned conn_told(struct sim_conn *conn, unsigned events)
{
    struct xs_sim *sim = conn->link->peer.sim;

    if ((events & (events - 1)) != 0 && sim_fault(sim, XS_LABEL_READY_PART)) {
        unsigned some =
            events & (1 + xs_choose(sim->tape, XS_LABEL_READY_PART, 7));

        events = some != 0 ? some : events;
    }
    if (sim_fault(sim, XS_LABEL_READY_SPURIOUS)) {
        events |= conn->want & (XS_IO_READ | XS_IO_WRITE);
    }
    return events;
}

bool sim_conn_tell(struct sim_conn *conn)
{
    struct xs_sim *sim = conn->link->peer.sim;
    unsigned events = conn_events(conn);

    xs_list_remove(&conn->ready);
    if (events == 0) {
        return false;
    }
    if (sim_fault(sim, XS_LABEL_READY_LATE)) {
        conn->held = true;
        xs_sim_timer_set(sim, &conn->late,
                         sim->now_ns + sim_delay(sim, XS_LABEL_READY_LATE));
        return false;
    }
    events = conn_told(conn, events);
    sim_enter(sim);
    sim_event(sim, conn->link->peer.id, "ready", events, conn->want);
    XS_ASSERT(conn->base.on_ready != NULL);
    conn->again = conn->again && (events & XS_IO_WRITE) == 0;
    sim->current = conn;
    conn->base.on_ready(&conn->base, events);
    if (sim->current == conn) {
        sim->current = NULL;
        sim_conn_update(conn);
    }
    sim_leave(sim);
    return true;
}

void sim_want(struct xs_io_conn *base, unsigned events)
{
    struct sim_conn *conn = sim_conn_of(base);
    struct xs_sim *sim = conn->link->peer.sim;

    XS_ASSERT((events & ~7u) == 0);
    if (conn->want == events) {
        return;
    }
    sim_event(sim, conn->link->peer.id, "want", events, conn->want);
    conn->want = events;
    sim->stats.wants++;
    sim_progress(sim);
    sim_conn_update(conn);
    sim_kick(sim);
}

/* A reset from the middle of the network: each end hears of it. */
static void conn_cut(struct sim_conn *conn)
{
    struct sim_link *link = conn->link;
    struct xs_sim *sim = link->peer.sim;

    sim_end_die(&link->server);
    if (!link->client.closed && !link->client.dead &&
        link->client.reset.slot == 0) {
        xs_sim_timer_set(sim, &link->client.reset, sim->now_ns);
    }
}

uint64_t sim_conn_id(struct xs_io_conn *base)
{
    return sim_conn_of(base)->link->peer.id;
}

int64_t sim_recv(struct xs_io_conn *base, uint8_t *data, size_t len)
{
    struct sim_conn *conn = sim_conn_of(base);
    struct sim_link *link = conn->link;
    struct xs_sim *sim = link->peer.sim;
    size_t readable = sim_pipe_readable(&link->client.out);
    size_t asked = len < readable ? len : readable;
    bool ended = link->client.out.fin_arrived && readable == 0;
    int64_t result;

    XS_ASSERT(len > 0);
    if (sim_fault(sim, XS_LABEL_NET_RESET_RECV)) {
        conn_cut(conn);
    }
    if (!link->server.dead && !ended && sim_fault(sim, XS_LABEL_RECV_AGAIN)) {
        result = XS_EAGAIN;
    } else {
        if (asked > 1 && sim_fault(sim, XS_LABEL_RECV_SHORT)) {
            asked = asked - xs_size(sim->tape, XS_LABEL_RECV_SHORT,
                                    (uint32_t)asked - 1);
        }
        result = sim_end_recv(&link->server, data, asked > 0 ? asked : len);
    }
    sim->stats.recvs++;
    if (result >= 0) {
        sim->stats.recv_bytes += (uint64_t)result;
        sim_progress(sim);
    }
    sim_event(sim, link->peer.id, "recv", len, (uint64_t)result);
    if (result >= 0 && link->tap != NULL && link->tap->received != NULL) {
        link->tap->received(link->tap, (size_t)result);
    }
    sim_conn_update(conn);
    return result;
}

void sim_conn_harm(struct sim_conn *conn)
{
    struct sim_link *link = conn->link;
    struct xs_sim *sim = link->peer.sim;

    if (sim_fault(sim, XS_LABEL_NET_RESET_WRITE)) {
        conn_cut(conn);
    }
    if (sim_fault(sim, XS_LABEL_NET_LOST)) {
        link->server.out.lost = true;
        xs_sim_timer_set(sim, &link->server.reset,
                         sim->now_ns + sim_delay(sim, XS_LABEL_NET_LOST));
        xs_sim_timer_set(sim, &link->client.reset, link->server.reset.at_ns);
    }
    if (sim_fault(sim, XS_LABEL_NET_HOLE)) {
        xs_sim_peer_vanish(&link->peer);
    }
}

/* At most how many bytes this write takes. */
static size_t conn_write_max(struct xs_sim *sim, const struct xs_slice *bytes,
                             unsigned count)
{
    size_t sum = 0;

    for (unsigned i = 0; i < count; i++) {
        XS_ASSERT(bytes[i].len > 0);
        sum += bytes[i].len;
    }
    if (sum < 2 || !sim_fault(sim, XS_LABEL_WRITE_SHORT)) {
        return sum;
    }
    /* Where slices meet is where resuming goes wrong. */
    if (count > 1 && xs_choose(sim->tape, XS_LABEL_WRITE_SHORT, 4) == 3) {
        size_t edge = bytes[0].len;

        edge = edge - 1 + xs_choose(sim->tape, XS_LABEL_WRITE_SHORT, 3);
        return edge > 0 ? edge : 1;
    }
    return sum - xs_size(sim->tape, XS_LABEL_WRITE_SHORT, (uint32_t)sum - 1);
}

void sim_conn_wrote(struct sim_link *link, const struct xs_slice *bytes,
                    size_t taken)
{
    if (link->tap == NULL || link->tap->wrote == NULL) {
        return;
    }
    for (size_t i = 0; taken > 0; i++) {
        size_t len = bytes[i].len < taken ? bytes[i].len : taken;

        link->tap->wrote(link->tap, bytes[i].data, len);
        taken -= len;
    }
}

int64_t sim_writev(struct xs_io_conn *base, const struct xs_slice *bytes,
                   unsigned count)
{
    struct sim_conn *conn = sim_conn_of(base);
    struct sim_link *link = conn->link;
    struct xs_sim *sim = link->peer.sim;
    size_t max = conn_write_max(sim, bytes, count);
    int64_t result;

    XS_ASSERT(count >= 1);
    XS_ASSERT(count <= XS_IO_SLICES);
    sim_conn_harm(conn);
    if (!link->server.dead && sim_fault(sim, XS_LABEL_WRITE_AGAIN)) {
        result = XS_EAGAIN;
    } else {
        result = sim_end_write(&link->server, bytes, count, max);
    }
    sim->stats.writevs++;
    sim->stats.writes_blind += conn->again;
    conn->again = result == XS_EAGAIN;
    sim_event(sim, link->peer.id, "writev", max, (uint64_t)result);
    if (result > 0) {
        sim->stats.write_bytes += (uint64_t)result;
        sim_progress(sim);
        sim_conn_wrote(link, bytes, (size_t)result);
    }
    sim_conn_update(conn);
    return result;
}

int64_t sim_unacked(struct xs_io_conn *base)
{
    struct sim_conn *conn = sim_conn_of(base);
    const struct sim_pipe *out = &conn->link->server.out;
    struct xs_sim *sim = conn->link->peer.sim;
    int64_t result = (int64_t)(out->written - out->acked);

    if (sim_fault(sim, XS_LABEL_UNACKED_UNKNOWN)) {
        result = XS_EUNKNOWN;
    }
    sim_event(sim, conn->link->peer.id, "unacked", 0, (uint64_t)result);
    return result;
}

int sim_shutdown_wr(struct xs_io_conn *base)
{
    struct sim_conn *conn = sim_conn_of(base);
    struct sim_link *link = conn->link;
    bool again = link->server.out.fin;
    int err = sim_end_shutdown(&link->server);

    sim_event(link->peer.sim, link->peer.id, "shutdown_wr", 0, (uint64_t)err);
    if (err == 0 && !again && link->tap != NULL && link->tap->ended != NULL) {
        link->tap->ended(link->tap);
    }
    sim_conn_update(conn);
    return err;
}

void sim_close(struct xs_io_conn *base, bool abort)
{
    struct sim_conn *conn = sim_conn_of(base);
    struct sim_link *link = conn->link;
    struct xs_sim_tap *tap = link->tap;

    sim_event(link->peer.sim, link->peer.id, "close", abort, 0);
    sim_progress(link->peer.sim);
    link->tap = NULL;
    if (tap != NULL && tap->ended != NULL && !abort && !link->server.out.fin) {
        tap->ended(tap);
    }
    if (tap != NULL && tap->closed != NULL) {
        tap->closed(tap, abort, link->server.dead);
    }
    sim_conn_free(conn);
    sim_end_close(&link->server, abort);
}

struct sim_conn *sim_conn_of(struct xs_io_conn *base)
{
    struct sim_conn *conn = xs_container_of(base, struct sim_conn, base);

    XS_ASSERT(base->io->ops->close == sim_close);
    XS_ASSERT(conn->link->conn == conn);
    return conn;
}
