/* sim_end.c - what a kernel does at one end of a connection.
 *
 * Both ends are alike; who holds one (the core or a client) makes no
 * difference here. The rules, as Linux has them:
 *
 *   a reset destroys what is on its way and what waits in the send buffers;
 *   bytes that had arrived can be read still, then the error shows once;
 *   closing with unread input resets instead of ending;
 *   bytes that reach a closed end are answered with a reset. */

#include <stdlib.h>

#include "sim/sim_types.h"

static void end_on_reset(struct xs_sim_timer *timer);

/* The buffers of one direction: as configured, or tiny, or huge. */
static size_t end_buffer(struct xs_sim *sim, enum xs_label label, size_t usual)
{
    static const uint32_t sizes[] = {1,    2,     16,         512,
                                     4096, 16384, 1024 * 256, 1024 * 1024 * 5};

    if (!sim_fault(sim, label)) {
        return usual;
    }
    return sizes[xs_choose(sim->tape, label, XS_COUNT_OF(sizes))];
}

static void end_init(struct sim_end *end, struct sim_end *other,
                     struct sim_link *link)
{
    struct xs_sim *sim = link->peer.sim;

    end->link = link;
    end->other = other;
    end->reset.fire = end_on_reset;
    end->out.send_max =
        end_buffer(sim, XS_LABEL_NET_SEND_BUFFER, sim->send_buffer);
    end->out.recv_max =
        end_buffer(sim, XS_LABEL_NET_RECV_BUFFER, sim->recv_buffer);
    sim_pipe_init(end);
}

struct sim_link *sim_link_new(struct xs_sim *sim)
{
    struct sim_link *link = calloc(1, sizeof *link);

    if (link == NULL) {
        return NULL;
    }
    link->peer.sim = sim;
    link->peer.id = ++sim->next_id;
    end_init(&link->server, &link->client, link);
    end_init(&link->client, &link->server, link);
    xs_list_init(&link->all);
    xs_list_init(&link->waiting);
    xs_list_init(&link->changed);
    xs_list_append(&sim->links, &link->all);
    sim->stats.links++;
    return link;
}

void sim_link_free(struct sim_link *link)
{
    struct xs_sim *sim = link->peer.sim;

    if (link->conn != NULL) {
        sim_conn_free(link->conn);
    }
    xs_sim_timer_stop(sim, &link->server.reset);
    xs_sim_timer_stop(sim, &link->client.reset);
    sim_pipe_fini(&link->server);
    sim_pipe_fini(&link->client);
    xs_list_remove(&link->all);
    xs_list_remove(&link->waiting);
    xs_list_remove(&link->changed);
    sim->stats.links--;
    free(link);
}

void sim_end_changed(struct sim_end *end)
{
    struct sim_link *link = end->link;
    struct xs_sim *sim = link->peer.sim;

    if (end == &link->server) {
        if (link->conn != NULL) {
            sim_conn_update(link->conn);
        }
    } else if (!end->closed && xs_list_empty(&link->changed)) {
        xs_list_append(&sim->changed, &link->changed);
    }
    sim_kick(sim);
}

int64_t sim_end_recv(struct sim_end *end, uint8_t *data, size_t len)
{
    struct sim_pipe *in = &end->other->out;
    size_t got = sim_pipe_get(in, data, len);

    if (got > 0) {
        sim_pipe_pump(end->other);
        return (int64_t)got;
    }
    if (in->fin_arrived) {
        return 0;
    }
    if (end->error != 0) {
        end->error = 0;
        return XS_ERESET;
    }
    return end->dead ? 0 : XS_EAGAIN;
}

int64_t sim_end_write(struct sim_end *end, const struct xs_slice *bytes,
                      unsigned count, size_t len_max)
{
    size_t taken = 0;

    if (end->error != 0) {
        int error = end->error;

        end->error = 0;
        return error;
    }
    if (end->dead || end->out.fin) {
        return XS_EPIPE;
    }
    for (unsigned i = 0; i < count && taken < len_max; i++) {
        size_t len = bytes[i].len;
        size_t put;

        len = len < len_max - taken ? len : len_max - taken;
        put = sim_pipe_put(&end->out, bytes[i].data, len);
        taken += put;
        if (put < len) {
            break;
        }
    }
    if (taken == 0) {
        return XS_EAGAIN;
    }
    sim_pipe_pump(end);
    return (int64_t)taken;
}

int sim_end_shutdown(struct sim_end *end)
{
    if (end->dead) {
        return XS_ERESET;
    }
    end->out.fin = true;
    sim_pipe_pump(end);
    return 0;
}

/* Nothing moves at this end any more. */
static void end_stop(struct sim_end *end)
{
    struct xs_sim *sim = end->link->peer.sim;
    struct sim_pipe *in = &end->other->out;

    end->dead = true;
    xs_sim_timer_stop(sim, &end->reset);
    xs_sim_timer_stop(sim, &end->out.way);
    xs_sim_timer_stop(sim, &end->out.ack);
    xs_sim_timer_stop(sim, &in->way);
    xs_sim_timer_stop(sim, &in->ack);
}

void sim_end_die(struct sim_end *end)
{
    struct xs_sim *sim = end->link->peer.sim;
    struct sim_pipe *in = &end->other->out;

    if (end->dead) {
        return;
    }
    end_stop(end);
    end->error = in->fin_arrived ? XS_EPIPE : XS_ERESET;
    sim_event(sim, end->link->peer.id,
              end == &end->link->server ? "dies" : "peer.dies",
              in->arrived - in->taken, 0);
    /* Some systems throw away what a client had not read yet. */
    if (end == &end->link->client && sim_fault(sim, XS_LABEL_NET_PURGE)) {
        end->purged = (size_t)(in->arrived - in->taken);
        in->taken = in->arrived;
    }
    sim_end_changed(end);
}

void sim_end_reset(struct sim_end *end)
{
    struct xs_sim *sim = end->link->peer.sim;
    struct sim_end *other = end->other;

    if (end->dead) {
        return;
    }
    end_stop(end);
    if (end->out.lost || other->dead || other->closed ||
        other->reset.slot != 0) {
        return;
    }
    if (sim_fault(sim, XS_LABEL_NET_DELAY)) {
        xs_sim_timer_set(sim, &other->reset,
                         sim->now_ns + sim_delay(sim, XS_LABEL_NET_DELAY));
        return;
    }
    sim_end_die(other);
}

static void end_on_reset(struct xs_sim_timer *timer)
{
    sim_end_die(xs_container_of(timer, struct sim_end, reset));
}

void sim_end_close(struct sim_end *end, bool abort)
{
    struct sim_end *other = end->other;

    XS_ASSERT(!end->closed);
    end->closed = true;
    if (abort || sim_pipe_readable(&other->out) > 0) {
        sim_end_reset(end);
    } else if (!end->dead) {
        end->out.fin = true;
        sim_pipe_pump(end);
        sim_pipe_pump(other);
    }
    if (other->closed) {
        sim_link_free(end->link);
    }
}
