/* test_sim_turns.c - who gets how much in one turn, and when others do.
 *
 * The bounds of the tests are what somebody else can bear, written as numbers:
 * a budget of core/base/limits.h may change within them. Each test is red if
 * its budget is without effect. */

#include "tests/sim/weather.h"

/* In one callback: connections accepted, requests begun, bytes written. */
#define ACCEPTS_MAX 100u
#define REQUESTS_MAX 600u
#define BYTES_MAX ((size_t)1536 * 1024)

/* Turns that somebody with one request waits, whatever others do. */
#define TURNS_FAIR 4u

/* Bytes that a connection keeps between two requests, and spare ones. */
#define KEPT_MAX ((size_t)8 * 1024)
#define SPARE_MAX ((size_t)512 * 1024)

#define DOWNLOAD "GET /all HTTP/1.1\r\nHost: a\r\n\r\n"

/* Buffers in which everything fits: nobody is slowed down by a full socket. */
#define ROOM ((size_t)64 * 1024 * 1024)

static const struct xs_sim_options roomy = {.send_buffer = ROOM,
                                            .recv_buffer = ROOM};

/* What the application does, and what it has seen. */
struct crowd {
    struct weather weather; /* must be first */
    uint64_t callback;      /* the present one */
    unsigned begun;         /* requests in it */
    unsigned begun_most;    /* in any */
    struct xs_lent piece;   /* of a download */
    size_t download;        /* bytes to give in answer to each request */
    size_t given;           /* of the last */
    unsigned full;          /* times that it had to wait */
};

static struct crowd *crowd_of(struct xs_gateway *gateway)
{
    return xs_container_of(gateway, struct crowd, weather.gateway);
}

static void on_request_counted(struct xs_gateway *gateway,
                               struct xs_request *req)
{
    struct crowd *crowd = crowd_of(gateway);
    uint64_t callback = xs_sim_stats(crowd->weather.sim)->callbacks;

    crowd->begun = callback == crowd->callback ? crowd->begun + 1 : 1;
    crowd->callback = callback;
    if (crowd->begun > crowd->begun_most) {
        crowd->begun_most = crowd->begun;
    }
    weather_hello(gateway, req);
}

static const struct xs_gateway_ops counted = {.on_request = on_request_counted};

/* As much as may be given now. */
static void download_go_on(struct xs_request *req)
{
    struct crowd *crowd = crowd_of(req->gateway);

    while (!xs_response_full(req)) {
        bool more = crowd->given + crowd->piece.bytes.len < crowd->download;

        crowd->given += crowd->piece.bytes.len;
        assert_int_equal(xs_response_body(req, &crowd->piece, more), 0);
        if (!more) {
            return;
        }
    }
    crowd->full++;
}

static void on_request_download(struct xs_gateway *gateway,
                                struct xs_request *req)
{
    if (req->head->target.len == 1) {
        weather_hello(gateway, req);
        return;
    }
    crowd_of(gateway)->given = 0;
    assert_int_equal(xs_response_start(req, 200, XS_LIT("")), 0);
    download_go_on(req);
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    (void)req;
    (void)why;
}

static const struct xs_gateway_ops download = {
    .on_request = on_request_download,
    .on_drain = download_go_on,
    .on_abort = on_abort,
};

static void crowd_open(struct crowd *crowd, const struct xs_gateway_ops *ops)
{
    *crowd = (struct crowd){.weather = {.ops = ops, .sim_options = &roomy}};
    weather_open(&crowd->weather);
}

/* `piece` bytes at a time, `sum` in all; not lent, but copied. */
static void crowd_offer(struct crowd *crowd, size_t piece, size_t sum)
{
    static const uint8_t bytes[256 * 1024];

    assert_true(piece <= sizeof bytes);
    crowd->piece.bytes = xs_slice_of(bytes, piece);
    crowd->download = sum;
}

static void ask_much(struct xs_sim_peer *peer, unsigned requests)
{
    for (unsigned i = 0; i < requests; i++) {
        weather_send(peer, WEATHER_REQUEST);
    }
}

/* Take all there is; the bytes. */
static size_t take(struct xs_sim_peer *peer)
{
    static uint8_t data[64 * 1024];
    size_t sum = 0;
    int64_t got;

    while ((got = xs_sim_peer_read(peer, data, sizeof data)) > 0) {
        sum += (size_t)got;
    }
    return sum;
}

/* Turns until the peer has its answer. */
static unsigned turns_until_answered(struct crowd *crowd,
                                     struct xs_sim_peer *peer)
{
    unsigned turns = 0;

    weather_send(peer, WEATHER_REQUEST);
    while (weather_answers(peer) == 0) {
        assert_true(turns < 1000);
        weather_turn(&crowd->weather);
        turns++;
    }
    return turns;
}

static void connections_that_wait_are_accepted_a_few_at_a_time(void **state)
{
    enum { MANY = 1000 };
    static struct xs_sim_peer *peers[MANY];
    struct crowd crowd;
    const uint64_t *accepted = &crowd.weather.server.stats.accepted;
    unsigned turns = 0;
    (void)state;

    crowd_open(&crowd, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        peers[i] = weather_connect(&crowd.weather);
    }

    while (*accepted < MANY) {
        uint64_t before = *accepted;

        assert_true(++turns <= MANY);
        weather_turn(&crowd.weather);
        assert_true(*accepted - before <= ACCEPTS_MAX);
    }

    for (unsigned i = 0; i < MANY; i++) {
        xs_sim_peer_close(peers[i]);
    }
    weather_close(&crowd.weather);
}

static void pipelined_requests_are_begun_a_few_at_a_time(void **state)
{
    struct crowd crowd;
    struct xs_sim_peer *peer;
    (void)state;

    crowd_open(&crowd, &counted);
    peer = weather_connect(&crowd.weather);
    ask_much(peer, 20000);

    weather_settle(&crowd.weather);

    assert_int_equal(crowd.weather.server.stats.served, 20000);
    assert_true(crowd.begun_most <= REQUESTS_MAX);
    xs_sim_peer_close(peer);
    weather_close(&crowd.weather);
}

static void client_that_pipelines_without_end_lets_others_in(void **state)
{
    struct crowd crowd;
    struct xs_sim_peer *greedy;
    struct xs_sim_peer *modest;
    unsigned turns;
    (void)state;

    crowd_open(&crowd, &counted);
    greedy = weather_connect(&crowd.weather);
    ask_much(greedy, 20000);
    weather_turn(&crowd.weather);
    modest = weather_connect(&crowd.weather);

    turns = turns_until_answered(&crowd, modest);

    assert_true(turns <= TURNS_FAIR);
    assert_true(crowd.weather.server.stats.served <=
                REQUESTS_MAX * 2 * (turns + 1));

    xs_sim_peer_close(greedy);
    xs_sim_peer_close(modest);
    weather_close(&crowd.weather);
}

static void client_that_takes_everything_gets_a_part_at_a_time(void **state)
{
    static const size_t pieces[] = {1000, 16384, 65536, 262144};
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(pieces); i++) {
        struct crowd crowd;
        struct xs_sim_peer *peer;
        size_t taken = 0;

        crowd_open(&crowd, &download);
        crowd_offer(&crowd, pieces[i], ROOM / 2);
        peer = weather_connect(&crowd.weather);
        weather_send(peer, DOWNLOAD);

        while (crowd.weather.drive->ops->next(crowd.weather.drive) == 0) {
            const struct xs_sim_stats *stats = xs_sim_stats(crowd.weather.sim);
            uint64_t before = stats->callbacks;
            size_t part;

            weather_turn(&crowd.weather);
            part = take(peer);
            assert_true(part <= BYTES_MAX * (stats->callbacks - before));
            taken += part;
        }

        assert_true(taken >= crowd.download);
        xs_sim_peer_close(peer);
        weather_close(&crowd.weather);
    }
}

static void client_that_takes_everything_lets_others_in(void **state)
{
    struct crowd crowd;
    struct xs_sim_peer *greedy;
    struct xs_sim_peer *modest;
    (void)state;

    crowd_open(&crowd, &download);
    crowd_offer(&crowd, 65536, (size_t)48 * 1024 * 1024);
    greedy = weather_connect(&crowd.weather);
    modest = weather_connect(&crowd.weather);
    weather_settle(&crowd.weather);
    weather_send(greedy, DOWNLOAD);

    assert_true(turns_until_answered(&crowd, modest) <= TURNS_FAIR);
    assert_true(crowd.given < crowd.download);

    xs_sim_peer_close(greedy);
    xs_sim_peer_close(modest);
    weather_close(&crowd.weather);
}

/* What is coalesced leaves before the application would have to wait. */
static void client_that_takes_everything_holds_nobody_up(void **state)
{
    struct crowd crowd;
    struct xs_sim_peer *peer;
    (void)state;

    crowd_open(&crowd, &download);
    crowd_offer(&crowd, 8 * 1024, 512 * 1024);
    peer = weather_connect(&crowd.weather);
    weather_send(peer, DOWNLOAD);

    weather_settle(&crowd.weather);

    assert_int_equal(crowd.full, 0);
    assert_true(xs_sim_stats(crowd.weather.sim)->writevs <= 16);
    assert_true(take(peer) > crowd.download);
    xs_sim_peer_close(peer);
    weather_close(&crowd.weather);
}

static void connection_that_waits_keeps_little_memory(void **state)
{
    enum { MANY = 100 };
    static struct xs_sim_peer *peers[MANY];
    struct crowd crowd;
    size_t before = 0;
    (void)state;

    crowd_open(&crowd, &download);
    crowd_offer(&crowd, 16 * 1024, 640 * 1024);
    for (unsigned i = 0; i < MANY; i++) {
        peers[i] = weather_connect(&crowd.weather);
    }
    weather_settle(&crowd.weather);
    before = xs_sim_stats(crowd.weather.sim)->mem_bytes;

    for (unsigned i = 0; i < MANY; i++) {
        weather_send(peers[i], DOWNLOAD);
        weather_settle(&crowd.weather);
        assert_true(take(peers[i]) > crowd.download);
    }

    assert_true(xs_sim_stats(crowd.weather.sim)->mem_bytes <=
                before + MANY * KEPT_MAX + SPARE_MAX);
    for (unsigned i = 0; i < MANY; i++) {
        xs_sim_peer_close(peers[i]);
    }
    weather_close(&crowd.weather);
}

/* Ask for a little more than fits between the two, and read nothing for so
 * long. */
static void stand_still(struct crowd *crowd, struct xs_sim_peer *peer,
                        uint64_t ns)
{
    weather_send(peer, DOWNLOAD);
    weather_settle(&crowd->weather);
    weather_wait(&crowd->weather, ns);
}

/* So the rest goes in one write, and nothing fits behind it. */
static void read_as_much_as_waits(struct crowd *crowd, struct xs_sim_peer *peer)
{
    const struct xs_server_stats *stats = &crowd->weather.server.stats;
    uint8_t data[16 * 1024];
    size_t waits = stats->backlog;

    assert_true(waits > 0 && waits <= sizeof data);
    assert_int_equal(xs_sim_peer_read(peer, data, waits), waits);
    weather_settle(&crowd->weather);
    assert_int_equal(stats->backlog, 0);
}

static void client_that_reads_on_has_the_whole_write_deadline_again(
    void **state)
{
    struct crowd crowd;
    struct xs_sim_peer *peer;
    uint64_t lasts;
    (void)state;

    crowd = (struct crowd){.weather = {.ops = &download}};
    weather_open(&crowd.weather);
    lasts = crowd.weather.server.config.limits.timeout_ns[XS_DEADLINE_WRITE];
    crowd_offer(&crowd, 10000, 140000);
    peer = weather_connect(&crowd.weather);
    stand_still(&crowd, peer, lasts / 4 * 3);
    read_as_much_as_waits(&crowd, peer);

    stand_still(&crowd, peer, lasts - XS_SECOND_NS);

    assert_false(xs_sim_peer_is_dead(peer));
    weather_wait(&crowd.weather, lasts);
    assert_true(xs_sim_peer_is_dead(peer));
    xs_sim_peer_close(peer);
    weather_close(&crowd.weather);
}

/* A kernel says that more fits when much is free. What a slow client takes
 * shows before that in what it acknowledges. */
static void client_that_takes_a_little_is_served_and_one_that_stops_is_not(
    void **state)
{
    static const struct xs_sim_options options = {.send_buffer = 900 << 10,
                                                  .write_room = 300 << 10};
    struct crowd crowd;
    const struct xs_sim_stats *stats;
    struct xs_sim_peer *peer;
    uint8_t data[1000];
    uint64_t lasts;
    uint64_t written;
    (void)state;

    crowd =
        (struct crowd){.weather = {.ops = &download, .sim_options = &options}};
    weather_open(&crowd.weather);
    lasts = crowd.weather.server.config.limits.timeout_ns[XS_DEADLINE_WRITE];
    crowd_offer(&crowd, 100000, 16 << 20);
    peer = weather_connect(&crowd.weather);
    stand_still(&crowd, peer, 0);
    stats = xs_sim_stats(crowd.weather.sim);
    written = stats->write_bytes;

    for (unsigned i = 0; i < 40; i++) {
        weather_wait(&crowd.weather, lasts / 8 * 7);
        assert_false(xs_sim_peer_is_dead(peer));
        assert_int_equal(xs_sim_peer_read(peer, data, sizeof data),
                         sizeof data);
        weather_settle(&crowd.weather);
    }

    assert_int_equal(stats->write_bytes, written);
    weather_wait(&crowd.weather, lasts - XS_SECOND_NS);
    assert_false(xs_sim_peer_is_dead(peer));
    weather_wait(&crowd.weather, lasts / 4 + 2 * XS_SECOND_NS);
    assert_true(xs_sim_peer_is_dead(peer));
    xs_sim_peer_close(peer);
    weather_close(&crowd.weather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_that_wait_are_accepted_a_few_at_a_time),
        cmocka_unit_test(pipelined_requests_are_begun_a_few_at_a_time),
        cmocka_unit_test(client_that_pipelines_without_end_lets_others_in),
        cmocka_unit_test(
            client_that_reads_on_has_the_whole_write_deadline_again),
        cmocka_unit_test(
            client_that_takes_a_little_is_served_and_one_that_stops_is_not),
        cmocka_unit_test(client_that_takes_everything_gets_a_part_at_a_time),
        cmocka_unit_test(client_that_takes_everything_lets_others_in),
        cmocka_unit_test(client_that_takes_everything_holds_nobody_up),
        cmocka_unit_test(connection_that_waits_keeps_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
