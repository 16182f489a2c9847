/* world.c - a whole server in a simulation: one run from start to end. */

#include "tests/sim/world.h"

#include <string.h>

#include "core/base/deadline.h"
#include "core/base/limits.h"

/* However long it takes, it takes fewer steps. */
#define WORLD_STEPS_MAX 2000000u

/* In the second phase, on top of the deadlines. */
#define WORLD_PATIENCE_NS (2000 * XS_SECOND_NS)

static void world_draw_limits(struct world *world)
{
    static const uint64_t waits_s[] = {30, 5, 1, 65};
    struct xs_limits *limits = &world->config.limits;
    struct xs_tape *tape = world->tape;

    *limits = xs_limits_default();
    for (unsigned i = 0; i < XS_DEADLINE_KINDS; i++) {
        uint32_t wait = xs_choose(tape, XS_LABEL_WORLD, XS_COUNT_OF(waits_s));

        limits->timeout_ns[i] = waits_s[wait] * XS_SECOND_NS;
    }
    switch (xs_choose(tape, XS_LABEL_WORLD, 8)) {
        case 5:
            limits->tx_high = 1000;
            limits->tx_low = 10;
            break;
        case 6:
            limits->tx_high = 1;
            limits->tx_low = 0;
            break;
        case 7:
            limits->tx_high = (size_t)1024 * 1024;
            limits->tx_low = limits->tx_high - 1;
            break;
        default:
            break;
    }
    if (xs_choose(tape, XS_LABEL_WORLD, 8) == 7) {
        limits->connections_max =
            1 + xs_choose(tape, XS_LABEL_WORLD, WORLD_CLIENTS_MAX);
    }
    if (xs_choose(tape, XS_LABEL_WORLD, 16) == 15) {
        limits->request_body_max = xs_size(tape, XS_LABEL_WORLD, 5000);
    }
    if (xs_choose(tape, XS_LABEL_WORLD, 16) == 15) {
        limits->keep_alive_max =
            1 + xs_choose(tape, XS_LABEL_WORLD, XS_PLANS_MAX);
    }
    if (xs_choose(tape, XS_LABEL_WORLD, 16) == 15) {
        limits->requests_max =
            1 + xs_choose(tape, XS_LABEL_WORLD, WORLD_CLIENTS_MAX);
    }
    if (xs_choose(tape, XS_LABEL_WORLD, 8) == 7) {
        limits->backlog_max = limits->tx_high + limits->tx_high / 2;
        if (xs_choose(tape, XS_LABEL_WORLD, 2) == 1) {
            limits->backlog_max = xs_size(tape, XS_LABEL_WORLD, 200000);
        }
    }
}

static void world_draw_stop(struct world *world)
{
    struct xs_tape *tape = world->tape;
    uint64_t now = xs_sim_now(world->sim);
    uint32_t within_ms = 20000;

    world->stop_ns = XS_NEVER;
    world->hurry_ns = XS_NEVER;
    world->grace_ns = 10 * XS_SECOND_NS;
    if (xs_choose(tape, XS_LABEL_WORLD_STOP, 8) < 6) {
        return;
    }
    if (xs_choose(tape, XS_LABEL_WORLD_STOP, 2) == 1) {
        within_ms = 1000;
    }
    world->stop_ns =
        now + XS_MS_NS * xs_size(tape, XS_LABEL_WORLD_STOP, within_ms);
    world->grace_ns = XS_MS_NS * xs_size(tape, XS_LABEL_WORLD_STOP, 20000);
    if (xs_choose(tape, XS_LABEL_WORLD_STOP, 4) == 3) {
        world->hurry_ns = world->stop_ns +
                          XS_MS_NS * xs_size(tape, XS_LABEL_WORLD_STOP, 10000);
    }
}

static int64_t world_read(void *user, int file, uint64_t offset, uint8_t *data,
                          size_t len)
{
    struct world *world = user;

    return xs_app_read(&world->app, file, offset, data, len);
}

/* Everybody is a proxy: none of them names a client. */
static enum xs_hop world_look(void *user, struct xs_slice address,
                              char out[XS_ADDRESS_MAX])
{
    (void)user;
    (void)address;

    out[0] = '\0';
    return XS_HOP_TRUSTED;
}

static void world_draw_events(struct world *world)
{
    static const struct xs_slice host = {(const uint8_t *)"host", 4};
    struct xs_server_events *events = &world->config.events;

    *events = (struct xs_server_events){
        .refused = world_on_refused,
        .conn_close = world_on_conn_close,
        .stopped = world_on_stopped,
        .user = world,
    };
    if (xs_choose(world->tape, XS_LABEL_WORLD, 2) == 1) {
        events->access = world_on_access;
        world->config.wants.request = &host;
        world->config.wants.request_count = 1;
        world->config.proxies.look = world_look;
    }
}

static void world_draw(struct world *world)
{
    static const uint64_t calms_s[] = {100, 3, 10, 30, 100, 300};
    struct xs_tape *tape = world->tape;
    uint64_t now = xs_sim_now(world->sim);

    world->client_count = 1;
    if (xs_choose(tape, XS_LABEL_WORLD, 2) == 1) {
        world->client_count +=
            xs_choose(tape, XS_LABEL_WORLD, WORLD_CLIENTS_MAX);
    }
    world_draw_limits(world);
    world->config.date = xs_choose(tape, XS_LABEL_WORLD, 4) != 3;
    world->config.server_name =
        xs_choose(tape, XS_LABEL_WORLD, 4) != 3 ? XS_LIT("xsgi") : XS_LIT("");
    world->calm_ns =
        now +
        XS_SECOND_NS *
            calms_s[xs_choose(tape, XS_LABEL_WORLD, XS_COUNT_OF(calms_s))];
    world_draw_stop(world);
    world_draw_events(world);
    world->app.body_max = world->config.limits.request_body_max;
    world->app.keep_alive_max = world->config.limits.keep_alive_max;
    world->app.sheds =
        world->config.limits.backlog_max <= WORLD_CLIENTS_MAX * XS_BODY_MAX;
}

static void world_open_sim(struct world *world,
                           const struct world_options *options)
{
    struct xs_sim_options sim = {
        .trace = options->trace,
        .on_note = world_on_note,
        .on_idle = world_on_idle,
        .read = world_read,
        .user = world,
    };
    int err;

    if (!options->calm) {
        xs_faults_draw(&sim.faults, world->tape);
    }
    if (options->memory_fails) {
        sim.faults.percent[XS_LABEL_MEM_FAIL] = 2;
    }
    err = xs_sim_new(&world->drive, world->tape, &sim);
    XS_ASSERT(err == 0);
    world->sim = xs_sim_of_drive(world->drive);
    xs_app_init(&world->app, world->sim, &world->pattern, &world->verdict);
    world->app.memory_fails = options->memory_fails;
    world->vague = sim.faults.percent[XS_LABEL_UNACKED_UNKNOWN] > 0;
    world->misread = sim.faults.percent[XS_LABEL_RECV_AGAIN] > 0 ||
                     sim.faults.percent[XS_LABEL_RECV_SHORT] > 0;
    for (unsigned i = 0; i < XS_LABEL_COUNT; i++) {
        world->app.kills = world->app.kills ||
                           (sim.faults.percent[i] > 0 &&
                            xs_label_class((enum xs_label)i) == XS_CLASS_KILL);
    }
}

static void world_on_open(struct xs_client *client)
{
    struct world *world = client->user;
    struct world_site *site = &world->sites[client - world->clients];

    site->number = client->peer->id;
    site->peer = client->peer;
    xs_sim_peer_tap(client->peer, &site->tap);
}

static void world_open_clients(struct world *world,
                               const struct world_words *words)
{
    const struct xs_io_addr *to = &world->server.listeners[0]->local;

    memset(world->sites, 0, sizeof world->sites);
    for (unsigned i = 0; i < world->client_count; i++) {
        struct xs_app_conn *conn = &world->conns[i];
        struct world_site *site = &world->sites[i];

        xs_client_init(&world->clients[i], world->sim, to, &world->pattern,
                       &world->verdict);
        if (i == 0 && words != NULL) {
            xs_client_say(&world->clients[i], words->stream, words->plans,
                          words->plan_count);
        }
        world->clients[i].on_open = world_on_open;
        world->clients[i].user = world;
        conn->client = &world->clients[i];
        conn->count = 0;
        conn->accesses = 0;
        conn->closes = 0;
        conn->last = false;
        conn->spoilt = false;
        conn->torn = false;
        conn->ended_ns = 0;
        xs_model_init(&conn->model, &world->verdict, world->config.server_name,
                      world->config.date);
        site->world = world;
        site->client = &world->clients[i];
        site->conn = conn;
        world_tap(site);
    }
    xs_app_conns(&world->app, world->conns, world->client_count);
}

static void world_open(struct world *world, const struct world_options *options)
{
    const struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1"};
    int err;

    if (world->pattern.data == NULL) {
        xs_pattern_init(&world->pattern);
    }
    world->verdict = (struct xs_verdict){.oracle = XS_ORACLE_NONE};
    world->newest = NULL;
    world->calm = false;
    world->stopped = false;
    world->stopped_early = false;
    world->memory_fails = options->memory_fails;
    world->steps = 0;
    world->steps_max = options->steps_max > 0 ? options->steps_max : XS_NEVER;
    world->stops = 0;
    memset(&world->config, 0, sizeof world->config);
    world_open_sim(world, options);
    world_draw(world);
    xs_server_init(&world->server, xs_sim_io(world->sim), &world->app.base,
                   &world->config);
    err = xs_server_listen(&world->server, &spec);
    XS_ASSERT(err == 0);
    world_open_clients(world, options->words);
}

static bool world_clients_done(const struct world *world)
{
    for (unsigned i = 0; i < world->client_count; i++) {
        if (!world->clients[i].done) {
            return false;
        }
    }
    return true;
}

static void world_calm(struct world *world)
{
    world->calm = true;
    world->calm_ns = xs_sim_now(world->sim);
    xs_sim_calm(world->sim);
    for (unsigned i = 0; i < world->client_count; i++) {
        xs_client_calm(&world->clients[i]);
    }
    xs_app_calm(&world->app);
}

static void world_stop(struct world *world)
{
    world->stopped = true;
    world->stopped_early = !world_clients_done(world);
    world->app.stopping = true;
    world->stop_ns = xs_sim_now(world->sim);
    xs_server_stop(&world->server, world->grace_ns);
}

/* A second signal: at once. */
static void world_hurry(struct world *world)
{
    uint64_t now = xs_sim_now(world->sim);

    world->hurry_ns = XS_NEVER;
    if (now - world->stop_ns < world->grace_ns) {
        world->grace_ns = now - world->stop_ns;
        xs_server_stop(&world->server, 0);
    }
}

/* The longest time in which everything must have ended. */
static uint64_t world_patience(const struct world *world)
{
    uint64_t sum = WORLD_PATIENCE_NS;

    for (unsigned i = 0; i < XS_DEADLINE_KINDS; i++) {
        sum += XS_PLANS_MAX * world->config.limits.timeout_ns[i];
    }
    return sum;
}

/* What is next to be decided from outside, and when. */
static uint64_t world_next(const struct world *world)
{
    uint64_t next = XS_NEVER;

    if (!world->calm) {
        next = world->calm_ns;
    }
    if (!world->stopped && world->stop_ns < next) {
        next = world->stop_ns;
    }
    if (world->stopped && world->hurry_ns < next) {
        next = world->hurry_ns;
    }
    return next;
}

/* One step. False when nothing more can happen. */
static bool world_step(struct world *world)
{
    uint64_t now = xs_sim_now(world->sim);
    uint64_t next = world_next(world);
    bool done = world_clients_done(world);

    if (!world->calm && (now >= world->calm_ns || done)) {
        world_calm(world);
        return true;
    }
    if (!world->stopped && (now >= world->stop_ns ||
                            (done && world->server.stats.connections == 0))) {
        world_stop(world);
        return true;
    }
    if (world->stopped && now >= world->hurry_ns) {
        world_hurry(world);
        return true;
    }
    if (done && world->server.state == XS_SERVER_STOPPED) {
        return false;
    }
    if (xs_sim_idle(world->sim) && next == XS_NEVER) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O9,
                        "nothing is planned, but not all has ended");
        return false;
    }
    (void)world->drive->ops->run(world->drive,
                                 next == XS_NEVER ? XS_NEVER : next - now);
    world->steps++;
    world_check_step(world);
    if (world->calm &&
        xs_sim_now(world->sim) > world->calm_ns + world_patience(world)) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O9,
                        "not all has ended in the second phase");
    }
    if (world->steps > WORLD_STEPS_MAX) {
        xs_verdict_fail(&world->verdict, XS_ORACLE_O19, "too many steps");
    }
    return world->verdict.oracle == XS_ORACLE_NONE &&
           world->steps < world->steps_max;
}

/* Give everything up: the verdict is known. */
static void world_abandon(struct world *world)
{
    for (unsigned i = 0; i < world->client_count; i++) {
        if (world->clients[i].peer != NULL) {
            world->clients[i].peer->on_event = NULL;
        }
    }
}

static void world_result(struct world *world, struct world_result *result)
{
    const struct xs_sim_stats *stats = xs_sim_stats(world->sim);

    *result = (struct world_result){
        .hash = xs_sim_hash(world->sim),
        .steps = world->steps,
        .now_ns = xs_sim_now(world->sim),
        .requests = world->server.stats.served,
        .writevs = stats->writevs,
        .mem_most = stats->mem_bytes_most,
    };
}

void world_run(struct world *world, struct xs_tape *tape,
               const struct world_options *options, struct world_result *result)
{
    static const struct world_options usual;

    bool ended;

    world->tape = tape;
    world_open(world, options != NULL ? options : &usual);
    while (world_step(world)) {
    }
    ended = world->steps < world->steps_max;
    if (world->verdict.oracle == XS_ORACLE_NONE && ended) {
        world_check_end(world);
    }
    world_result(world, result);
    if (world->verdict.oracle == XS_ORACLE_NONE && ended) {
        xs_server_fini(&world->server);
        world_check_after(world);
    } else {
        world_abandon(world); /* what is left of the server is left */
    }
    world->drive->ops->free(world->drive);
    result->verdict = world->verdict;
}

void world_fini(struct world *world)
{
    for (unsigned i = 0; i < WORLD_CLIENTS_MAX; i++) {
        xs_client_fini(&world->clients[i]);
        xs_model_fini(&world->conns[i].model);
    }
    xs_pattern_fini(&world->pattern);
}
