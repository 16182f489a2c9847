/* test_sim_weather.c - what the server costs when all goes well.
 *
 * The simulator counts the calls that a backend would make of the system. */

#include "tests/sim/weather.h"

/* A server and a client that is connected. */
struct visit {
    struct weather weather;
    struct xs_sim_peer *peer;
};

static void setup(struct visit *visit)
{
    *visit = (struct visit){.peer = NULL};
    weather_open(&visit->weather);
    visit->peer = weather_connect(&visit->weather);
    weather_settle(&visit->weather);
}

static void teardown(struct visit *visit)
{
    xs_sim_peer_close(visit->peer);
    weather_close(&visit->weather);
}

static void send(struct visit *visit, unsigned requests)
{
    for (unsigned i = 0; i < requests; i++) {
        weather_send(visit->peer, WEATHER_REQUEST);
    }
    weather_settle(&visit->weather);
}

static const struct xs_sim_stats *stats_of(const struct visit *visit)
{
    return xs_sim_stats(visit->weather.sim);
}

static void request_in_keep_alive_costs_one_read_and_one_write(void **state)
{
    struct visit visit;
    struct xs_sim_stats before;
    const struct xs_sim_stats *after;
    (void)state;

    setup(&visit);
    after = stats_of(&visit);
    send(&visit, 1);
    assert_int_equal(weather_answers(visit.peer), 1);
    before = *after;

    for (unsigned i = 0; i < 100; i++) {
        send(&visit, 1);
        assert_int_equal(weather_answers(visit.peer), 1);
    }

    assert_int_equal(after->recvs - before.recvs, 100);
    assert_int_equal(after->writevs - before.writevs, 100);
    assert_int_equal(after->wants - before.wants, 0);
    assert_int_equal(after->mem_blocks, before.mem_blocks);
    teardown(&visit);
}

static void pipelined_requests_cost_one_write_together(void **state)
{
    struct visit visit;
    (void)state;

    setup(&visit);

    send(&visit, 16);

    assert_int_equal(stats_of(&visit)->recvs, 1);
    assert_int_equal(stats_of(&visit)->writevs, 1);
    assert_int_equal(weather_answers(visit.peer), 16);
    teardown(&visit);
}

static void pipelined_requests_over_the_budget_are_all_answered(void **state)
{
    struct visit visit;
    (void)state;

    setup(&visit);

    send(&visit, 300);

    assert_int_equal(stats_of(&visit)->recvs, 1);
    assert_true(stats_of(&visit)->writevs <= 300 / 64 + 1);
    assert_int_equal(weather_answers(visit.peer), 300);
    teardown(&visit);
}

static void idle_server_does_nothing_until_its_deadline(void **state)
{
    const uint64_t wait_ns = 64 * XS_SECOND_NS;
    struct visit visit;
    struct xs_sim_stats before;
    (void)state;

    setup(&visit);
    send(&visit, 1);
    /* The alarm of the first head's deadline is still set: once. */
    (void)visit.weather.drive->ops->run(visit.weather.drive, wait_ns);
    before = *stats_of(&visit);
    assert_true(before.callbacks <= 8);

    for (unsigned i = 0; i < 3; i++) {
        (void)visit.weather.drive->ops->run(visit.weather.drive, XS_SECOND_NS);
    }

    assert_true(stats_of(&visit)->callbacks <= before.callbacks + 2);
    assert_int_equal(stats_of(&visit)->recvs, before.recvs);
    teardown(&visit);
}

static void run_twice_gives_the_same_hash_and_another_tape_another(void **state)
{
    uint64_t hashes[3];
    (void)state;

    for (unsigned i = 0; i < 3; i++) {
        struct visit visit;

        setup(&visit);
        send(&visit, 1 + i / 2);
        hashes[i] = xs_sim_hash(visit.weather.sim);
        teardown(&visit);
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
