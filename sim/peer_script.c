/* peer_script.c - what a scripted client will do, drawn or told beforehand. */

#include <string.h>

#include "core/base/limits.h"
#include "sim/peer.h"

static uint64_t client_pause(struct xs_tape *tape, enum xs_label label)
{
    static const uint32_t pauses_ms[] = {1, 50, 700, 3000, 12000, 25000};

    return pauses_ms[xs_choose(tape, label, XS_COUNT_OF(pauses_ms))] * XS_MS_NS;
}

static void client_draw_pace(struct xs_client_script *script,
                             struct xs_tape *tape)
{
    switch (xs_choose(tape, XS_LABEL_PEER_SEGMENT, 4)) {
        case 2:
            script->segment_max =
                1 + xs_plan_size(tape, XS_LABEL_PEER_SEGMENT, XS_CLIENT_READ);
            break;
        case 3:
            script->straddle = 1 + xs_choose(tape, XS_LABEL_PEER_SEGMENT, 60);
            break;
        default:
            break;
    }
    if (xs_choose(tape, XS_LABEL_PEER_PACE, 8) >=
        (script->straddle > 0 ? 3u : 6u)) {
        script->pace_ns = client_pause(tape, XS_LABEL_PEER_PACE);
    }
    if (xs_choose(tape, XS_LABEL_PEER_PIPELINE, 2) == 1) {
        script->pipeline =
            xs_choose(tape, XS_LABEL_PEER_PIPELINE, XS_PLANS_MAX);
    }
    if (script->straddle > 0) {
        script->pipeline = XS_PLANS_MAX;
    }
    switch (xs_choose(tape, XS_LABEL_PEER_READ, 8)) {
        case 5:
        case 6:
            script->reading = XS_CLIENT_READS_SLOWLY;
            script->read_max =
                1 + xs_plan_size(tape, XS_LABEL_PEER_READ, XS_CLIENT_READ - 1);
            script->read_ns = client_pause(tape, XS_LABEL_PEER_READ);
            break;
        case 7:
            script->reading = XS_CLIENT_READS_NOTHING;
            break;
        default:
            break;
    }
}

static void client_draw_end(struct xs_client *client, struct xs_tape *tape)
{
    struct xs_client_script *script = &client->script;

    switch (xs_choose(tape, XS_LABEL_PEER_END, 8)) {
        case 4:
            script->end = XS_CLIENT_WAITS;
            return;
        case 5:
            script->end = XS_CLIENT_HALF_CLOSES;
            return;
        case 6:
        case 7:
            break;
        default:
            script->end = XS_CLIENT_CLOSES;
            return;
    }
    script->end = XS_CLIENT_RESETS +
                  (enum xs_client_end)xs_choose(tape, XS_LABEL_PEER_END, 4);
    script->end_on_received = xs_choose(tape, XS_LABEL_PEER_END, 2) == 1;
    script->end_at =
        script->end_on_received
            ? xs_plan_size(tape, XS_LABEL_PEER_END, XS_CLIENT_READ * 4)
            : xs_size(tape, XS_LABEL_PEER_END, (uint32_t)client->stream.len);
}

void xs_client_draw(struct xs_client *client, struct xs_tape *tape,
                    const struct xs_pattern *pattern)
{
    struct xs_client_script *script = &client->script;
    bool bad = xs_choose(tape, XS_LABEL_PEER_BAD, 16) == 15;

    memset(script, 0, sizeof *script);
    client->stream.len = 0;
    client->plan_count = 1 + xs_choose(tape, XS_LABEL_PEER_COUNT, 4);
    if (client->plan_count == 4) {
        client->plan_count += xs_choose(tape, XS_LABEL_PEER_COUNT,
                                        XS_PLANS_MAX - client->plan_count + 1);
    }
    for (unsigned i = 0; i < client->plan_count; i++) {
        if (bad && i == client->plan_count - 1) {
            xs_plan_draw_bad(&client->plans[i], tape, &client->stream);
        } else {
            xs_plan_draw(&client->plans[i], tape, pattern, &client->stream, i);
        }
        if (i + 1 < client->plan_count && !client->plans[i].keep_alive &&
            !client->rude) {
            /* It has said that this is its last request. */
            client->rude = xs_choose(tape, XS_LABEL_PEER_COUNT, 8) == 7;
            client->plan_count = client->rude ? client->plan_count : i + 1;
        }
    }
    if (xs_choose(tape, XS_LABEL_PEER_START, 4) == 3) {
        script->start_ns = client_pause(tape, XS_LABEL_PEER_START);
    }
    client_draw_pace(script, tape);
    client_draw_end(client, tape);
    if (xs_choose(tape, XS_LABEL_PEER_END, 4) == 3) {
        script->stay_ns = client_pause(tape, XS_LABEL_PEER_END);
    }
}

void xs_client_say(struct xs_client *client, struct xs_slice stream,
                   const struct xs_plan *plans, unsigned count)
{
    XS_ASSERT(count > 0);
    XS_ASSERT(count <= XS_PLANS_MAX);
    client->stream.len = 0;
    xs_bytes_add(&client->stream, stream);
    memcpy(client->plans, plans, count * sizeof *plans);
    client->plan_count = count;
    client->rude = false;
    for (unsigned i = 0; i + 1 < count; i++) {
        client->rude = client->rude || !plans[i].keep_alive;
    }
    if (!client->script.end_on_received && client->script.end_at > stream.len) {
        client->script.end_at = stream.len;
    }
}
