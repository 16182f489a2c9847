/* test_sim_stop.c - what a server that stops does with those who have not asked
 * yet: who has just connected or begun with a head is waited for, for a short
 * time; nobody else is. */

#include "core/base/deadline.h"
#include "core/conn/server.h"
#include "sim/sim.h"
#include "sim/sim_peer.h"
#include "tests/testlib.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define REQUEST_LEN (sizeof REQUEST - 1)
#define FRESH XS_STOP_FRESH_NS
#define MANY 100u

/* A server, its clients, an application that says "hello" at once. */
struct scene {
    struct xs_gateway gateway; /* must be first */
    struct xs_tape tape;
    struct xs_drive *drive;
    struct xs_sim *sim;
    struct xs_server server;
    struct xs_io_addr at;
    struct xs_sim_peer *peers[MANY];
    unsigned count;
    bool stops;     /* in the next request, behind its answer */
    char got[4096]; /* what a client has read last */
};

static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct scene *scene = xs_container_of(gateway, struct scene, gateway);
    struct xs_lent lent = {.bytes = XS_LIT("hello")};

    assert_int_equal(xs_response_start(req, 200, XS_LIT("")), 0);
    assert_int_equal(xs_response_body(req, &lent, false), 0);
    if (scene->stops) {
        scene->stops = false;
        xs_server_stop(&scene->server, XS_NEVER);
    }
}

static const struct xs_gateway_ops ops = {.on_request = on_request};

/* All that happens at this moment. */
static void turn(struct scene *scene)
{
    do {
        assert_int_equal(scene->drive->ops->run(scene->drive, 0), 0);
    } while (scene->drive->ops->next(scene->drive) == 0);
}

static void pass(struct scene *scene, uint64_t ns)
{
    uint64_t until = xs_sim_now(scene->sim) + ns;

    while (xs_sim_now(scene->sim) < until) {
        uint64_t left = until - xs_sim_now(scene->sim);

        assert_int_equal(scene->drive->ops->run(scene->drive, left), 0);
    }
    turn(scene);
}

static void join(struct scene *scene)
{
    struct xs_sim_peer **peer = &scene->peers[scene->count++];

    assert_int_equal(xs_sim_peer_open(scene->sim, peer, &scene->at), 0);
    turn(scene);
}

static void setup_with(struct scene *scene, const struct xs_limits *limits,
                       const struct xs_sim_options *options)
{
    const struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1"};
    const struct xs_server_config config = {.limits = *limits};

    memset(scene, 0, sizeof *scene);
    scene->gateway.ops = &ops;
    xs_tape_start_seed(&scene->tape, 1);
    assert_int_equal(xs_sim_new(&scene->drive, &scene->tape, options), 0);
    scene->sim = xs_sim_of_drive(scene->drive);
    xs_server_init(&scene->server, scene->drive->io, &scene->gateway, &config);
    assert_int_equal(xs_server_listen(&scene->server, &spec), 0);
    scene->at = scene->server.listeners[0]->local;
    join(scene);
}

static void setup(struct scene *scene)
{
    const struct xs_limits limits = xs_limits_default();

    setup_with(scene, &limits, NULL);
}

/* Each callback is followed by all that it has put off. */
static void setup_hasty(struct scene *scene)
{
    const struct xs_limits limits = xs_limits_default();
    struct xs_sim_options options = {0};

    options.faults.percent[XS_LABEL_ORDER_DEFER] = 100;
    setup_with(scene, &limits, &options);
}

static void teardown(struct scene *scene)
{
    assert_int_equal(scene->server.state, XS_SERVER_STOPPED);
    for (unsigned i = 0; i < scene->count; i++) {
        xs_sim_peer_close(scene->peers[i]);
    }
    turn(scene);
    xs_server_fini(&scene->server);
    assert_int_equal(xs_sim_stats(scene->sim)->mem_blocks, 0);
    scene->drive->ops->free(scene->drive);
    xs_tape_fini(&scene->tape);
}

static void say(struct scene *scene, const char *text, size_t len)
{
    assert_int_equal(xs_sim_peer_write(scene->peers[0], text, len), len);
    turn(scene);
}

/* This has arrived when the request of another client stops the server, which
 * then has not read it yet. */
static void say_at_the_stop(struct scene *scene, const char *text, size_t len)
{
    unsigned other = scene->count;

    join(scene);
    scene->stops = true;
    assert_int_equal(
        xs_sim_peer_write(scene->peers[other], REQUEST, REQUEST_LEN),
        REQUEST_LEN);
    say(scene, text, len);
    assert_false(scene->stops);
}

/* What the client reads: a number of bytes, or how its stream has ended. */
static int64_t hear(struct scene *scene)
{
    int64_t got =
        xs_sim_peer_read(scene->peers[0], scene->got, sizeof scene->got - 1);

    scene->got[got > 0 ? got : 0] = '\0';
    return got;
}

/* One answer has come, which says that it is the last, and the end. */
static void hears_the_last_answer(struct scene *scene)
{
    const char *close;

    assert_true(hear(scene) > 0);
    close = strstr(scene->got, "\r\nconnection: close\r\n");
    assert_non_null(close);
    assert_string_equal(strstr(close, "\r\n\r\n"), "\r\n\r\nhello");
    assert_int_equal(hear(scene), 0);
}

static void stop_server(struct scene *scene, uint64_t grace_ns)
{
    xs_server_stop(&scene->server, grace_ns);
    turn(scene);
}

static void a_stop_serves_who_has_just_connected(void **state)
{
    static const uint64_t befores[] = {0, 1, FRESH / 2, FRESH - 2};
    (void)state;

    for (unsigned i = 0; i < XS_COUNT_OF(befores); i++) {
        struct scene scene;

        setup(&scene);
        pass(&scene, befores[i]);
        stop_server(&scene, XS_NEVER);
        pass(&scene, FRESH - 1 - befores[i]);
        assert_int_equal(scene.server.state, XS_SERVER_STOPPING);

        say(&scene, REQUEST, REQUEST_LEN);

        hears_the_last_answer(&scene);
        teardown(&scene);
    }
}

static void a_stop_serves_who_has_just_connected_without_a_head_timeout(
    void **state)
{
    struct xs_limits limits = xs_limits_default();
    struct scene scene;
    (void)state;

    limits.timeout_ns[XS_DEADLINE_HEAD] = XS_NEVER;
    setup_with(&scene, &limits, NULL);
    stop_server(&scene, XS_NEVER);

    say(&scene, REQUEST, REQUEST_LEN);

    hears_the_last_answer(&scene);
    teardown(&scene);
}

static void a_stop_ends_who_has_long_been_silent(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    pass(&scene, FRESH);

    stop_server(&scene, XS_NEVER);

    assert_int_equal(hear(&scene), 0);
    teardown(&scene);
}

static void a_stop_waits_for_who_says_nothing_until_it_is_old(void **state)
{
    struct scene scene;
    uint64_t callbacks;
    (void)state;

    setup(&scene);
    pass(&scene, FRESH / 2);
    stop_server(&scene, XS_NEVER);
    callbacks = xs_sim_stats(scene.sim)->callbacks;
    pass(&scene, FRESH - FRESH / 2 - 1);
    assert_int_equal(scene.server.state, XS_SERVER_STOPPING);
    assert_int_equal(xs_sim_stats(scene.sim)->callbacks, callbacks);

    pass(&scene, 1);

    assert_int_equal(hear(&scene), 0);
    teardown(&scene);
}

static void a_stop_serves_a_head_that_has_begun(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < REQUEST_LEN; cut++) {
        struct scene scene;

        setup(&scene);
        say(&scene, REQUEST, cut);
        pass(&scene, FRESH / 2);
        stop_server(&scene, XS_NEVER);
        pass(&scene, FRESH / 4);

        say(&scene, &REQUEST[cut], REQUEST_LEN - cut);

        hears_the_last_answer(&scene);
        teardown(&scene);
    }
}

static void a_stop_ends_half_a_head_that_does_not_go_on(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    say(&scene, REQUEST, 5);
    stop_server(&scene, XS_NEVER);
    pass(&scene, FRESH - 1);
    say(&scene, &REQUEST[5], 1);
    assert_int_equal(scene.server.state, XS_SERVER_STOPPING);

    pass(&scene, XS_STOP_LOOK_NS);

    assert_int_equal(hear(&scene), 0);
    teardown(&scene);
}

static void a_stop_ends_half_a_head_that_is_old(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    say(&scene, REQUEST, 5);
    pass(&scene, FRESH);

    stop_server(&scene, XS_NEVER);

    assert_int_equal(hear(&scene), 0);
    teardown(&scene);
}

/* The time of a later head begins with its first byte. */
static void a_stop_serves_a_later_head_that_has_begun(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    say(&scene, REQUEST, REQUEST_LEN);
    assert_true(hear(&scene) > 0);
    pass(&scene, 10 * FRESH);
    say(&scene, REQUEST, 5);
    pass(&scene, FRESH / 2);
    stop_server(&scene, XS_NEVER);

    say(&scene, &REQUEST[5], REQUEST_LEN - 5);

    hears_the_last_answer(&scene);
    teardown(&scene);
}

static void a_stop_ends_an_idle_connection_at_once(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    say(&scene, REQUEST, REQUEST_LEN);
    assert_true(hear(&scene) > 0);

    stop_server(&scene, XS_NEVER);

    assert_int_equal(hear(&scene), 0);
    teardown(&scene);
}

static void a_stop_serves_the_first_of_pipelined_requests(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    stop_server(&scene, XS_NEVER);

    say(&scene, REQUEST REQUEST REQUEST, 3 * REQUEST_LEN);

    hears_the_last_answer(&scene);
    assert_int_equal(scene.server.stats.served, 1);
    xs_sim_peer_shutdown(scene.peers[0]);
    turn(&scene);
    teardown(&scene);
}

/* The first answer has gone without a word of the end. */
static void a_stop_serves_a_request_that_is_here(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    scene.stops = true;

    say(&scene, REQUEST REQUEST, 2 * REQUEST_LEN);

    assert_int_equal(scene.server.stats.served, 2);
    hears_the_last_answer(&scene);
    teardown(&scene);
}

static void a_stop_serves_a_request_that_was_not_read_yet(void **state)
{
    struct scene scene;
    (void)state;

    setup_hasty(&scene);
    say(&scene, REQUEST, REQUEST_LEN);
    assert_true(hear(&scene) > 0);

    say_at_the_stop(&scene, REQUEST, REQUEST_LEN);

    hears_the_last_answer(&scene);
    teardown(&scene);
}

static void a_stop_serves_a_head_whose_rest_was_not_read_yet(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < REQUEST_LEN; cut++) {
        struct scene scene;

        setup_hasty(&scene);
        if (cut > 0) {
            say(&scene, REQUEST, cut);
        }
        pass(&scene, 10 * FRESH);

        say_at_the_stop(&scene, &REQUEST[cut], REQUEST_LEN - cut);

        hears_the_last_answer(&scene);
        teardown(&scene);
    }
}

static void a_stop_without_grace_ends_all_at_once(void **state)
{
    struct scene scene;
    (void)state;

    for (size_t len = 0; len < 10; len += 5) {
        setup(&scene);
        if (len > 0) {
            say(&scene, REQUEST, len);
        }

        stop_server(&scene, 0);

        assert_true(hear(&scene) <= 0);
        teardown(&scene);
    }
}

static void a_second_stop_ends_who_is_waited_for(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    stop_server(&scene, XS_NEVER);
    assert_int_equal(scene.server.state, XS_SERVER_STOPPING);

    stop_server(&scene, 0);

    assert_true(hear(&scene) <= 0);
    teardown(&scene);
}

static void a_stop_waits_no_longer_than_its_grace(void **state)
{
    struct scene scene;
    (void)state;

    setup(&scene);
    stop_server(&scene, FRESH / 4);
    pass(&scene, FRESH / 4 - 1);
    assert_int_equal(scene.server.state, XS_SERVER_STOPPING);

    pass(&scene, 1);

    assert_true(hear(&scene) <= 0);
    teardown(&scene);
}

/* Each look is at all connections: it is not done for each of them. */
static void a_stop_looks_seldom_at_many_who_are_fresh(void **state)
{
    const uint64_t looks_max = FRESH / XS_STOP_LOOK_NS + 1;
    struct scene scene;
    uint64_t callbacks;
    (void)state;

    setup(&scene);
    while (scene.count < MANY) {
        pass(&scene, XS_MS_NS);
        join(&scene);
    }
    stop_server(&scene, XS_NEVER);
    callbacks = xs_sim_stats(scene.sim)->callbacks;

    pass(&scene, FRESH + XS_STOP_LOOK_NS);

    /* An alarm, and one more turn for those who end. */
    callbacks = xs_sim_stats(scene.sim)->callbacks - callbacks;
    assert_true(callbacks > 0 && callbacks <= 3 * looks_max);
    teardown(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_serves_who_has_just_connected),
        cmocka_unit_test(
            a_stop_serves_who_has_just_connected_without_a_head_timeout),
        cmocka_unit_test(a_stop_ends_who_has_long_been_silent),
        cmocka_unit_test(a_stop_waits_for_who_says_nothing_until_it_is_old),
        cmocka_unit_test(a_stop_serves_a_head_that_has_begun),
        cmocka_unit_test(a_stop_ends_half_a_head_that_does_not_go_on),
        cmocka_unit_test(a_stop_ends_half_a_head_that_is_old),
        cmocka_unit_test(a_stop_serves_a_later_head_that_has_begun),
        cmocka_unit_test(a_stop_ends_an_idle_connection_at_once),
        cmocka_unit_test(a_stop_serves_the_first_of_pipelined_requests),
        cmocka_unit_test(a_stop_serves_a_request_that_is_here),
        cmocka_unit_test(a_stop_serves_a_request_that_was_not_read_yet),
        cmocka_unit_test(a_stop_serves_a_head_whose_rest_was_not_read_yet),
        cmocka_unit_test(a_stop_without_grace_ends_all_at_once),
        cmocka_unit_test(a_second_stop_ends_who_is_waited_for),
        cmocka_unit_test(a_stop_waits_no_longer_than_its_grace),
        cmocka_unit_test(a_stop_looks_seldom_at_many_who_are_fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
