/* test_sim_accept.c - connections that cannot be accepted: the server says so,
 * leaves them alone for a while, and goes on. */

#include "tests/sim/weather.h"

/* No descriptors may last for hours. The server then looks again soon enough
 * for those who wait, and seldom enough for everybody else. */
#define SOON_NS XS_SECOND_NS
#define LOOKS_A_SECOND 10u

static const int errors[] = {XS_EMFILE, XS_ENOMEM};

/* A server on a backend whose accept fails when it is told to. */
struct door {
    struct weather weather;        /* must be first */
    const struct xs_io_ops *usual; /* static: the simulator's */
    struct xs_io_ops ops;          /* the same with our accept */
    struct xs_request *held;       /* borrowed: a request without an answer */
    int err;                       /* what accept says; 0: as ever */
    unsigned asked;                /* calls of accept since `door_fail` */
    unsigned told;                 /* failures that the server has told */
    int told_err;                  /* the last one */
    unsigned stops;
};

static int door_accept(struct xs_io_listener *listener, struct xs_io_conn **out)
{
    struct xs_server *server = listener->io->user;
    struct door *door = xs_container_of(server, struct door, weather.server);

    door->asked++;
    return door->err != 0 ? door->err : door->usual->accept(listener, out);
}

static void on_accept_failed(void *user, int err)
{
    struct door *door = user;

    door->told++;
    door->told_err = err;
}

static void on_stopped(void *user)
{
    struct door *door = user;

    door->stops++;
}

static void on_hold(struct xs_gateway *gateway, struct xs_request *req)
{
    struct door *door = xs_container_of(gateway, struct door, weather.gateway);

    assert_null(door->held);
    door->held = req;
}

static const struct xs_gateway_ops hold_ops = {.on_request = on_hold};

static void door_open(struct door *door, const struct xs_gateway_ops *ops)
{
    const struct xs_server_events events = {
        .accept_failed = on_accept_failed, .stopped = on_stopped, .user = door};

    *door = (struct door){.weather = {.ops = ops, .events = &events}};
    weather_open(&door->weather);
    door->usual = door->weather.drive->io->ops;
    door->ops = *door->usual;
    door->ops.accept = door_accept;
    door->weather.drive->io->ops = &door->ops;
}

static void door_fail(struct door *door, int err)
{
    door->err = err;
    door->asked = 0;
}

static void door_answer(struct door *door)
{
    struct xs_request *req = door->held;

    door->held = NULL;
    weather_hello(req->gateway, req);
}

static void accept_that_fails_is_told_with_its_error(void **state)
{
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(errors); i++) {
        struct door door;
        struct xs_sim_peer *peer;

        door_open(&door, NULL);
        door_fail(&door, errors[i]);
        peer = weather_connect(&door.weather);

        weather_settle(&door.weather);

        assert_int_equal(door.told, 1);
        assert_int_equal(door.told_err, errors[i]);
        assert_int_equal(door.weather.server.stats.accepted, 0);
        xs_sim_peer_close(peer);
        weather_close(&door.weather);
    }
}

static void accept_that_is_well_tells_nothing(void **state)
{
    struct door door;
    struct xs_sim_peer *peer;
    (void)state;

    door_open(&door, NULL);
    peer = weather_connect(&door.weather);

    weather_wait(&door.weather, XS_SECOND_NS);
    door_fail(&door, XS_EABORTED); /* that one is gone: nobody's fault */
    door.weather.server.listeners[0]->on_ready(
        door.weather.server.listeners[0]);

    assert_int_equal(door.told, 0);
    assert_int_equal(door.weather.server.stats.accepted, 1);
    xs_sim_peer_close(peer);
    weather_close(&door.weather);
}

static void accept_that_fails_pauses_and_goes_on(void **state)
{
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(errors); i++) {
        struct door door;
        struct xs_sim_peer *peer;

        door_open(&door, NULL);
        door_fail(&door, errors[i]);
        peer = weather_connect(&door.weather);
        weather_send(peer, WEATHER_REQUEST);
        weather_settle(&door.weather);

        door_fail(&door, 0);
        weather_wait(&door.weather, XS_SECOND_NS / LOOKS_A_SECOND);
        assert_int_equal(door.asked, 0);
        weather_wait(&door.weather, SOON_NS);

        assert_int_equal(weather_answers(peer), 1);
        assert_int_equal(door.told, 1);
        xs_sim_peer_close(peer);
        weather_close(&door.weather);
    }
}

static void accept_that_fails_for_long_is_tried_now_and_then(void **state)
{
    struct door door;
    struct xs_sim_peer *peer;
    (void)state;

    door_open(&door, NULL);
    door_fail(&door, XS_EMFILE);
    peer = weather_connect(&door.weather);

    weather_wait(&door.weather, 100 * XS_SECOND_NS);

    assert_true(door.asked >= 100);
    assert_true(door.asked <= 100 * LOOKS_A_SECOND);
    assert_int_equal(door.told, door.asked);
    xs_sim_peer_close(peer);
    weather_close(&door.weather);
}

static void accept_that_fails_keeps_nobody_else_waiting(void **state)
{
    struct door door;
    struct xs_sim_peer *inside;
    struct xs_sim_peer *outside;
    (void)state;

    door_open(&door, NULL);
    inside = weather_connect(&door.weather);
    weather_settle(&door.weather);
    door_fail(&door, XS_EMFILE);
    outside = weather_connect(&door.weather);
    weather_settle(&door.weather);

    weather_send(inside, WEATHER_REQUEST);
    weather_settle(&door.weather);

    assert_int_equal(weather_answers(inside), 1);
    xs_sim_peer_close(inside);
    xs_sim_peer_close(outside);
    weather_close(&door.weather);
}

/* The descriptor of one who leaves may be gone again: others took it. */
static void accept_that_fails_is_not_hurried_by_who_leaves(void **state)
{
    struct door door;
    struct xs_sim_peer *inside;
    struct xs_sim_peer *outside;
    (void)state;

    door_open(&door, NULL);
    inside = weather_connect(&door.weather);
    weather_settle(&door.weather);
    door_fail(&door, XS_EMFILE);
    outside = weather_connect(&door.weather);
    weather_settle(&door.weather);

    xs_sim_peer_close(inside);
    weather_settle(&door.weather);

    assert_int_equal(door.weather.server.stats.connections, 0);
    assert_int_equal(door.asked, 1);
    xs_sim_peer_close(outside);
    weather_close(&door.weather);
}

static void server_stops_while_it_cannot_accept(void **state)
{
    struct door door;
    struct xs_sim_peer *inside;
    struct xs_sim_peer *outside;
    (void)state;

    door_open(&door, &hold_ops);
    inside = weather_connect(&door.weather);
    weather_send(inside, WEATHER_REQUEST);
    weather_settle(&door.weather);
    door_fail(&door, XS_EMFILE);
    outside = weather_connect(&door.weather);
    weather_settle(&door.weather);

    xs_server_stop(&door.weather.server, 10 * XS_SECOND_NS);
    weather_wait(&door.weather, SOON_NS);

    assert_int_equal(door.asked, 1);
    assert_int_equal(door.stops, 0);
    door_answer(&door);
    weather_settle(&door.weather);
    assert_int_equal(weather_answers(inside), 1);
    xs_sim_peer_close(inside);
    weather_wait(&door.weather, SOON_NS);
    assert_int_equal(door.stops, 1);
    assert_int_equal(door.told, 1);
    xs_sim_peer_close(outside);
    weather_close(&door.weather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accept_that_fails_is_told_with_its_error),
        cmocka_unit_test(accept_that_is_well_tells_nothing),
        cmocka_unit_test(accept_that_fails_pauses_and_goes_on),
        cmocka_unit_test(accept_that_fails_for_long_is_tried_now_and_then),
        cmocka_unit_test(accept_that_fails_keeps_nobody_else_waiting),
        cmocka_unit_test(accept_that_fails_is_not_hurried_by_who_leaves),
        cmocka_unit_test(server_stops_while_it_cannot_accept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
