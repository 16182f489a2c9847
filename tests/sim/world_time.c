/* world_time.c - what must hold when a deadline is over: O13, O14. */

#include <inttypes.h>

#include "core/base/limits.h"
#include "core/conn/conn.h"
#include "tests/sim/world.h"

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The last thing before which the deadline cannot have begun. */
static uint64_t site_since(const struct world_site *site,
                           enum xs_deadline_kind kind)
{
    const struct xs_app_conn *conn = site->conn;

    switch (kind) {
        case XS_DEADLINE_HEAD:
            return max2(site->accept_ns, conn->ended_ns);
        case XS_DEADLINE_BODY:
            return site->recv_ns;
        case XS_DEADLINE_KEEP_ALIVE:
        case XS_DEADLINE_WRITE:
            return site->write_ns;
        case XS_DEADLINE_LINGER:
            return site->end_ns;
        case XS_DEADLINE_KINDS:
            break;
    }
    XS_UNREACHABLE();
}

/* When it must have begun at the latest; XS_NEVER: cannot be told from here. */
static uint64_t site_since_at_most(const struct world_site *site,
                                   enum xs_deadline_kind kind)
{
    const struct xs_app_conn *conn = site->conn;
    uint64_t last = max2(site->recv_ns, max2(site->write_ns, conn->ended_ns));

    switch (kind) {
        case XS_DEADLINE_HEAD:
            return conn->count == 0 ? site->accept_ns : XS_NEVER;
        case XS_DEADLINE_BODY:
            if (conn->count > 0) {
                last = max2(last, conn->calls[conn->count - 1].wait_ns);
            }
            return last;
        case XS_DEADLINE_KEEP_ALIVE:
            return last;
        case XS_DEADLINE_LINGER:
            return site->end_ns;
        case XS_DEADLINE_WRITE: /* the peer may have acknowledged bytes */
        case XS_DEADLINE_KINDS:
            break;
    }
    return XS_NEVER;
}

/* What came while the server was away came in time, and is to be read first.
 * Through a small window more may come as it is. */
static bool site_waits_for_bytes(enum xs_deadline_kind kind)
{
    return kind == XS_DEADLINE_HEAD || kind == XS_DEADLINE_BODY ||
           kind == XS_DEADLINE_KEEP_ALIVE;
}

void world_expired(struct world_site *site, enum xs_deadline_kind kind)
{
    const struct world *world = site->world;
    uint64_t lasts = world->config.limits.timeout_ns[kind];
    uint64_t late = xs_sim_stats(world->sim)->late_ns + WORLD_LATE_MAX_NS;
    uint64_t at_most = site_since_at_most(site, kind);
    uint64_t now = xs_sim_now(site->world->sim);
    enum xs_oracle oracle =
        kind == XS_DEADLINE_WRITE ? XS_ORACLE_O13 : XS_ORACLE_O14;

    site->expired = true;
    if (!world->misread && site_waits_for_bytes(kind) &&
        xs_sim_peer_unread(site->peer) > 0 && site->recv_ns != now) {
        world_fault(site, oracle, "deadline %d is over, and bytes are here",
                    (int)kind);
    }
    if (now < site_since(site, kind) + lasts) {
        world_fault(site, oracle, "deadline %d is early: %" PRIu64 " ms",
                    (int)kind, (now - site_since(site, kind)) / XS_MS_NS);
    }
    if (at_most != XS_NEVER && now > at_most + lasts + late) {
        world_fault(site, oracle, "deadline %d is late: %" PRIu64 " ms",
                    (int)kind, (now - at_most) / XS_MS_NS);
    }
}
