/* sim_peer.c - the client's end of a simulated connection, by hand. */

#include "sim/sim_peer.h"

#include <string.h>

#include "sim/sim_types.h"

#define PEER_PORT_FIRST 1024u

static struct sim_link *peer_link(const struct xs_sim_peer *peer)
{
    /* The peer is the link's first member. */
    return (struct sim_link *)(void *)(uintptr_t)peer;
}

/* A port that no other client had for a long time. */
static uint16_t peer_port(struct xs_sim *sim)
{
    if (sim->next_port < PEER_PORT_FIRST) {
        sim->next_port = PEER_PORT_FIRST;
    }
    return sim->next_port++;
}

int xs_sim_peer_open(struct xs_sim *sim, struct xs_sim_peer **out,
                     const struct xs_io_addr *to)
{
    struct sim_listener *listener = sim_listener_find(sim, to);
    struct sim_link *link;

    if (listener == NULL || listener->waiting == listener->waiting_max) {
        return XS_ERESET;
    }
    link = sim_link_new(sim);
    if (link == NULL) {
        return XS_ENOMEM;
    }
    link->peer.remote = *to;
    link->peer.local = *to;
    link->peer.local.port = peer_port(sim);
    xs_list_append(&listener->backlog, &link->waiting);
    listener->waiting++;
    sim_event(sim, link->peer.id, "peer.open", to->port, 0);
    sim_kick(sim);
    *out = &link->peer;
    return 0;
}

int64_t xs_sim_peer_write(struct xs_sim_peer *peer, const void *data,
                          size_t len)
{
    struct xs_slice bytes = xs_slice_of(data, len);
    int64_t result = 0;

    if (len > 0) {
        result = sim_end_write(&peer_link(peer)->client, &bytes, 1, len);
    }
    sim_event(peer->sim, peer->id, "peer.write", len, (uint64_t)result);
    return result;
}

int64_t xs_sim_peer_read(struct xs_sim_peer *peer, void *data, size_t len)
{
    struct sim_end *end = &peer_link(peer)->client;
    int64_t result = sim_end_recv(end, data, len);

    if (result == 0 && !xs_sim_peer_ended(peer)) {
        result = XS_ERESET; /* told before, and so it stays */
    }
    sim_event(peer->sim, peer->id, "peer.read", len, (uint64_t)result);
    return result;
}

size_t xs_sim_peer_owed(const struct xs_sim_peer *peer)
{
    const struct sim_pipe *in = &peer_link(peer)->server.out;

    return (size_t)(in->written - in->acked);
}

size_t xs_sim_peer_unread(const struct xs_sim_peer *peer)
{
    return sim_pipe_readable(&peer_link(peer)->client.out);
}

bool xs_sim_peer_ended(const struct xs_sim_peer *peer)
{
    const struct sim_pipe *in = &peer_link(peer)->server.out;

    return in->fin_arrived && sim_pipe_readable(in) == 0;
}

bool xs_sim_peer_is_dead(const struct xs_sim_peer *peer)
{
    return peer_link(peer)->client.dead;
}

size_t xs_sim_peer_purged(const struct xs_sim_peer *peer)
{
    return peer_link(peer)->client.purged;
}

unsigned xs_sim_peer_wanted(const struct xs_sim_peer *peer)
{
    const struct sim_conn *conn = peer_link(peer)->conn;

    return conn != NULL ? conn->want : 0;
}

void xs_sim_peer_shutdown(struct xs_sim_peer *peer)
{
    sim_event(peer->sim, peer->id, "peer.shutdown", 0, 0);
    (void)sim_end_shutdown(&peer_link(peer)->client);
}

void xs_sim_peer_reset(struct xs_sim_peer *peer)
{
    sim_event(peer->sim, peer->id, "peer.reset", 0, 0);
    sim_end_reset(&peer_link(peer)->client);
}

void xs_sim_peer_close(struct xs_sim_peer *peer)
{
    struct sim_link *link = peer_link(peer);

    sim_event(peer->sim, peer->id, "peer.close", 0, 0);
    peer->on_event = NULL;
    xs_list_remove(&link->changed);
    sim_end_close(&link->client, false);
}

void xs_sim_peer_vanish(struct xs_sim_peer *peer)
{
    struct sim_link *link = peer_link(peer);

    sim_event(peer->sim, peer->id, "peer.vanish", 0, 0);
    link->server.out.lost = true;
    link->client.out.lost = true;
    xs_sim_timer_stop(peer->sim, &link->server.reset);
    xs_sim_timer_stop(peer->sim, &link->client.reset);
}

void xs_sim_peer_tap(struct xs_sim_peer *peer, struct xs_sim_tap *tap)
{
    peer_link(peer)->tap = tap;
}
