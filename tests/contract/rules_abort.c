/* rules_abort.c - requests that end early: rules 3 and 9 of gateway.h. */

#include "core/conn/conn.h"
#include "tests/contract/site.h"

#define GET "GET / HTTP/1.1\r\nhost: h\r\n\r\n"
#define POST(fields) "POST / HTTP/1.1\r\nhost: h\r\n" fields "\r\n"

/* A site with a request that waits for its answer. */
static void asked_open(struct site *site, struct world *world,
                       const struct xs_limits *limits, const char *request)
{
    site_open(site, world, limits);
    site_connect(site);
    site_say(site, request);
    world_until(world, &site->requests);
}

static void abort_is_why(struct site *site, enum xs_abort why)
{
    world_until(site->world, &site->aborts);
    world_settle(site->world);
    assert_int_equal(site->aborts, 1);
    assert_int_equal(site->why, why);
}

static void a_reset_aborts_the_request(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, GET);
    world->outside->reset(site.client.peer);

    abort_is_why(&site, XS_ABORT_RESET);
    site_close(&site);
}

static void a_reset_inside_a_body_aborts_the_request(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, POST("content-length: 8\r\n"));
    site_say(&site, "body");
    world->outside->reset(site.client.peer);

    abort_is_why(&site, XS_ABORT_RESET);
    site_close(&site);
}

static void an_end_inside_a_body_aborts_the_request(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, POST("content-length: 8\r\n") "body");
    world->outside->shutdown(site.client.peer);

    abort_is_why(&site, XS_ABORT_EOF);
    site_close(&site);
}

static void a_malformed_body_aborts_the_request(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, POST("transfer-encoding: chunked\r\n"));
    site_ask(&site);
    site_say(&site, "zz\r\n");

    abort_is_why(&site, XS_ABORT_SYNTAX);
    site_expect(&site, "HTTP/1.1 400 ");
    site_close(&site);
}

static void a_body_over_the_limit_aborts_the_request(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;

    limits.request_body_max = 4;
    asked_open(&site, world, &limits, POST("transfer-encoding: chunked\r\n"));
    site_ask(&site);
    site_say(&site, "5\r\nabcde\r\n");

    abort_is_why(&site, XS_ABORT_LIMIT);
    site_expect(&site, "HTTP/1.1 413 ");
    site_close(&site);
}

static void wait_for_body(struct site *site)
{
    struct xs_slice bytes;
    bool last;

    assert_int_equal(site_read(site, &bytes, &last), XS_BODY_WAIT);
}

static void a_body_that_does_not_come_aborts_the_request(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;

    limits.timeout_ns[XS_DEADLINE_BODY] = 20 * XS_MS_NS;
    site_open(&site, world, &limits);
    site_connect(&site);
    site.do_request = wait_for_body;
    site_say(&site, POST("content-length: 8\r\n"));
    world_until(world, &site.requests);

    abort_is_why(&site, XS_ABORT_BODY_TIMEOUT);
    site_expect(&site, "HTTP/1.1 408 ");
    site_close(&site);
}

static void a_client_that_does_not_read_aborts_the_request(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;

    limits.timeout_ns[XS_DEADLINE_WRITE] = 20 * XS_MS_NS;
    asked_open(&site, world, &limits, GET);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_lend(&site, 0, (size_t)32 * 1024 * 1024, true), 0);

    abort_is_why(&site, XS_ABORT_WRITE_TIMEOUT);
    assert_int_equal(site.releases, 1);
    site_close(&site);
}

static void too_much_for_slow_clients_aborts_the_request(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;

    limits.timeout_ns[XS_DEADLINE_WRITE] = 3600 * XS_SECOND_NS;
    limits.backlog_max = limits.tx_high - 1;
    asked_open(&site, world, &limits, GET);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_lend(&site, 0, (size_t)8 * 1024 * 1024, true), 0);

    abort_is_why(&site, XS_ABORT_BACKLOG);
    assert_int_equal(site.releases, 1);
    assert_int_equal(site.server.stats.backlog, 0);
    site_close(&site);
}

/* However large it is, it counts as what the server would hold of it. */
static void one_large_body_is_not_too_much(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;

    limits.timeout_ns[XS_DEADLINE_WRITE] = 3600 * XS_SECOND_NS;
    limits.backlog_max = 2 * limits.tx_high;
    asked_open(&site, world, &limits, GET);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_lend(&site, 0, (size_t)8 * 1024 * 1024, true), 0);
    world_settle(world);

    assert_int_equal(site.aborts, 0);
    assert_true(site.server.stats.backlog >= limits.tx_high);
    site_close(&site);
}

static void stopping_aborts_what_still_runs_after_the_grace(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, GET);
    xs_server_stop(&site.server, 20 * XS_MS_NS);
    assert_int_equal(site.aborts, 0);

    abort_is_why(&site, XS_ABORT_SHUTDOWN);
    site_close(&site);
}

/* One alarm serves all: the deadline that it comes for is not the last. */
static void the_grace_ends_though_a_deadline_came_before(struct world *world)
{
    struct pair late = {.world = world};
    struct site site;

    asked_open(&site, world, NULL, GET);
    site.server.deadlines.lasts_ns[XS_DEADLINE_HEAD] = 20 * XS_MS_NS;
    late.peer =
        world->outside->connect(world, &site.server.listeners[0]->local);
    assert_non_null(late.peer);
    peer_send(&late, "GET", 3);
    world_until_is(world, &site.server.stats.connections, 2);
    xs_server_stop(&site.server, 60 * XS_MS_NS);

    abort_is_why(&site, XS_ABORT_SHUTDOWN);
    pair_close_peer(&late);
    site_close(&site);
}

static void stopping_lets_what_runs_finish(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, GET);
    xs_server_stop(&site.server, 3600 * XS_SECOND_NS);
    world_settle(world);
    site_answer(&site, "done");
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n"
                "connection: close\r\n\r\ndone");
    site_expect_end(&site);
    pair_close_peer(&site.client);
    world_until(world, &site.stops);

    assert_int_equal(site.aborts, 0);
    site_close(&site);
}

static void answer_done(struct site *site)
{
    site_answer(site, "done");
}

/* The client does not close, and no deadline runs. */
static void stopping_ends_who_has_got_everything(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, GET);
    xs_server_stop(&site.server, XS_NEVER);
    world_settle(world);
    site_answer(&site, "done");
    world_until(world, &site.stops);

    assert_int_equal(site.aborts, 0);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n"
                "connection: close\r\n\r\ndone");
    site_expect_end(&site);
    site_close(&site);
}

/* What the only connection, which lingers, has thrown away. */
static uint64_t dropped(const struct site *site)
{
    return xs_container_of(site->server.conns.next, struct xs_conn, link)
        ->rx.discarded;
}

/* A reset could take from it what it has not read. */
static void stopping_lingers_for_who_sends_still(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, GET);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "connection", "close"), 0);
    assert_int_equal(site_body(&site, "last", false), 0);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n"
                "connection: close\r\n\r\nlast");
    site_expect_end(&site);
    site_say(&site, "and more");
    for (int i = 0; dropped(&site) < 8 && i < 1000; i++) {
        world_settle(world);
    }
    xs_server_stop(&site.server, XS_NEVER);
    world_settle(world);

    assert_int_equal(site.stops, 0);
    pair_close_peer(&site.client);
    world_until(world, &site.stops);
    site_close(&site);
}

static void the_last_answer_of_a_stop_ends_half_a_head(struct world *world)
{
    struct pair late = {.world = world};
    struct site site;
    char byte;

    site_open(&site, world, NULL);
    site_connect(&site);
    late.peer =
        world->outside->connect(world, &site.server.listeners[0]->local);
    assert_non_null(late.peer);
    peer_send(&late, "GET", 3);
    site.do_request = wait_for_body;
    site.do_body = answer_done;
    site_say(&site, POST("content-length: 4\r\n"));
    world_until(world, &site.requests);
    world_until_is(world, &site.server.stats.connections, 2);
    world_settle(world);
    xs_server_stop(&site.server, XS_NEVER);
    world_settle(world);
    site_say(&site, "body");

    assert_true(peer_recv_some(&late, &byte, 1) <= 0);
    assert_int_equal(site.aborts, 0);
    pair_close_peer(&late);
    site_close(&site);
}

static void nothing_comes_for_a_request_that_was_answered(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, POST("content-length: 8\r\n"));
    wait_for_body(&site);
    site_answer(&site, "early");
    site_expect(&site, SITE_OK("5", "early"));
    site_say(&site, "bodyBODY");
    world->outside->shutdown(site.client.peer);
    world_until(world, &site.conn_closes);

    assert_int_equal(site.bodies, 0);
    assert_int_equal(site.eofs, 0);
    assert_int_equal(site.aborts, 0);
    site_close(&site);
}

static void nothing_comes_for_a_request_that_failed(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, POST("content-length: 8\r\n"));
    wait_for_body(&site);
    site_fail(&site);
    site_say(&site, "body");
    world->outside->reset(site.client.peer);
    world_until(world, &site.conn_closes);

    assert_int_equal(site.bodies, 0);
    assert_int_equal(site.aborts, 0);
    site_close(&site);
}

/* Until the abort has come, calls are refused; none of them is a fault. */
static void a_body_for_a_peer_that_is_gone_says_so(struct world *world)
{
    struct site site;
    int err;

    asked_open(&site, world, NULL, GET);
    assert_int_equal(site_start(&site, 200), 0);
    pair_close_peer(&site.client);
    for (int i = 0; site.req != NULL && i < 1000; i++) {
        if (!site_full(&site)) {
            err = site_body(&site, "more and more", true);
            assert_true(err == 0 || err == XS_EGONE);
            site_flush(&site);
        }
        world_settle(world);
    }

    assert_int_equal(site.aborts, 1);
    assert_true(site.why == XS_ABORT_RESET);
    site_close(&site);
}

static void another_connection_is_served_after_an_abort(struct world *world)
{
    struct site site;

    asked_open(&site, world, NULL, GET);
    world->outside->reset(site.client.peer);
    abort_is_why(&site, XS_ABORT_RESET);
    pair_close_peer(&site.client);
    site_connect(&site);
    site_say(&site, GET);
    world_until_is(world, &site.requests, 2);
    site_answer(&site, "again");
    site_expect(&site, SITE_OK("5", "again"));

    site_close(&site);
}

const struct rule rules_abort[] = {
    RULE(a_reset_aborts_the_request),
    RULE(a_reset_inside_a_body_aborts_the_request),
    RULE(an_end_inside_a_body_aborts_the_request),
    RULE(a_malformed_body_aborts_the_request),
    RULE(a_body_over_the_limit_aborts_the_request),
    RULE(a_body_that_does_not_come_aborts_the_request),
    RULE(a_client_that_does_not_read_aborts_the_request),
    RULE(too_much_for_slow_clients_aborts_the_request),
    RULE(one_large_body_is_not_too_much),
    RULE(stopping_aborts_what_still_runs_after_the_grace),
    RULE(the_grace_ends_though_a_deadline_came_before),
    RULE(stopping_lets_what_runs_finish),
    RULE(stopping_ends_who_has_got_everything),
    RULE(stopping_lingers_for_who_sends_still),
    RULE(the_last_answer_of_a_stop_ends_half_a_head),
    RULE(nothing_comes_for_a_request_that_was_answered),
    RULE(nothing_comes_for_a_request_that_failed),
    RULE(a_body_for_a_peer_that_is_gone_says_so),
    RULE(another_connection_is_served_after_an_abort),
    {NULL, NULL},
};
