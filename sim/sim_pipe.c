/* sim_pipe.c - bytes on their way from one end of a connection to the other. */

#include <stdlib.h>
#include <string.h>

#include "sim/sim_types.h"

#define PIPE_CAP_MIN ((size_t)4096)

static void pipe_on_way(struct xs_sim_timer *timer);
static void pipe_on_ack(struct xs_sim_timer *timer);

void sim_pipe_init(struct sim_end *end)
{
    end->out.way.fire = pipe_on_way;
    end->out.ack.fire = pipe_on_ack;
}

void sim_pipe_fini(struct sim_end *end)
{
    struct xs_sim *sim = end->link->peer.sim;

    xs_sim_timer_stop(sim, &end->out.way);
    xs_sim_timer_stop(sim, &end->out.ack);
    free(end->out.ring);
    end->out.ring = NULL;
}

size_t sim_pipe_room(const struct sim_pipe *pipe)
{
    XS_ASSERT(pipe->written - pipe->acked <= pipe->send_max);
    return pipe->send_max - (size_t)(pipe->written - pipe->acked);
}

size_t sim_pipe_readable(const struct sim_pipe *pipe)
{
    XS_ASSERT(pipe->taken <= pipe->arrived);
    return (size_t)(pipe->arrived - pipe->taken);
}

/* Make the ring hold `need` bytes. False if there is no memory. */
static bool pipe_grow(struct sim_pipe *pipe, size_t need)
{
    size_t cap = pipe->cap == 0 ? PIPE_CAP_MIN : pipe->cap;
    uint8_t *ring;

    while (cap < need) {
        cap *= 2;
    }
    if (cap == pipe->cap) {
        return true;
    }
    ring = malloc(cap);
    if (ring == NULL) {
        return false;
    }
    for (uint64_t at = pipe->taken; at < pipe->written;) {
        size_t from = (size_t)at & (pipe->cap - 1);
        size_t to = (size_t)at & (cap - 1);
        size_t len = (size_t)(pipe->written - at);

        len = len < pipe->cap - from ? len : pipe->cap - from;
        len = len < cap - to ? len : cap - to;
        memcpy(ring + to, pipe->ring + from, len);
        at += len;
    }
    free(pipe->ring);
    pipe->ring = ring;
    pipe->cap = cap;
    return true;
}

/* One of the buffers was full. */
static void pipe_tight(struct sim_pipe *pipe)
{
    pipe->tight++;
    if (pipe->tight % SIM_TIGHT != 0) {
        return;
    }
    if (pipe->send_max < SIM_BUFFER) {
        pipe->send_max *= 2;
    }
    if (pipe->recv_max < SIM_BUFFER) {
        pipe->recv_max *= 2;
    }
}

size_t sim_pipe_put(struct sim_pipe *pipe, const uint8_t *data, size_t len)
{
    size_t room = sim_pipe_room(pipe);
    size_t at, first;

    if (len > room) {
        pipe_tight(pipe);
        len = room;
    }
    if (len == 0 ||
        !pipe_grow(pipe, (size_t)(pipe->written - pipe->taken) + len)) {
        return 0;
    }
    at = (size_t)pipe->written & (pipe->cap - 1);
    first = len < pipe->cap - at ? len : pipe->cap - at;
    memcpy(pipe->ring + at, data, first);
    memcpy(pipe->ring, data + first, len - first);
    pipe->written += len;
    return len;
}

size_t sim_pipe_get(struct sim_pipe *pipe, uint8_t *data, size_t len)
{
    size_t readable = sim_pipe_readable(pipe);
    size_t at, first;

    len = len < readable ? len : readable;
    if (len == 0) {
        return 0;
    }
    at = (size_t)pipe->taken & (pipe->cap - 1);
    first = len < pipe->cap - at ? len : pipe->cap - at;
    memcpy(data, pipe->ring + at, first);
    memcpy(data + first, pipe->ring, len - first);
    pipe->taken += len;
    return len;
}

/* How many bytes could arrive now. */
static size_t pipe_movable(const struct sim_end *end)
{
    const struct sim_pipe *pipe = &end->out;
    size_t pending = (size_t)(pipe->written - pipe->arrived);
    size_t window = pipe->recv_max - sim_pipe_readable(pipe);

    /* A closed end has no window: it answers with a reset. */
    if (end->other->closed || pending < window) {
        return pending;
    }
    return window;
}

static bool pipe_fin_movable(const struct sim_pipe *pipe)
{
    return pipe->fin && !pipe->fin_arrived && pipe->arrived == pipe->written;
}

/* What is on its way arrives. */
static void pipe_arrive(struct sim_end *end)
{
    struct xs_sim *sim = end->link->peer.sim;
    struct sim_pipe *pipe = &end->out;
    size_t len = pipe_movable(end);

    if (len > 0 && end->other->closed) {
        sim_end_reset(end->other);
        return;
    }
    if (len > 1 && sim_fault(sim, XS_LABEL_NET_SPLIT)) {
        len = 1 + xs_size(sim->tape, XS_LABEL_NET_SPLIT, (uint32_t)len - 1);
    }
    pipe->arrived += len;
    if (pipe->ack.slot == 0 && sim_fault(sim, XS_LABEL_NET_ACK)) {
        xs_sim_timer_set(sim, &pipe->ack,
                         sim->now_ns + sim_delay(sim, XS_LABEL_NET_ACK));
    }
    if (pipe->ack.slot == 0) {
        pipe->acked = pipe->arrived;
    }
    pipe->fin_arrived = pipe->fin_arrived || pipe_fin_movable(pipe);
    sim_end_changed(end->other);
    sim_end_changed(end);
    if (pipe_movable(end) > 0 || pipe_fin_movable(pipe)) {
        xs_sim_timer_set(sim, &pipe->way,
                         sim->now_ns + sim_delay(sim, XS_LABEL_NET_SPLIT));
    }
}

void sim_pipe_pump(struct sim_end *end)
{
    struct xs_sim *sim = end->link->peer.sim;
    struct sim_pipe *pipe = &end->out;

    if (pipe->way.slot != 0 || pipe->lost || end->dead || end->other->dead) {
        return;
    }
    if (pipe_movable(end) == 0 && !pipe_fin_movable(pipe)) {
        return;
    }
    if (sim_fault(sim, XS_LABEL_NET_DELAY)) {
        xs_sim_timer_set(sim, &pipe->way,
                         sim->now_ns + sim_delay(sim, XS_LABEL_NET_DELAY));
        return;
    }
    pipe_arrive(end);
}

static void pipe_on_way(struct xs_sim_timer *timer)
{
    struct sim_pipe *pipe = xs_container_of(timer, struct sim_pipe, way);
    struct sim_end *end = xs_container_of(pipe, struct sim_end, out);

    if (!pipe->lost && !end->dead && !end->other->dead) {
        pipe_arrive(end);
    }
}

static void pipe_on_ack(struct xs_sim_timer *timer)
{
    struct sim_pipe *pipe = xs_container_of(timer, struct sim_pipe, ack);
    struct sim_end *end = xs_container_of(pipe, struct sim_end, out);

    if (!pipe->lost) {
        pipe->acked = pipe->arrived;
        sim_end_changed(end);
    }
}
