/* rules_response.c - answering: rules 7 and 10 to 12 of gateway.h. */

#include <stdio.h>
#include <string.h>

#include "tests/contract/site.h"

#define GET "GET / HTTP/1.1\r\nhost: h\r\n\r\n"

/* A site with a request that waits for its answer. */
static void asked_open(struct site *site, struct world *world)
{
    site_open(site, world, NULL);
    site_connect(site);
    site_say(site, GET);
    world_until(world, &site->requests);
}

static void headers_go_out_in_the_order_given(struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 201), 0);
    assert_int_equal(site_header(&site, "b", "1"), 0);
    assert_int_equal(site_header(&site, "A", "2"), 0);
    assert_int_equal(site_header(&site, "b", "3"), 0);
    assert_int_equal(site_body(&site, "x", false), 0);
    site_expect(&site,
                "HTTP/1.1 201 Created\r\nb: 1\r\nA: 2\r\nb: 3\r\n"
                "content-length: 1\r\n\r\nx");

    site_close(&site);
}

static void nothing_leaves_before_the_first_body(struct world *world)
{
    struct site site;
    char byte;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "a", "b"), 0);
    site_flush(&site);
    world_settle(world);
    assert_int_equal(world->outside->read(site.client.peer, &byte, 1),
                     XS_EAGAIN);
    assert_int_equal(site_body(&site, "", true), 0);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\na: b\r\n"
                "transfer-encoding: chunked\r\n\r\n");
    assert_int_equal(site_body(&site, "", false), 0);
    site_expect(&site, "0\r\n\r\n");

    site_close(&site);
}

static void a_second_start_drops_the_head_given_before(struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "gone", "1"), 0);
    assert_int_equal(site_header(&site, "content-length", "7"), 0);
    assert_int_equal(site_start(&site, 404), 0);
    assert_int_equal(site_header(&site, "here", "2"), 0);
    assert_int_equal(site_body(&site, "no", false), 0);
    site_expect(&site,
                "HTTP/1.1 404 Not Found\r\nhere: 2\r\n"
                "content-length: 2\r\n\r\nno");

    site_close(&site);
}

static void calls_out_of_order_are_refused(struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_header(&site, "a", "b"), XS_ESTATE);
    assert_int_equal(site_body(&site, "x", true), XS_ESTATE);
    assert_int_equal(site_body(&site, "x", false), XS_ESTATE);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_body(&site, "x", true), 0);
    assert_int_equal(site_start(&site, 200), XS_ESTATE);
    assert_int_equal(site_header(&site, "a", "b"), XS_ESTATE);
    assert_int_equal(site_body(&site, "", false), 0);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                "1\r\nx\r\n0\r\n\r\n");

    site_close(&site);
}

static void what_is_not_legal_is_refused_and_changes_nothing(
    struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 99), XS_EINVALID);
    assert_int_equal(site_start(&site, 101), XS_EINVALID);
    assert_int_equal(site_start(&site, 1000), XS_EINVALID);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "", "x"), XS_EINVALID);
    assert_int_equal(site_header(&site, "a b", "x"), XS_EINVALID);
    assert_int_equal(site_header(&site, "a", "x\r\ny: z"), XS_EINVALID);
    assert_int_equal(site_header(&site, "content-length", "1x"), XS_EINVALID);
    assert_int_equal(site_header(&site, "content-length", "2"), 0);
    assert_int_equal(site_header(&site, "content-length", "2"), XS_EINVALID);
    assert_int_equal(site_body(&site, "abc", false), XS_ELENGTH);
    assert_int_equal(site_body(&site, "a", false), XS_ELENGTH);
    assert_int_equal(site_body(&site, "ab", false), 0);
    site_expect(&site, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab");

    site_close(&site);
}

static void a_failure_before_the_head_is_a_500(struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "secret", "1"), 0);
    site_fail(&site);
    site_expect(&site, "HTTP/1.1 500 Internal Server Error\r\ncontent-type: ");

    site_close(&site);
}

/* The client can tell: no last chunk, and the connection ends. */
static void what_was_given_before_a_failure_reaches_the_peer(
    struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_body(&site, "some", true), 0);
    site_fail(&site);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                "4\r\nsome\r\n");
    site_expect_end(&site);

    assert_int_equal(site.aborts, 0);
    site_close(&site);
}

static void what_was_flushed_arrives_while_the_rest_waits(struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "content-length", "4"), 0);
    assert_int_equal(site_body(&site, "ab", true), 0);
    site_flush(&site);
    site_expect(&site, "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab");
    assert_int_equal(site_body(&site, "cd", true), 0);
    site_expect(&site, "cd"); /* leaves before the backend blocks */
    assert_int_equal(site_body(&site, "", false), 0);
    site_say(&site, GET);
    world_until_is(world, &site.requests, 2);
    site_answer(&site, "");
    site_expect(&site, SITE_OK("0", ""));

    site_close(&site);
}

/* A response that is written as fast as it is taken. */
struct flood {
    size_t total;
    size_t given;
};

static void flood_on(struct site *site)
{
    struct flood *flood = site->user;

    while (flood->given < flood->total) {
        size_t len = flood->total - flood->given;
        int err;

        if (site_full(site)) {
            assert_int_equal(site_body(site, "x", true), XS_EAGAIN);
            return; /* on_drain will come */
        }
        len = len < 20000 ? len : 20000;
        err = site_lend(site, flood->given, len, true);
        assert_int_equal(err, 0);
        flood->given += len;
    }
    if (!site_full(site)) {
        assert_int_equal(site_body(site, "", false), 0);
    }
}

static void flood_head(struct site *site)
{
    const struct flood *flood = site->user;
    char length[32];

    (void)snprintf(length, sizeof length, "%zu", flood->total);
    assert_int_equal(site_start(site, 200), 0);
    assert_int_equal(site_header(site, "content-length", length), 0);
    flood_on(site);
}

static void flood_open(struct site *site, struct world *world,
                       struct flood *flood)
{
    site_open(site, world, NULL);
    site_connect(site);
    site->user = flood;
    site->do_request = flood_head;
    site->do_drain = flood_on;
    site_say(site, GET);
    world_until(world, &site->requests);
}

static void a_full_queue_is_told_when_it_has_drained(struct world *world)
{
    static uint8_t data[16 * 1024];
    struct flood flood = {.total = 16 * 1024 * 1024};
    struct site site;
    char head[128];
    size_t got = 0;

    if (world->outside->seeds > 1) {
        flood.total = 400000;
    }
    flood_open(&site, world, &flood);
    world_settle(world);
    (void)snprintf(head, sizeof head,
                   "HTTP/1.1 200 OK\r\ncontent-length: %zu\r\n\r\n",
                   flood.total);
    site_expect(&site, head);
    while (got < flood.total) {
        int64_t n = peer_recv_some(&site.client, data, sizeof data);
        assert_true(n > 0);
        pattern_check(data, got, (size_t)n);
        got += (size_t)n;
    }
    while (site.req != NULL) {
        world_run(world, XS_MS_NS);
    }

    assert_true(site.drains > 0);
    assert_int_equal(site.aborts, 0);
    assert_true(site.releases > 0);
    site_close(&site);
}

static void a_full_queue_is_bounded(struct world *world)
{
    struct flood flood = {.total = (size_t)1 << 30};
    struct site site;

    flood_open(&site, world, &flood);
    world_settle(world);
    world_settle(world);

    /* The kernel's buffers, ours, and one piece over the mark. */
    assert_true(flood.given < (size_t)32 * 1024 * 1024);
    site_close(&site);
    assert_int_equal(site.aborts, 1);
}

/* Lends until it is full. */
static void loans_on(struct site *site)
{
    struct flood *flood = site->user;

    while (!site_full(site)) {
        assert_int_equal(site_lend(site, 0, 2 * XS_TX_FLUSH, true), 0);
        flood->given++;
        assert_true(flood->given - site->releases <= 1);
    }
}

static void loans_head(struct site *site)
{
    assert_int_equal(site_start(site, 200), 0);
    loans_on(site);
}

/* A piece is in memory until its last byte has gone: the mark is in bytes. */
static void a_slow_peer_has_one_lent_piece_at_a_time(struct world *world)
{
    static uint8_t data[16 * 1024];
    struct xs_limits limits = site_limits();
    struct flood flood = {.total = 0};
    struct site site;

    limits.tx_high = 16 * XS_TX_FLUSH;
    limits.tx_low = 8 * XS_TX_FLUSH;
    site_open(&site, world, &limits);
    site_connect(&site);
    site.user = &flood;
    site.do_request = loans_head;
    site.do_drain = loans_on;
    site_say(&site, GET);
    for (int i = 0; i < 20; i++) {
        world_settle(world);
        (void)peer_recv_some(&site.client, data, sizeof data);
    }

    assert_int_equal(flood.given - site.releases, 1);
    site_close(&site);
}

static void answer_hello(struct site *site)
{
    site_answer(site, "hello");
}

/* The rest of a body is thrown away so that the next request can come, or the
 * answer can be read, but not for ever. */
static void an_endless_body_after_the_answer_is_cut_off(struct world *world)
{
    static uint8_t data[64 * 1024];
    struct xs_limits limits = site_limits();
    struct site site;

    if (world->outside->seeds > 1) {
        return; /* a few bytes at a time this is too much */
    }
    limits.timeout_ns[XS_DEADLINE_LINGER] = 20 * XS_MS_NS;
    site_open(&site, world, &limits);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\n"
             "transfer-encoding: chunked\r\n\r\nfffffff\r\n");
    world_until(world, &site.requests);
    for (int i = 0; site.conn_closes == 0 && i < 1000; i++) {
        (void)world->outside->write(site.client.peer, data, sizeof data);
        world_settle(world);
    }

    assert_int_equal(site.conn_closes, 1);
    site_close(&site);
}

/* The client sends so many bytes, reading none. */
static void send_zeros(struct world *world, struct site *site, size_t total)
{
    static const uint8_t data[64 * 1024];
    size_t sent = 0;

    for (int i = 0; sent < total && i < 10000; i++) {
        size_t left = total - sent;
        int64_t n = world->outside->write(
            site->client.peer, data, left < sizeof data ? left : sizeof data);
        assert_true(n >= 0 || n == XS_EAGAIN);
        sent += n > 0 ? (size_t)n : 0;
        world_run(world, XS_MS_NS);
    }
    assert_true(sent == total);
}

/* Who sends all before it reads shall find the answer, and no reset. */
static void an_answer_awaits_who_sends_a_long_body_first(struct world *world)
{
    struct site site;

    if (world->outside->seeds > 1) {
        return; /* a few bytes at a time this is too much */
    }
    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\n"
             "content-length: 4194304\r\n\r\n");
    world_until(world, &site.requests);
    send_zeros(world, &site, 4 * XS_DISCARD_MAX);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n"
                "connection: close\r\n\r\nhello");
    site_expect_end(&site);
    pair_close_peer(&site.client);
    world_until(world, &site.conn_closes);
    site_close(&site);
}

/* It was told that the connection goes on, and has nothing left to send when
 * the server finds how long the body was. */
static void who_sent_long_chunks_may_go_on(struct world *world)
{
    struct site site;

    if (world->outside->seeds > 1) {
        return; /* a few bytes at a time this is too much */
    }
    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\n"
             "transfer-encoding: chunked\r\n\r\n400000\r\n");
    world_until(world, &site.requests);
    send_zeros(world, &site, 4 * XS_DISCARD_MAX);
    site_expect(&site, SITE_OK("5", "hello"));

    site_say(&site, "\r\n0\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n");

    site_expect(&site, SITE_OK("5", "hello"));
    assert_int_equal(site.conn_closes, 0);
    site_close(&site);
}

static void loans_are_returned_once_whatever_happens(struct world *world)
{
    struct site site;

    asked_open(&site, world);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_lend(&site, 0, 3, true), 0);
    assert_int_equal(site_lend(&site, 3, 40000, true), 0);
    assert_int_equal(site_lend(&site, 0, 0, true), 0);
    assert_int_equal(site_lend(&site, 0, 10, false), 0);
    pair_close_peer(&site.client);
    world_until(world, &site.conn_closes);

    assert_int_equal(site.releases, 4);
    site_close(&site);
}

static void a_head_request_gets_no_body(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, "HEAD / HTTP/1.1\r\nhost: h\r\n\r\n" GET);
    world_until(world, &site.requests);
    site_answer(&site, "hello");
    world_until_is(world, &site.requests, 2);
    site_answer(&site, "hello");
    site_expect(&site, SITE_OK("5", "") SITE_OK("5", "hello"));

    site_close(&site);
}

const struct rule rules_response[] = {
    RULE(headers_go_out_in_the_order_given),
    RULE(nothing_leaves_before_the_first_body),
    RULE(a_second_start_drops_the_head_given_before),
    RULE(calls_out_of_order_are_refused),
    RULE(what_is_not_legal_is_refused_and_changes_nothing),
    RULE(a_failure_before_the_head_is_a_500),
    RULE(what_was_given_before_a_failure_reaches_the_peer),
    RULE(what_was_flushed_arrives_while_the_rest_waits),
    RULE(a_full_queue_is_told_when_it_has_drained),
    RULE(a_full_queue_is_bounded),
    RULE(a_slow_peer_has_one_lent_piece_at_a_time),
    RULE(an_endless_body_after_the_answer_is_cut_off),
    RULE(an_answer_awaits_who_sends_a_long_body_first),
    RULE(who_sent_long_chunks_may_go_on),
    RULE(loans_are_returned_once_whatever_happens),
    RULE(a_head_request_gets_no_body),
    {NULL, NULL},
};
