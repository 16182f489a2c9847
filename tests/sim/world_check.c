/* world_check.c - what must hold while a world runs, and at its end. */

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/limits.h"
#include "core/conn/conn.h"
#include "tests/sim/world.h"

/* Callbacks in a row that lead to nothing. A fault may make a few. */
#define IDLE_CALLS_MAX 1000u

/* The core's memory: what it keeps for all, and for each connection a block,
 * a table of fields, and a queue as long as its high mark and a piece. */
#define MEM_FIXED ((size_t)1200 * 1024)
#define MEM_CONN ((size_t)400 * 1024)

static uint64_t min2(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t site_now(const struct world_site *site)
{
    return xs_sim_now(site->world->sim);
}

void world_fault(struct world_site *site, enum xs_oracle oracle,
                 const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    xs_verdict_fail(&site->world->verdict, oracle, "#%" PRIu64 ": %s",
                    site->number, text);
}

/* Of those who are waited for, the slowest; and only if it is too much. */
static void site_dropped(struct world_site *site)
{
    const struct xs_server *server = &site->world->server;
    const struct xs_list *link;
    uint64_t own = XS_NEVER;
    uint64_t least = XS_NEVER;

    site->expired = true;
    for (link = server->conns.next; link != &server->conns; link = link->next) {
        const struct xs_conn *conn =
            xs_container_of(link, const struct xs_conn, link);

        least = min2(least, conn->writing.at_ns);
        own = conn->id == site->conn_id ? conn->writing.at_ns : own;
    }
    if (own != least ||
        server->stats.backlog <= server->config.limits.backlog_max) {
        world_fault(site, XS_ORACLE_O20, "dropped, and not the one to pay");
    }
}

void world_on_note(void *user, const char *what, uint64_t a, uint64_t b)
{
    struct world *world = user;

    if (strcmp(what, "conn.open") == 0 && world->newest != NULL) {
        world->newest->conn_id = a;
        world->newest = NULL;
        return;
    }
    for (unsigned i = 0; i < world->client_count; i++) {
        struct world_site *site = &world->sites[i];

        if (site->conn_id != a) {
            continue;
        }
        if (strcmp(what, "conn.expire") == 0) {
            world_expired(site, (enum xs_deadline_kind)b);
        } else if (strcmp(what, "conn.drop") == 0) {
            site_dropped(site);
        } else if (strcmp(what, "conn.state") == 0) {
            world_moved(site, (unsigned)b);
        }
    }
}

/* the server's end of the connection: O7, O11 */

static struct world_site *site_of(struct xs_sim_tap *tap)
{
    return xs_container_of(tap, struct world_site, tap);
}

static void on_accepted(struct xs_sim_tap *tap)
{
    struct world_site *site = site_of(tap);

    site->accepted = true;
    site->accept_ns = site_now(site);
    site->recv_ns = site->accept_ns;
    site->write_ns = site->accept_ns;
    site->world->newest = site;
}

static void on_received(struct xs_sim_tap *tap, size_t len)
{
    struct world_site *site = site_of(tap);

    site->recv_ns = site_now(site);
    site->recv_total += len;
    site->dropped += site->ended ? len : 0;
    site->eof = site->eof || len == 0;
}

static void on_wrote(struct xs_sim_tap *tap, const uint8_t *data, size_t len)
{
    struct world_site *site = site_of(tap);

    site->write_ns = site_now(site);
    xs_model_wrote(&site->conn->model, xs_slice_of(data, len));
}

static void on_ended(struct xs_sim_tap *tap)
{
    struct world_site *site = site_of(tap);
    const struct xs_app_conn *conn = site->conn;

    site->ended = true;
    site->end_ns = site_now(site);
    if (!xs_model_is_complete(&conn->model)) {
        world_fault(site, XS_ORACLE_O7, "ended before all was written");
    }
}

static void on_torn(struct xs_sim_tap *tap, int file)
{
    xs_app_tear(&site_of(tap)->world->app, file);
}

/* Whether the server may reset this connection, which is not dead. */
static bool site_may_reset(const struct world_site *site)
{
    const struct world *world = site->world;

    return site->expired || site->conn->spoilt || world->memory_fails ||
           (world->stopped &&
            site_now(site) >= world->stop_ns + world->grace_ns);
}

static void on_closed(struct xs_sim_tap *tap, bool abort, bool dead)
{
    struct world_site *site = site_of(tap);
    struct xs_app_conn *conn = site->conn;

    world_check_linger(site);
    site->closed = true;
    site->closed_ns = site_now(site);
    site->dead = dead;
    if (conn->count > 0 && conn->calls[conn->count - 1].phase != XS_APP_OVER) {
        world_fault(site, XS_ORACLE_O11,
                    "closed without a word to the application");
    }
    if (abort && !dead && !site_may_reset(site)) {
        world_fault(site, XS_ORACLE_O7, "reset without a reason");
    }
    if (!dead) {
        world_check_lost(site);
    }
}

void world_tap(struct world_site *site)
{
    site->tap = (struct xs_sim_tap){
        .accepted = on_accepted,
        .received = on_received,
        .wrote = on_wrote,
        .torn = on_torn,
        .ended = on_ended,
        .closed = on_closed,
    };
}

/* refusals: O4 */

/* The application has just heard that its last request is aborted. */
static bool site_is_aborted(const struct world_site *site)
{
    const struct xs_app_conn *conn = site->conn;

    return conn->count > 0 && conn->calls[conn->count - 1].aborted;
}

/* The number of the request that is refused: one whose body is not all here,
 * or the next. */
static unsigned site_refusing(const struct world_site *site, bool answered)
{
    unsigned count = site->conn->count;
    const struct xs_plan *last =
        &site->client->plans[count > 0 ? count - 1 : 0];
    bool is_ill = count > 0 && (last->bad == XS_PLAN_BAD_BODY ||
                                last->body_len > site->world->app.body_max);

    return site_is_aborted(site) || (is_ill && !answered) ? count - 1 : count;
}

static bool site_may_refuse(const struct world_site *site, enum xs_refusal why,
                            unsigned number)
{
    const struct xs_client *client = site->client;

    if (why == XS_REFUSE_HEAD_TIMEOUT) {
        return site->expired && !site_is_aborted(site);
    }
    if (why == XS_REFUSE_BODY_TIMEOUT) {
        return site->expired && site_is_aborted(site);
    }
    if (why == XS_REFUSE_BUSY) {
        return site->world->config.limits.requests_max > 0;
    }
    if (why == XS_REFUSE_BODY_SIZE && number < client->plan_count) {
        return client->plans[number].body_len > site->world->app.body_max;
    }
    return number < client->plan_count &&
           client->plans[number].bad != XS_PLAN_LEGAL;
}

/* Whether the refusal answers a HEAD, which is known when the target begins. */
static bool site_refuses_head(const struct world_site *site)
{
    struct xs_client *client = site->client;
    unsigned number = site->conn->count;

    if (number >= client->plan_count ||
        site->recv_total <= client->plans[number].target_at) {
        client->reader.asked_head[number] = false;
    }
    return client->reader.asked_head[number];
}

/* The server answers in the application's place. */
static void site_answered(struct world_site *site, enum xs_refusal why)
{
    const struct xs_model_ties ties = {.must_close = true};

    xs_model_refuse(&site->conn->model, xs_refusal_status(why),
                    xs_slice_str(xs_refusal_text(why)),
                    xs_app_wall(&site->world->app), &ties);
}

/* A whole request is refused, of which the application has never heard. */
static void site_refused(struct world_site *site, enum xs_refusal why,
                         bool answered)
{
    struct xs_app_conn *conn = site->conn;

    site->refused = true;
    conn->last = true;
    if (answered) {
        site->refusal_due = true;
        xs_model_request(&conn->model, 1, site_refuses_head(site),
                         xs_app_wall(&site->world->app));
        site_answered(site, why);
    }
}

void world_on_refused(void *user, const struct xs_io_addr *peer,
                      enum xs_refusal why, bool answered)
{
    struct world *world = user;

    for (unsigned i = 0; i < world->client_count; i++) {
        struct world_site *site = &world->sites[i];
        unsigned number = site_refusing(site, answered);

        if (world->clients[i].port != peer->port) {
            continue;
        }
        site->told++;
        if (!site_may_refuse(site, why, number)) {
            world_fault(site, XS_ORACLE_O4, "request %u is refused: %s", number,
                        xs_refusal_rule(why));
        }
        if (number == site->conn->count) {
            site_refused(site, why, answered);
        } else if (answered) {
            site_answered(site, why);
        }
    }
}

/* what the server tells: O11 */

void world_on_conn_close(void *user, void *conn_user)
{
    struct xs_app_conn *conn = conn_user;
    (void)user;

    conn->closes++;
}

/* `refused` was told just before. */
static void site_refusal_logged(struct world_site *site,
                                const struct xs_access *access)
{
    site->refusals++;
    if (!site->refused || site->refusals > 1) {
        world_fault(site, XS_ORACLE_O11, "a refusal is logged that was none");
    }
    if (access->start_ns != site_now(site) ||
        access->end_ns != site_now(site) || access->why[0] == '\0') {
        world_fault(site, XS_ORACLE_O11, "another refusal is logged");
    }
}

/* The present request of `site` has ended. */
static void site_accessed(struct world_site *site,
                          const struct xs_access *access)
{
    struct xs_app_conn *conn = site->conn;
    const struct xs_app_call *call;
    bool drops;

    if (access->is_refused) {
        site_refusal_logged(site, access);
        return;
    }
    conn->accesses++;
    if (conn->accesses != conn->count) {
        world_fault(site, XS_ORACLE_O11, "%u ends of %u requests are logged",
                    conn->accesses, conn->count);
        return;
    }
    call = &conn->calls[conn->count - 1];
    drops = call->plan->is_head || call->script.status == 204 ||
            call->script.status == 205 || call->script.status == 304;
    if (!site->world->memory_fails && call->plan->bad == XS_PLAN_LEGAL &&
        (!xs_slice_eq(access->method, call->plan->method) ||
         access->target.len != min2(call->plan->target_len, XS_ACCESS_TEXT) ||
         access->minor != call->plan->minor)) {
        world_fault(site, XS_ORACLE_O11, "another request is logged");
    }
    if (!site->world->memory_fails &&
        !xs_slice_eq(
            access->request_values[0],
            xs_slice_of(call->plan->host.data,
                        min2(call->plan->host.len, XS_ACCESS_VALUE))) &&
        call->plan->bad == XS_PLAN_LEGAL) {
        world_fault(site, XS_ORACLE_O11, "another host is logged");
    }
    if (strcmp(access->why, "ok") == 0 && conn->torn &&
        conn->torn_at == conn->count - 1) {
        world_fault(site, XS_ORACLE_O11, "a torn answer is logged as whole");
    }
    if (access->end_ns != site_now(site) || access->start_ns > access->end_ns) {
        world_fault(site, XS_ORACLE_O11, "another time is logged");
    }
    if (strcmp(access->why, "ok") == 0 &&
        (access->status != call->script.status ||
         access->body_bytes != (drops ? 0 : call->script.body_len))) {
        world_fault(site, XS_ORACLE_O11,
                    "status %u and %" PRIu64 " bytes are logged",
                    access->status, access->body_bytes);
    }
}

void world_on_access(void *user, const struct xs_access *access)
{
    struct world *world = user;

    for (unsigned i = 0; i < world->client_count; i++) {
        if (world->clients[i].port == access->peer->port) {
            site_accessed(&world->sites[i], access);
        }
    }
}

/* at every step: O19, O20 */

/* What waits for all clients, counted anew. */
static void world_check_backlog(struct world *world)
{
    const struct xs_server *server = &world->server;
    const struct xs_list *link;
    size_t backlog = 0;
    size_t waits = 0; /* of those who can be dropped */

    for (link = server->conns.next; link != &server->conns; link = link->next) {
        const struct xs_conn *conn =
            xs_container_of(link, const struct xs_conn, link);

        backlog += conn->backlog;
        waits += xs_queue_ready(&conn->tx.queue) > 0 ? conn->backlog : 0;
    }
    if (backlog != server->stats.backlog ||
        waits > server->config.limits.backlog_max) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O20,
                        "%zu bytes wait, %zu are counted", waits,
                        server->stats.backlog);
    }
}

void world_check_step(struct world *world)
{
    const struct xs_sim_stats *stats = xs_sim_stats(world->sim);

    if (stats->idle_calls_most > IDLE_CALLS_MAX) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O19,
                        "%" PRIu64 " callbacks lead to nothing",
                        stats->idle_calls_most);
    }
    if (stats->writes_blind > 0) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O19,
                        "a write after AGAIN without having been told");
    }
    if (stats->mem_bytes_most >
        MEM_FIXED + MEM_CONN * world->client_count +
            2 * world->config.limits.tx_high * world->client_count) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O20, "%zu bytes in use",
                        stats->mem_bytes_most);
    }
    world_check_backlog(world);
}
