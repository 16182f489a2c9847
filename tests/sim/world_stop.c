/* world_stop.c - what must hold when a server stops, above all for those who
 * have not asked yet: O8, O17, O22. */

#include "core/base/limits.h"
#include "core/conn/conn.h"
#include "tests/sim/world.h"

static uint64_t site_now(const struct world_site *site)
{
    return xs_sim_now(site->world->sim);
}

void world_moved(struct world_site *site, unsigned state)
{
    if (state == XS_CONN_HEAD) {
        site->head_ns = site_now(site);
    }
    if (state < XS_CONN_CLOSING) {
        site->was = state;
    } else if (state == XS_CONN_CLOSING && !site->world->stopped) {
        site->was = state; /* it is not the stop that ends it */
    } else if (state == XS_CONN_CLOSING) {
        site->here = site->recv_total;
        site->here += site->world->misread ? 0 : xs_sim_peer_unread(site->peer);
    }
}

/* A request is here, or may be on its way. */
static bool site_is_asked(const struct world_site *site)
{
    unsigned count = site->conn->count;
    uint64_t since = count == 0 ? site->accept_ns : site->head_ns;

    if ((count == 0 || site->was == XS_CONN_HEAD) &&
        site_now(site) < since + XS_STOP_FRESH_NS) {
        return true;
    }
    return (site->was == XS_CONN_IDLE || site->was == XS_CONN_HEAD) &&
           count < site->client->plan_count &&
           site->here >= site->client->plans[count].head_end;
}

/* A stop has ended this connection, which is not dead, over a request: O22. */
static bool site_is_lost(const struct world_site *site)
{
    const struct world *world = site->world;

    return world->stopped && site->was < XS_CONN_CLOSING &&
           site_is_asked(site) && !site->eof && !site->conn->spoilt &&
           xs_model_is_complete(&site->conn->model) && !site->refused &&
           !site->expired && !world->memory_fails &&
           site_now(site) < world->stop_ns + world->grace_ns;
}

void world_check_lost(struct world_site *site)
{
    if (site_is_lost(site)) {
        world_fault(site, XS_ORACLE_O22, "a stop ends it over a request");
    }
}

void world_check_stopping(struct world_site *site, bool is_idle)
{
    const struct world *world = site->world;
    bool is_first = site->conn->count == 0;
    uint64_t since = is_first ? site->accept_ns : site->head_ns;
    uint64_t late = xs_sim_stats(world->sim)->late_ns + WORLD_LATE_MAX_NS;
    bool is_old =
        site_now(site) > since + XS_STOP_FRESH_NS + XS_STOP_LOOK_NS + late;

    if (is_idle && (is_old || !is_first)) {
        world_fault(site, XS_ORACLE_O8, "an idle connection outlives the stop");
    } else if (is_old && world->server.stats.requests == 0) {
        world_fault(site, XS_ORACLE_O8, "half a head outlives the stop");
    } else if (!site->eof &&
               (xs_sim_peer_wanted(site->peer) & XS_IO_READ) == 0) {
        world_fault(site, XS_ORACLE_O22, "nobody reads the next request");
    }
}

void world_on_stopped(void *user)
{
    struct world *world = user;

    world->stops++;
    if (!world->stopped || world->server.stats.connections != 0) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O17,
                        "stopped before it is, or without being told to");
    }
}
