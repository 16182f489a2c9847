/* world_idle.c - what must hold whenever time is about to pass: all that can
 * be done at this moment has been done. O8, O9, O10, O11, O12, O22. */

#include "core/base/limits.h"
#include "tests/sim/world.h"

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t site_now(const struct world_site *site)
{
    return xs_sim_now(site->world->sim);
}

/* The body of a request that the application waits for. */
static void site_check_waiting(struct world_site *site,
                               const struct xs_app_call *call)
{
    const struct xs_plan *plan = call->plan;

    if (site->recv_total >= plan->end ||
        (!plan->chunked && site->recv_total > plan->head_end + call->got)) {
        world_fault(site, XS_ORACLE_O11, "on_body does not come");
    }
    if (site->eof && site->recv_total < plan->end) {
        world_fault(site, XS_ORACLE_O11, "the client's end is not noticed");
    }
}

/* No request is at the application, and all is written. */
static void site_check_resting(struct world_site *site)
{
    const struct xs_app_conn *conn = site->conn;
    size_t handled = 0;

    if (conn->count > 0) {
        handled = conn->calls[conn->count - 1].plan->end;
    }
    if (conn->model.close_said) {
        world_fault(site, XS_ORACLE_O8, "it said that it closes, and does not");
    }
    if (site->world->stopped) {
        world_check_stopping(site, site->recv_total == handled);
    }
    if (site->eof && site->recv_total == handled) {
        world_fault(site, XS_ORACLE_O8,
                    "nobody is there, and it is open still");
    }
}

/* A server that stops looks every so often whether this one has everything. */
void world_check_linger(struct world_site *site)
{
    const struct world *world = site->world;
    uint64_t since = max2(site->settled_ns, max2(site->end_ns, world->stop_ns));
    uint64_t late = xs_sim_stats(world->sim)->late_ns + WORLD_LATE_MAX_NS;

    if (world->stopped && site->ended && site->dropped == 0 && !world->vague &&
        !site->owed && site_now(site) > since + XS_STOP_LOOK_NS + late) {
        world_fault(site, XS_ORACLE_O10,
                    "a stop waits for one who has got everything");
    }
}

/* Nothing more is done at this moment: what can be done has been done. */
static void site_check_idle(struct world_site *site)
{
    const struct xs_app_conn *conn = site->conn;
    const struct xs_app_call *call = NULL;

    if (!site->accepted || site->closed) {
        return;
    }
    if (xs_sim_peer_owed(site->peer) > 0) {
        site->owed = true;
    } else if (site->owed) {
        site->owed = false;
        site->settled_ns = site_now(site);
    }
    if (conn->count > 0) {
        call = &conn->calls[conn->count - 1];
    }
    if (!xs_model_is_complete(&conn->model)) {
        if ((xs_sim_peer_wanted(site->peer) & XS_IO_WRITE) == 0) {
            world_fault(site, XS_ORACLE_O9, "bytes are held back");
        }
    } else if (call != NULL && call->phase != XS_APP_OVER) {
        if (call->wait_body) {
            site_check_waiting(site, call);
        }
        if (site->eof && site->recv_total == call->plan->end && !call->eof) {
            world_fault(site, XS_ORACLE_O12, "on_eof does not come");
        }
    } else if (site->ended) {
        if (site->eof) {
            world_fault(site, XS_ORACLE_O10, "it lingers for nobody");
        }
        world_check_linger(site);
    } else if (!conn->spoilt) {
        site_check_resting(site);
    }
}

void world_on_idle(void *user)
{
    struct world *world = user;

    for (unsigned i = 0; i < world->client_count; i++) {
        site_check_idle(&world->sites[i]);
    }
}
