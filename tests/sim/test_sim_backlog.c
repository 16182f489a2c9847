/* test_sim_backlog.c - who pays when too much waits for slow clients. */

#include "tests/sim/weather.h"

#define UPLOAD "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"
#define ANSWER "An answer as long as the head of that request"

/* Begin an answer, and end it when the body comes. */
static void on_request_upload(struct xs_gateway *gateway,
                              struct xs_request *req)
{
    struct xs_slice bytes;
    bool last;

    (void)gateway;
    assert_int_equal(xs_response_start(req, 200, XS_LIT("")), 0);
    assert_int_equal(
        xs_response_header(req, XS_LIT("content-length"), XS_LIT("45")), 0);
    assert_int_equal(xs_request_body(req, &bytes, &last), XS_BODY_WAIT);
}

static void on_body_answer(struct xs_request *req)
{
    const struct xs_lent body = {.bytes = XS_LIT(ANSWER)};
    struct xs_slice bytes;
    bool last;

    assert_int_equal(xs_request_body(req, &bytes, &last), XS_BODY_DATA);
    assert_int_equal(xs_response_body(req, &body, false), 0);
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    (void)req;
    (void)why;
}

static const struct xs_gateway_ops upload = {
    .on_request = on_request_upload,
    .on_body = on_body_answer,
    .on_abort = on_abort,
};

/* A head that is held waits for nobody, so nobody is slow. Then the socket
 * takes as much of the answer as was added to it: the sum is what it was, but
 * now it is the client that is waited for. */
static void who_begins_to_wait_pays_though_the_sum_is_the_same(void **state)
{
    static const struct xs_sim_options narrow = {
        .send_buffer = sizeof UPLOAD - 1, .recv_buffer = sizeof UPLOAD - 1};
    struct weather weather = {.ops = &upload, .sim_options = &narrow};
    const struct xs_server *server = &weather.server;
    struct xs_sim_peer *peer;
    size_t held;
    (void)state;

    weather_open(&weather);
    weather.server.config.limits.backlog_max = 1;
    peer = weather_connect(&weather);
    weather_send(peer, UPLOAD);
    weather_settle(&weather);
    held = server->stats.backlog;
    assert_true(held > 1);

    weather_send(peer, "x");
    while (xs_sim_stats(weather.sim)->writevs == 0) {
        weather_turn(&weather);
    }

    assert_int_equal(xs_sim_stats(weather.sim)->write_bytes,
                     strlen("\r\n" ANSWER));
    assert_int_equal(server->stats.connections, 0);
    xs_sim_peer_close(peer);
    weather_close(&weather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_begins_to_wait_pays_though_the_sum_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
