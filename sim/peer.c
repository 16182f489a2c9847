/* peer.c - a scripted client: what it does is drawn before it starts. */

#include "sim/peer.h"

#include <string.h>

#include "core/base/limits.h"

/* How long a client waits for "100 Continue" before it sends all the same. */
#define CLIENT_CONTINUE_NS XS_SECOND_NS

/* A client that is slow at first loses its patience: after so many segments or
 * reads of its usual size they grow, lest a run be nothing but that. */
#define CLIENT_SLOW 16u

/* How long it waits for the server in the second phase: longer than any
 * deadline of the server's. */
#define CLIENT_PATIENCE_NS (1000 * XS_SECOND_NS)

static void client_step(struct xs_client *client);

/* ending */

static void client_done(struct xs_client *client)
{
    xs_sim_timer_stop(client->sim, &client->send_timer);
    xs_sim_timer_stop(client->sim, &client->read_timer);
    xs_sim_timer_stop(client->sim, &client->patience);
    if (client->peer != NULL) {
        client->killed = xs_sim_peer_is_dead(client->peer);
        client->purged = xs_sim_peer_purged(client->peer);
        xs_sim_peer_close(client->peer);
        client->peer = NULL;
    }
    client->done = true;
}

/* Break off, if it is time. True if nothing more is to be done. */
static bool client_break_off(struct xs_client *client)
{
    const struct xs_client_script *script = &client->script;
    uint64_t at = script->end_on_received ? client->received : client->sent;

    if (script->end < XS_CLIENT_RESETS || client->broke_off || client->calm ||
        at < script->end_at) {
        return client->done;
    }
    client->broke_off = true;
    if (script->end == XS_CLIENT_STOPS) {
        xs_sim_peer_shutdown(client->peer);
        return false;
    }
    if (script->end == XS_CLIENT_RESETS) {
        xs_sim_peer_reset(client->peer);
    } else if (script->end == XS_CLIENT_VANISHES) {
        xs_sim_peer_vanish(client->peer);
    }
    client_done(client);
    return true;
}

/* The server has ended: whether this client leaves its end open still, as one
 * does that looks at its connection when it needs it again. */
static bool client_stays(struct xs_client *client)
{
    uint64_t stay_ns = client->script.stay_ns;

    if (client->calm || stay_ns == 0) {
        return false;
    }
    if (!client->stayed) {
        client->stayed = true;
        xs_sim_timer_set(client->sim, &client->read_timer,
                         xs_sim_now(client->sim) + stay_ns);
    }
    return client->read_timer.slot != 0;
}

static void client_end(struct xs_client *client)
{
    const struct xs_reader *reader = &client->reader;
    bool answered = reader->complete >= client->plan_count ||
                    reader->state == XS_READER_CLOSED;

    if (client->was_reset || (client->ended && !client_stays(client))) {
        client_done(client);
    } else if (client->ended) {
        return;
    } else if (answered && client->script.end == XS_CLIENT_CLOSES &&
               reader->state != XS_READER_CLOSED) {
        client_done(client);
    } else if (client->sent == client->stream.len &&
               client->script.end == XS_CLIENT_HALF_CLOSES &&
               !client->half_closed) {
        client->half_closed = true;
        xs_sim_peer_shutdown(client->peer);
    }
}

/* reading */

/* `size`, or more when that has been done often. */
static size_t client_grown(size_t size, unsigned times)
{
    unsigned doubled = times / CLIENT_SLOW;

    return doubled < 20 ? size << doubled : XS_CLIENT_READ << 4;
}

/* Read up to `max` bytes. */
static void client_read(struct xs_client *client, size_t max)
{
    uint8_t data[4096];

    while (max > 0 && !client->ended && !client->was_reset) {
        size_t len = max < sizeof data ? max : sizeof data;
        int64_t got;

        if (client->script.end_on_received && !client->broke_off &&
            len > client->script.end_at - client->received &&
            client->received < client->script.end_at) {
            len = (size_t)(client->script.end_at - client->received);
        }
        got = xs_sim_peer_read(client->peer, data, len);
        if (got == XS_EAGAIN) {
            return;
        }
        if (got == 0) {
            client->ended = true;
            client->ended_well = xs_reader_end(&client->reader);
        } else if (got < 0) {
            client->was_reset = true;
        } else {
            client->received += (uint64_t)got;
            max -= (size_t)got;
            xs_reader_feed(&client->reader, xs_slice_of(data, (size_t)got));
            if (client_break_off(client)) {
                return;
            }
        }
    }
}

/* A slow read, and the pause behind it if there was anything. */
static void client_read_slowly(struct xs_client *client)
{
    uint64_t before = client->received;

    client_read(client, client_grown(client->script.read_max, client->reads));
    if (client->received > before && !client->done) {
        client->reads++;
        xs_sim_timer_set(client->sim, &client->read_timer,
                         xs_sim_now(client->sim) + client->script.read_ns);
    }
}

static void client_reading(struct xs_client *client)
{
    if (client->calm || client->script.reading == XS_CLIENT_READS_ALL) {
        client_read(client, SIZE_MAX);
    } else if (client->script.reading == XS_CLIENT_READS_SLOWLY &&
               client->read_timer.slot == 0) {
        client_read_slowly(client);
    }
}

/* sending */

/* How far the stream may be sent now. */
static size_t client_send_limit(const struct xs_client *client)
{
    unsigned last = client->reader.complete + client->script.pipeline;

    if (client->reader.state == XS_READER_CLOSED) {
        return client->sent; /* the server has said that it will close */
    }
    last = last < client->plan_count ? last : client->plan_count - 1;
    for (unsigned i = client->reader.complete; i <= last; i++) {
        const struct xs_plan *plan = &client->plans[i];

        if (plan->expect && client->sent <= plan->head_end &&
            !client->continued && client->reader.count <= i) {
            return plan->head_end;
        }
    }
    return client->plans[last].end;
}

/* The reader has to know what was asked before the answer comes. */
static void client_ask(struct xs_client *client)
{
    while (client->asked < client->plan_count &&
           client->plans[client->asked].begin < client->sent) {
        xs_reader_ask(&client->reader, client->plans[client->asked].is_head);
        if (client->plans[client->asked].te) {
            xs_reader_ask_trailers(&client->reader);
        }
        client->asked++;
        client->continued = false;
    }
}

/* Wait for "100 Continue", but not for ever. */
static void client_await_continue(struct xs_client *client)
{
    const struct xs_plan *plan;

    if (client->asked == 0 || client->paused) {
        return;
    }
    plan = &client->plans[client->asked - 1];
    if (plan->expect && client->sent == plan->head_end && !client->continued) {
        client->paused = true;
        xs_sim_timer_set(client->sim, &client->send_timer,
                         xs_sim_now(client->sim) + CLIENT_CONTINUE_NS);
    }
}

/* The end of a segment that goes a little into the next request. */
static size_t client_straddle(const struct xs_client *client)
{
    for (unsigned i = 1; i < client->plan_count; i++) {
        size_t end = client->plans[i].begin + client->script.straddle;

        if (end > client->sent) {
            return end;
        }
    }
    return client->stream.len;
}

/* How many bytes the next segment has. */
static size_t client_segment(const struct xs_client *client)
{
    const struct xs_client_script *script = &client->script;
    size_t limit = client_send_limit(client);
    size_t len = limit > client->sent ? limit - client->sent : 0;

    if (client->calm) {
        return len;
    }
    if (script->straddle > 0) {
        size_t most = client_straddle(client) - client->sent;

        len = len < most ? len : most;
    }
    if (script->segment_max > 0) {
        size_t most = client_grown(script->segment_max, client->segments);

        len = len < most ? len : most;
    }
    if (script->end >= XS_CLIENT_RESETS && !script->end_on_received &&
        !client->broke_off && len > script->end_at - client->sent) {
        len = script->end_at - client->sent;
    }
    return len;
}

static void client_sending(struct xs_client *client)
{
    if (client->half_closed ||
        (client->broke_off && client->script.end == XS_CLIENT_STOPS)) {
        return;
    }
    if (client->reader.continues > 0) {
        client->continued = true;
        client->reader.continues = 0;
        client->paused = client->paused && client->script.pace_ns > 0;
    }
    while (!client->paused) {
        size_t len = client_segment(client);
        int64_t put;

        if (len == 0) {
            break;
        }
        put = xs_sim_peer_write(client->peer,
                                client->stream.data + client->sent, len);
        if (put <= 0) {
            break; /* full, or dead: reading will tell */
        }
        client->sent += (size_t)put;
        client->segments++;
        client_ask(client);
        if (client_break_off(client)) {
            return;
        }
        if (client->script.pace_ns > 0 && !client->calm) {
            client->paused = true;
            xs_sim_timer_set(client->sim, &client->send_timer,
                             xs_sim_now(client->sim) + client->script.pace_ns);
        }
    }
    client_await_continue(client);
}

/* steps */

static void client_step(struct xs_client *client)
{
    if (client->peer == NULL || client_break_off(client)) {
        return;
    }
    client_reading(client);
    if (!client->done) {
        client_sending(client);
    }
    if (!client->done) {
        client_end(client);
    }
}

static void client_on_event(struct xs_sim_peer *peer)
{
    client_step(peer->user);
}

static void client_on_read_timer(struct xs_sim_timer *timer)
{
    client_step(xs_container_of(timer, struct xs_client, read_timer));
}

/* Nothing can come on a connection that is lost in silence. */
static void client_on_patience(struct xs_sim_timer *timer)
{
    struct xs_client *client =
        xs_container_of(timer, struct xs_client, patience);

    client->gave_up = true;
    client_done(client);
}

static void client_connect(struct xs_client *client)
{
    int err = xs_sim_peer_open(client->sim, &client->peer, &client->to);

    if (err != 0) {
        client->refused = true;
        client_done(client);
        return;
    }
    client->port = client->peer->local.port;
    client->peer->on_event = client_on_event;
    client->peer->user = client;
    if (client->on_open != NULL) {
        client->on_open(client);
    }
}

static void client_on_send_timer(struct xs_sim_timer *timer)
{
    struct xs_client *client =
        xs_container_of(timer, struct xs_client, send_timer);
    bool waited = client->paused && client->asked > 0 &&
                  client->sent == client->plans[client->asked - 1].head_end;

    if (client->peer == NULL) {
        client_connect(client);
    }
    client->paused = false;
    client->continued = client->continued || waited;
    client_step(client);
}

void xs_client_init(struct xs_client *client, struct xs_sim *sim,
                    const struct xs_io_addr *to,
                    const struct xs_pattern *pattern,
                    struct xs_verdict *verdict)
{
    struct xs_bytes stream = client->stream;

    memset(client, 0, offsetof(struct xs_client, reader));
    memset(&client->sent, 0, sizeof *client - offsetof(struct xs_client, sent));
    client->stream = stream;
    client->sim = sim;
    client->to = *to;
    client->send_timer.fire = client_on_send_timer;
    client->read_timer.fire = client_on_read_timer;
    client->patience.fire = client_on_patience;
    xs_reader_init(&client->reader, verdict);
    xs_client_draw(client, xs_sim_tape(sim), pattern);
    xs_sim_timer_set(sim, &client->send_timer,
                     xs_sim_now(sim) + client->script.start_ns);
}

void xs_client_fini(struct xs_client *client)
{
    xs_bytes_fini(&client->stream);
}

void xs_client_calm(struct xs_client *client)
{
    client->calm = true;
    if (!client->done) {
        xs_sim_timer_set(client->sim, &client->patience,
                         xs_sim_now(client->sim) + CLIENT_PATIENCE_NS);
    }
    if (client->peer != NULL && !client->done) {
        client->paused = false;
        client->continued = true;
        client_step(client);
    }
}

bool xs_client_is_good(const struct xs_client *client)
{
    return !client->broke_off && !client->refused && !client->rude;
}
