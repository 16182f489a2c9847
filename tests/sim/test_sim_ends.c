/* test_sim_ends.c - ends that nothing else draws the core's attention to. */

#include "core/base/limits.h"
#include "tests/sim/weather.h"

#define LATE "PUT /late HTTP/1.1\r\nHost: a\r\ncontent-length: 9\r\n\r\n"

/* An application that never answers, and what it is told. */
struct scene {
    struct weather weather; /* must be first */
    unsigned begun;
    unsigned eofs;
    unsigned aborts;
    enum xs_abort why; /* of the last */
};

static struct scene *scene_of(struct xs_gateway *gateway)
{
    return xs_container_of(gateway, struct scene, weather.gateway);
}

/* It asks for the body of "/late" only. */
static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct xs_slice bytes;
    bool last;

    scene_of(gateway)->begun++;
    if (req->head->target.len > 1) {
        assert_int_equal(xs_request_body(req, &bytes, &last), XS_BODY_WAIT);
    }
}

static void on_eof(struct xs_request *req)
{
    scene_of(req->gateway)->eofs++;
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    struct scene *scene = scene_of(req->gateway);

    scene->aborts++;
    scene->why = why;
}

static const struct xs_gateway_ops ops = {
    .on_request = on_request, .on_eof = on_eof, .on_abort = on_abort};

/* No more is read, and nothing is to be written. */
static void client_that_leaves_shows_behind_requests_that_wait(void **state)
{
    struct scene scene = {.weather = {.ops = &ops}};
    struct xs_sim_peer *peer;
    (void)state;

    weather_open(&scene.weather);
    peer = weather_connect(&scene.weather);
    while (xs_sim_peer_unread(peer) == 0) {
        weather_send(peer, WEATHER_REQUEST);
        weather_settle(&scene.weather);
    }
    assert_int_equal(scene.begun, 1);
    assert_int_equal(scene.eofs + scene.aborts, 0);

    xs_sim_peer_shutdown(peer);
    weather_settle(&scene.weather);

    assert_int_equal(scene.eofs + scene.aborts, 1);
    xs_sim_peer_close(peer);
    weather_close(&scene.weather);
}

static void grace_ends_though_another_deadline_comes_before(void **state)
{
    struct scene scene = {.weather = {.ops = &ops}};
    struct xs_sim_peer *peers[2];
    uint64_t body;
    (void)state;

    weather_open(&scene.weather);
    body = scene.weather.server.config.limits.timeout_ns[XS_DEADLINE_BODY];
    for (unsigned i = 0; i < 2; i++) {
        peers[i] = weather_connect(&scene.weather);
        weather_send(peers[i], i == 0 ? LATE : WEATHER_REQUEST);
    }
    weather_settle(&scene.weather);
    assert_int_equal(scene.begun, 2);

    xs_server_stop(&scene.weather.server, 2 * body);
    weather_wait(&scene.weather, body + XS_SECOND_NS);
    assert_int_equal(scene.aborts, 1);
    assert_int_equal(scene.why, XS_ABORT_BODY_TIMEOUT);
    weather_wait(&scene.weather, body);

    assert_int_equal(scene.aborts, 2);
    assert_int_equal(scene.why, XS_ABORT_SHUTDOWN);
    assert_int_equal(scene.weather.server.state, XS_SERVER_STOPPED);
    for (unsigned i = 0; i < 2; i++) {
        xs_sim_peer_close(peers[i]);
    }
    weather_close(&scene.weather);
}

/* The client has not taken all of its answer when it has been idle for long
 * enough. It takes it so long after that, and says something first or not. */
static void idle_is_told(uint64_t after_ns, const char *says)
{
    static const struct xs_sim_options narrow = {.recv_buffer = 20};
    struct weather weather = {.sim_options = &narrow};
    struct xs_sim_peer *peer;
    char got[1000] = "";
    size_t len = 0;
    int64_t n;

    weather_open(&weather);
    peer = weather_connect(&weather);
    weather_send(peer, WEATHER_REQUEST);
    weather_settle(&weather);
    weather_wait(
        &weather,
        weather.server.config.limits.timeout_ns[XS_DEADLINE_KEEP_ALIVE]);
    weather_wait(&weather, after_ns);

    if (says != NULL) {
        weather_send(peer, says);
        weather_settle(&weather);
    }
    while ((n = xs_sim_peer_read(peer, got + len, 20)) > 0) {
        len += (size_t)n;
        weather_settle(&weather);
    }

    assert_int_equal(n, 0);
    assert_non_null(strstr(got, "hello"));
    xs_sim_peer_close(peer);
    weather_close(&weather);
}

static void client_that_is_idle_too_long_gets_the_rest_of_its_answer(
    void **state)
{
    const struct xs_limits limits = xs_limits_default();
    (void)state;

    idle_is_told(XS_SECOND_NS, NULL);
    idle_is_told(XS_SECOND_NS, WEATHER_REQUEST);
    idle_is_told(limits.timeout_ns[XS_DEADLINE_LINGER] + XS_SECOND_NS, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_that_leaves_shows_behind_requests_that_wait),
        cmocka_unit_test(grace_ends_though_another_deadline_comes_before),
        cmocka_unit_test(
            client_that_is_idle_too_long_gets_the_rest_of_its_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
