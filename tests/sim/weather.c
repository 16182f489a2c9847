/* weather.c - a server in the simulator, on days without faults of its own. */

#include "tests/sim/weather.h"

/* More turns at one moment than any test needs. */
#define TURNS_MAX 100000u

void weather_hello(struct xs_gateway *gateway, struct xs_request *req)
{
    struct xs_lent lent = {.bytes = XS_LIT("hello")};
    (void)gateway;

    assert_int_equal(xs_response_start(req, 200, XS_LIT("")), 0);
    assert_int_equal(xs_response_body(req, &lent, false), 0);
}

static const struct xs_gateway_ops hello_ops = {.on_request = weather_hello};

void weather_open(struct weather *weather)
{
    const struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1"};
    struct xs_server_config config = {.limits = xs_limits_default()};

    if (weather->events != NULL) {
        config.events = *weather->events;
    }
    weather->gateway.ops = weather->ops != NULL ? weather->ops : &hello_ops;
    xs_tape_init(&weather->tape);
    xs_tape_start_zero(&weather->tape);
    assert_int_equal(
        xs_sim_new(&weather->drive, &weather->tape, weather->sim_options), 0);
    weather->sim = xs_sim_of_drive(weather->drive);
    xs_server_init(&weather->server, weather->drive->io, &weather->gateway,
                   &config);
    assert_int_equal(xs_server_listen(&weather->server, &spec), 0);
}

void weather_close(struct weather *weather)
{
    xs_server_stop(&weather->server, 0);
    weather_settle(weather);
    assert_int_equal(weather->server.state, XS_SERVER_STOPPED);
    xs_server_fini(&weather->server);
    assert_int_equal(xs_sim_stats(weather->sim)->mem_blocks, 0);
    weather->drive->ops->free(weather->drive);
    xs_tape_fini(&weather->tape);
}

struct xs_sim_peer *weather_connect(struct weather *weather)
{
    struct xs_sim_peer *peer = NULL;

    assert_int_equal(xs_sim_peer_open(weather->sim, &peer,
                                      &weather->server.listeners[0]->local),
                     0);
    return peer;
}

void weather_send(struct xs_sim_peer *peer, const char *text)
{
    size_t len = strlen(text);

    assert_int_equal(xs_sim_peer_write(peer, text, len), len);
}

unsigned weather_answers(struct xs_sim_peer *peer)
{
    static char data[1 << 20];
    int64_t got = xs_sim_peer_read(peer, data, sizeof data - 1);
    unsigned count = 0;

    data[got > 0 ? got : 0] = '\0';
    for (char *at = data; (at = strstr(at, "hello")) != NULL; at++) {
        count++;
    }
    return count;
}

void weather_turn(struct weather *weather)
{
    assert_int_equal(weather->drive->ops->run(weather->drive, 0), 0);
}

void weather_settle(struct weather *weather)
{
    for (unsigned turns = 0; weather->drive->ops->next(weather->drive) == 0;
         turns++) {
        assert_true(turns < TURNS_MAX);
        weather_turn(weather);
    }
}

void weather_wait(struct weather *weather, uint64_t ns)
{
    uint64_t until_ns = xs_sim_now(weather->sim) + ns;

    weather_settle(weather);
    while (xs_sim_now(weather->sim) < until_ns) {
        uint64_t left_ns = until_ns - xs_sim_now(weather->sim);

        assert_int_equal(weather->drive->ops->run(weather->drive, left_ns), 0);
        weather_settle(weather);
    }
}
