/* test_sim_marks.c - when an application that answers waits, and until when.
 *
 * The client's socket is full, and takes a little more as it reads. */

#include "core/base/limits.h"
#include "tests/sim/weather.h"

/* More than any head here. */
#define HEAD_MAX ((size_t)512)

#define PIECE ((size_t)1000)
#define SUM ((size_t)1024 * 1024)

/* What the application has given, and what it has seen. */
struct scene {
    struct weather weather; /* must be first */
    struct xs_sim_peer *peer;
    size_t given;
    unsigned drains;
    size_t full_least; /* bytes that waited when it had to wait, too */
    size_t full_most;
    size_t drain_most; /* bytes that waited when it went on */
};

static struct scene *scene_of(struct xs_gateway *gateway)
{
    return xs_container_of(gateway, struct scene, weather.gateway);
}

/* Bytes that were given and that the socket has not taken; HEAD_MAX more, less
 * the head. */
static size_t waiting(const struct scene *scene)
{
    return scene->given + HEAD_MAX -
           (size_t)xs_sim_stats(scene->weather.sim)->write_bytes;
}

static void note_full(struct scene *scene)
{
    size_t waits = waiting(scene);

    if (scene->full_most == 0 || waits < scene->full_least) {
        scene->full_least = waits;
    }
    if (waits > scene->full_most) {
        scene->full_most = waits;
    }
}

static void go_on(struct xs_request *req)
{
    static const uint8_t bytes[PIECE];
    const struct xs_lent piece = {.bytes = xs_slice_of(bytes, PIECE)};
    struct scene *scene = scene_of(req->gateway);

    while (scene->given < SUM && !xs_response_full(req)) {
        assert_int_equal(xs_response_body(req, &piece, true), 0);
        scene->given += PIECE;
    }
    if (xs_response_full(req)) {
        note_full(scene);
    }
}

static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    (void)gateway;
    assert_int_equal(xs_response_start(req, 200, XS_LIT("")), 0);
    assert_int_equal(
        xs_response_header(req, XS_LIT("content-length"), XS_LIT("1000000000")),
        0);
    go_on(req);
}

static void on_drain(struct xs_request *req)
{
    struct scene *scene = scene_of(req->gateway);
    size_t waits = waiting(scene);

    if (waits > scene->drain_most) {
        scene->drain_most = waits;
    }
    scene->drains++;
    go_on(req);
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    (void)req;
    (void)why;
}

static const struct xs_gateway_ops ops = {
    .on_request = on_request, .on_drain = on_drain, .on_abort = on_abort};

static void application_waits_from_one_mark_to_the_other(void **state)
{
    const struct xs_limits limits = xs_limits_default();
    struct scene scene = {.weather = {.ops = &ops}};
    uint8_t data[PIECE];
    (void)state;

    weather_open(&scene.weather);
    scene.peer = weather_connect(&scene.weather);
    weather_send(scene.peer, WEATHER_REQUEST);
    weather_settle(&scene.weather);

    while (scene.given < SUM) {
        assert_true(xs_sim_peer_read(scene.peer, data, sizeof data) > 0);
        weather_settle(&scene.weather);
    }

    assert_true(scene.drains > 4);
    assert_true(scene.full_least >= limits.tx_high);
    assert_true(scene.full_most < limits.tx_high + PIECE + HEAD_MAX);
    assert_true(scene.drain_most <= limits.tx_low + HEAD_MAX);
    xs_sim_peer_close(scene.peer);
    weather_close(&scene.weather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(application_waits_from_one_mark_to_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
