/* test_sim_weather.c - what the server costs when all goes well.
 *
 * The simulator counts the calls that a backend would make of the system. */

#include "core/base/deadline.h"
#include "core/conn/server.h"
#include "sim/sim.h"
#include "sim/sim_peer.h"
#include "tests/testlib.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

/* A server, a client, an application that says "hello" at once. */
struct weather {
    struct xs_tape tape;
    struct xs_drive *drive;
    struct xs_sim *sim;
    struct xs_gateway gateway;
    struct xs_server server;
    struct xs_sim_peer *peer;
};

static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct xs_lent lent = {.bytes = XS_LIT("hello")};
    (void)gateway;

    assert_int_equal(xs_response_start(req, 200, XS_LIT("")), 0);
    assert_int_equal(xs_response_body(req, &lent, false), 0);
}

static const struct xs_gateway_ops ops = {.on_request = on_request};

static void turn(struct weather *weather)
{
    while (weather->drive->ops->next(weather->drive) == 0) {
        assert_int_equal(weather->drive->ops->run(weather->drive, 0), 0);
    }
}

static void setup(struct weather *weather)
{
    const struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1"};
    const struct xs_server_config config = {.limits = xs_limits_default()};

    memset(weather, 0, sizeof *weather);
    weather->gateway.ops = &ops;
    assert_int_equal(xs_sim_new(&weather->drive, &weather->tape, NULL), 0);
    weather->sim = xs_sim_of_drive(weather->drive);
    xs_server_init(&weather->server, weather->drive->io, &weather->gateway,
                   &config);
    assert_int_equal(xs_server_listen(&weather->server, &spec), 0);
    assert_int_equal(xs_sim_peer_open(weather->sim, &weather->peer,
                                      &weather->server.listeners[0]->local),
                     0);
    turn(weather);
}

static void teardown(struct weather *weather)
{
    xs_sim_peer_close(weather->peer);
    xs_server_stop(&weather->server, 0);
    turn(weather);
    assert_int_equal(weather->server.state, XS_SERVER_STOPPED);
    xs_server_fini(&weather->server);
    assert_int_equal(xs_sim_stats(weather->sim)->mem_blocks, 0);
    weather->drive->ops->free(weather->drive);
    xs_tape_fini(&weather->tape);
}

static void send(struct weather *weather, unsigned requests)
{
    for (unsigned i = 0; i < requests; i++) {
        assert_int_equal(
            xs_sim_peer_write(weather->peer, REQUEST, sizeof REQUEST - 1),
            sizeof REQUEST - 1);
    }
    turn(weather);
}

/* The bodies that came. */
static unsigned read_answers(struct weather *weather)
{
    static char data[65536];
    int64_t got = xs_sim_peer_read(weather->peer, data, sizeof data - 1);
    unsigned count = 0;

    assert_true(got > 0);
    data[got] = '\0';
    for (char *at = data; (at = strstr(at, "hello")) != NULL; at++) {
        count++;
    }
    return count;
}

static void request_in_keep_alive_costs_one_read_and_one_write(void **state)
{
    struct weather weather;
    struct xs_sim_stats before;
    const struct xs_sim_stats *after;
    (void)state;

    setup(&weather);
    after = xs_sim_stats(weather.sim);
    send(&weather, 1);
    assert_int_equal(read_answers(&weather), 1);
    before = *after;

    for (unsigned i = 0; i < 100; i++) {
        send(&weather, 1);
        assert_int_equal(read_answers(&weather), 1);
    }

    assert_int_equal(after->recvs - before.recvs, 100);
    assert_int_equal(after->writevs - before.writevs, 100);
    assert_int_equal(after->wants - before.wants, 0);
    assert_int_equal(after->mem_blocks, before.mem_blocks);
    teardown(&weather);
}

static void pipelined_requests_cost_one_write_together(void **state)
{
    struct weather weather;
    (void)state;

    setup(&weather);

    send(&weather, 16);

    assert_int_equal(xs_sim_stats(weather.sim)->recvs, 1);
    assert_int_equal(xs_sim_stats(weather.sim)->writevs, 1);
    assert_int_equal(read_answers(&weather), 16);
    teardown(&weather);
}

static void pipelined_requests_over_the_budget_are_all_answered(void **state)
{
    struct weather weather;
    (void)state;

    setup(&weather);

    send(&weather, 300);

    assert_int_equal(xs_sim_stats(weather.sim)->recvs, 1);
    assert_true(xs_sim_stats(weather.sim)->writevs <= 300 / 64 + 1);
    assert_int_equal(read_answers(&weather), 300);
    teardown(&weather);
}

static void idle_server_does_nothing_until_its_deadline(void **state)
{
    const uint64_t wait_ns = 64 * XS_SECOND_NS;
    struct weather weather;
    struct xs_sim_stats before;
    (void)state;

    setup(&weather);
    send(&weather, 1);
    /* The alarm of the first head's deadline is still set: once. */
    (void)weather.drive->ops->run(weather.drive, wait_ns);
    before = *xs_sim_stats(weather.sim);
    assert_true(before.callbacks <= 8);

    for (unsigned i = 0; i < 3; i++) {
        (void)weather.drive->ops->run(weather.drive, XS_SECOND_NS);
    }

    assert_true(xs_sim_stats(weather.sim)->callbacks <= before.callbacks + 2);
    assert_int_equal(xs_sim_stats(weather.sim)->recvs, before.recvs);
    teardown(&weather);
}

static void run_twice_gives_the_same_hash_and_another_tape_another(void **state)
{
    uint64_t hashes[3];
    (void)state;

    for (unsigned i = 0; i < 3; i++) {
        struct weather weather;

        setup(&weather);
        send(&weather, 1 + i / 2);
        hashes[i] = xs_sim_hash(weather.sim);
        teardown(&weather);
    }

    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[0] != hashes[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_in_keep_alive_costs_one_read_and_one_write),
        cmocka_unit_test(pipelined_requests_cost_one_write_together),
        cmocka_unit_test(pipelined_requests_over_the_budget_are_all_answered),
        cmocka_unit_test(idle_server_does_nothing_until_its_deadline),
        cmocka_unit_test(
            run_twice_gives_the_same_hash_and_another_tape_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
