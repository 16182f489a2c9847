/* world_end.c - what must hold when a world has ended. */

#include <inttypes.h>

#include "core/base/limits.h"
#include "tests/sim/world.h"

/* What the client has read is what the application has said. Where a reset
 * destroys what has arrived and was not read, and the end of the stream has
 * arrived as well, the client cannot tell (RFC 9112 8): then exactly those
 * bytes are missing. That the reset had a reason is O7. */
static void site_check_response(struct world_site *site, unsigned number)
{
    const struct xs_app_call *call = &site->conn->calls[number];
    const struct xs_reader *reader = &site->client->reader;
    const struct xs_response *response = &reader->responses[number];
    const struct xs_app_script *script = &call->script;
    size_t len = script->body_len;
    struct xs_slice body;

    if (!call->finished || number >= reader->complete) {
        return;
    }
    if (call->plan->is_head || script->status == 204 || script->status == 205 ||
        script->status == 304) {
        len = 0;
    } else if (!response->has_length && !response->chunked &&
               site->client->purged <= len) {
        len -= site->client->purged;
    }
    body = xs_pattern_body(&site->world->pattern, script->body_seed, len);
    if (response->status != script->status || response->body_len != len ||
        response->body_hash != xs_reader_hash(0, 0, body)) {
        world_fault(site, XS_ORACLE_O3,
                    "response %u is read as %u with %" PRIu64
                    " bytes, said was %u with %zu",
                    number, response->status, response->body_len,
                    script->status, len);
    }
}

/* A body over the limit ends its connection, one way or the other; so may a
 * stream that is too long to be thrown away. */
static bool site_was_too_long(const struct world_site *site)
{
    for (unsigned i = 0; i < site->client->plan_count; i++) {
        if (site->client->plans[i].body_len > site->world->app.body_max) {
            return true;
        }
    }
    return site->client->stream.len > XS_DISCARD_MAX;
}

/* The server has stopped before it could do its part. */
static bool site_was_cut_off(const struct world_site *site)
{
    const struct world *world = site->world;

    return world->stopped_early &&
           (!site->accepted || world->vague || site->client->purged > 0 ||
            site->closed_ns >= world->stop_ns + world->grace_ns);
}

/* Whether anything has happened that may cost a client its answers. */
static bool site_is_excused(const struct world_site *site)
{
    const struct world *world = site->world;
    const struct xs_app_conn *conn = site->conn;

    return !xs_client_is_good(site->client) || world->app.kills ||
           world->memory_fails || site->expired || conn->spoilt ||
           site_was_too_long(site) || site_was_cut_off(site);
}

/* What may reset a client, even one that has got its end already: the network,
 * itself, a deadline, a stop, an application or memory that fails. */
static bool site_may_be_reset(const struct world_site *site)
{
    const struct world *world = site->world;

    return !xs_client_is_good(site->client) || world->app.kills ||
           world->memory_fails || site->expired || site->conn->spoilt ||
           (world->stopped &&
            (!site->accepted || site->closed_ns >= world->stop_ns));
}

/* Answers that were given in whole. */
static unsigned site_finished(const struct world_site *site)
{
    unsigned finished = 0;

    for (unsigned i = 0; i < site->conn->count; i++) {
        finished += site->conn->calls[i].finished;
    }
    return finished;
}

/* A client that does its part gets all answers, whole and in order. */
static void site_check_answers(struct world_site *site)
{
    const struct xs_client *client = site->client;
    const struct xs_app_conn *conn = site->conn;
    unsigned due = client->plan_count;

    if (site_is_excused(site)) {
        return;
    }
    if (conn->model.close_said || site->refused) {
        due = conn->count + (site->refused ? 1 : 0);
    } else if (site->world->stopped_early) {
        due = site_finished(site);
        due = due < client->reader.complete ? client->reader.complete : due;
    }
    if (client->reader.complete != due) {
        world_fault(site, XS_ORACLE_O9, "%u of %u answers have come",
                    client->reader.complete, due);
    } else if (site->world->stopped_early) {
        return; /* it may have been about to ask for more */
    } else if (client->was_reset) {
        world_fault(site, XS_ORACLE_O9, "reset without need");
    } else if (client->ended && !client->ended_well) {
        world_fault(site, XS_ORACLE_O9, "the stream ends inside an answer");
    }
}

/* Refusals that must have been told: each one that ended a call, and the one
 * that was never one. */
static unsigned site_refusals(const struct world_site *site)
{
    unsigned refusals = site->refused ? 1 : 0;

    for (unsigned i = 0; i < site->conn->count; i++) {
        const struct xs_app_call *call = &site->conn->calls[i];

        refusals += call->aborted && (call->why == XS_ABORT_SYNTAX ||
                                      call->why == XS_ABORT_LIMIT ||
                                      call->why == XS_ABORT_BODY_TIMEOUT);
    }
    return refusals;
}

static void site_check_end(struct world_site *site)
{
    const struct xs_app_conn *conn = site->conn;

    for (unsigned i = 0; i < conn->count; i++) {
        if (conn->calls[i].phase != XS_APP_OVER) {
            world_fault(site, XS_ORACLE_O9, "request %u has not ended", i);
        }
        site_check_response(site, i);
    }
    if (conn->closes != (conn->count > 0 ? 1u : 0u)) {
        world_fault(site, XS_ORACLE_O17, "conn_user is given back %u times",
                    conn->closes);
    }
    if (site->world->config.events.access != NULL &&
        conn->accesses != conn->count) {
        world_fault(site, XS_ORACLE_O11, "%u ends of %u requests are logged",
                    conn->accesses, conn->count);
    }
    if (site->world->config.events.access != NULL && site->refusal_due &&
        site->refusals == 0) {
        world_fault(site, XS_ORACLE_O11, "a refusal is not logged");
    }
    if (site->told < site_refusals(site)) {
        world_fault(site, XS_ORACLE_O11, "%u refusals are told of %u",
                    site->told, site_refusals(site));
    }
    if (site->accepted && !site->closed) {
        world_fault(site, XS_ORACLE_O17, "the server has not closed");
    }
    if (site->client->killed && !site_may_be_reset(site)) {
        world_fault(site, XS_ORACLE_O7, "the client is reset without a reason");
    }
    if (conn->torn && site->client->reader.complete > conn->torn_at) {
        world_fault(site, XS_ORACLE_O3, "answer %u looks whole, and is torn",
                    conn->torn_at);
    }
    site_check_answers(site);
}

void world_check_end(struct world *world)
{
    for (unsigned i = 0; i < world->client_count; i++) {
        site_check_end(&world->sites[i]);
    }
    if (world->app.lent != world->app.released) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O18,
                        "%" PRIu64 " pieces were lent, %" PRIu64 " released",
                        world->app.lent, world->app.released);
    }
    if (world->stops != 1) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O17,
                        "it says %u times that it has stopped", world->stops);
    }
    if (world->server.stats.connections != 0 ||
        world->server.stats.requests != 0) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O17,
                        "the server counts what is gone");
    }
}

void world_check_after(struct world *world)
{
    const struct xs_sim_stats *stats = xs_sim_stats(world->sim);

    if (stats->mem_blocks != 0) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O18,
                        "%zu blocks of memory are left", stats->mem_blocks);
    }
    if (stats->conns != 0 || stats->links != 0) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O17,
                        "%u connections and %u links are left", stats->conns,
                        stats->links);
    }
    if (!xs_sim_idle(world->sim)) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O17,
                        "something is planned still");
    }
}
