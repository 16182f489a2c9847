/* rules_request.c - a request and its body: rules 1 to 6 and 8 of gateway.h. */

#include <string.h>

#include "tests/contract/site.h"

#define GET "GET / HTTP/1.1\r\nhost: h\r\n\r\n"

static void answer_hello(struct site *site)
{
    site_answer(site, "hello");
}

static void a_request_may_be_answered_inside_on_request(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site, GET);
    site_expect(&site, SITE_OK("5", "hello"));

    assert_int_equal(site.requests, 1);
    site_close(&site);
}

static void a_request_may_be_answered_later(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    world_settle(world);
    site_answer(&site, "later");
    site_expect(&site, SITE_OK("5", "later"));

    assert_int_equal(site.aborts, 0);
    site_close(&site);
}

static void look_at_head(struct site *site)
{
    const struct xs_head *head = site->req->head;

    assert_true(xs_slice_eq(head->method, XS_LIT("PUT")));
    assert_true(xs_slice_eq(head->target, XS_LIT("/a%20b?c=d")));
    assert_true(xs_slice_eq(head->path, XS_LIT("/a%20b")));
    assert_true(xs_slice_eq(head->query, XS_LIT("c=d")));
    assert_int_equal(head->minor, 1);
    assert_int_equal(head->field_count, 3);
    assert_true(xs_slice_eq(head->fields[0].name, XS_LIT("Host")));
    assert_true(xs_slice_eq(head->fields[0].value, XS_LIT("example.org")));
    assert_true(xs_slice_eq(head->fields[1].name, XS_LIT("X-One")));
    assert_true(xs_slice_eq(head->fields[1].value, XS_LIT("1 2")));
    assert_true(head->framing == XS_FRAMING_LENGTH);
    assert_int_equal(head->length, 3);
    assert_string_equal(site->req->peer->host, "127.0.0.1");
    assert_true(site->req->peer->port != 0);
    assert_int_equal(site->req->local->port,
                     site->server.listeners[0]->local.port);
    assert_ptr_equal(site->req->io, site->world->io);
    site_answer(site, "");
}

static void the_head_is_whole_inside_on_request(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = look_at_head;
    site_say(&site,
             "PUT /a%20b?c=d HTTP/1.1\r\nHost: example.org\r\n"
             "X-One:  1 2 \r\ncontent-length: 3\r\n\r\nabc");
    site_expect(&site, SITE_OK("0", ""));

    site_close(&site);
}

/* The core asserts nothing here; the client sees it. */
static void pipelined_requests_come_one_at_a_time_in_order(struct world *world)
{
    static const char *const answers[] = {"one", "two", "three"};
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET GET GET);
    for (unsigned i = 0; i < 3; i++) {
        world_until_is(world, &site.requests, i + 1);
        world_settle(world);
        assert_int_equal(site.requests, i + 1);
        site_answer(&site, answers[i]);
    }
    site_expect(&site,
                SITE_OK("3", "one") SITE_OK("3", "two") SITE_OK("5", "three"));

    site_close(&site);
}

static void pipelined_requests_may_all_be_answered_at_once(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site, GET GET GET GET);
    site_expect(&site, SITE_OK("5", "hello") SITE_OK("5", "hello")
                           SITE_OK("5", "hello") SITE_OK("5", "hello"));

    assert_int_equal(site.requests, 4);
    site_close(&site);
}

static void conn_user_is_kept_until_the_connection_closes(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site, GET);
    site_expect(&site, SITE_OK("5", "hello"));
    site_say(&site, GET);
    site_expect(&site, SITE_OK("5", "hello"));
    assert_int_equal(site.requests, 2);
    assert_int_equal(site.conns, 1);
    assert_int_equal(site.conn_closes, 0);
    pair_close_peer(&site.client);
    world_until(world, &site.conn_closes);

    assert_int_equal(site.conn_closes, 1);
    site_close(&site);
}

/* What a rule reads of a body. */
struct reader {
    char text[256];
    size_t len;
    size_t bite; /* bytes taken at once; 0: all */
    bool ended;
};

static void read_on(struct site *site)
{
    struct reader *reader = site->user;
    struct xs_slice bytes;
    bool last = false;

    for (;;) {
        switch (site_read(site, &bytes, &last)) {
            case XS_BODY_DATA: {
                size_t len = bytes.len;
                if (reader->bite != 0 && reader->bite < len) {
                    len = reader->bite;
                }
                assert_true(len > 0);
                assert_true(reader->len + len < sizeof reader->text);
                memcpy(reader->text + reader->len, bytes.data, len);
                reader->len += len;
                site_consume(site, len);
                break;
            }
            case XS_BODY_WAIT:
                return;
            case XS_BODY_END:
                assert_true(last);
                reader->ended = true;
                site_answer(site, reader->text);
                return;
        }
    }
}

static void reader_open(struct site *site, struct world *world,
                        struct reader *reader)
{
    site_open(site, world, NULL);
    site_connect(site);
    site->user = reader;
    site->do_request = read_on;
    site->do_body = read_on;
}

static void a_body_that_came_with_the_head_can_be_read_at_once(
    struct world *world)
{
    struct site site;
    struct reader reader = {.bite = 1};

    reader_open(&site, world, &reader);
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nbody");
    site_expect(&site, SITE_OK("4", "body"));

    assert_true(reader.ended);
    site_close(&site);
}

static void a_body_that_comes_later_is_told_when_asked_for(struct world *world)
{
    struct site site;
    struct reader reader = {.bite = 0};

    reader_open(&site, world, &reader);
    site_say(&site, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 8\r\n\r\n");
    world_until(world, &site.requests);
    world_settle(world);
    assert_int_equal(site.bodies, 0);
    site_say(&site, "body");
    world_until(world, &site.bodies);
    site_say(&site, "BODY");
    site_expect(&site, SITE_OK("8", "bodyBODY"));

    assert_true(site.bodies >= 2);
    site_close(&site);
}

static void a_chunked_body_is_decoded(struct world *world)
{
    struct site site;
    struct reader reader = {.bite = 2};

    reader_open(&site, world, &reader);
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\n"
             "transfer-encoding: chunked\r\n\r\n");
    world_until(world, &site.requests);
    site_say(&site, "3\r\nabc\r\n");
    world_settle(world);
    site_say(&site, "5;x=y\r\ndefgh\r\n0\r\nt: u\r\n\r\n");
    site_expect(&site, SITE_OK("8", "abcdefgh"));

    site_close(&site);
}

static void a_body_that_nobody_asked_for_is_not_told(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\n");
    world_until(world, &site.requests);
    site_say(&site, "body");
    world_settle(world);
    assert_int_equal(site.bodies, 0);
    site_answer(&site, "done");
    site_expect(&site, SITE_OK("4", "done"));

    site_close(&site);
}

static void the_end_of_the_body_is_known_with_the_last_of_it(
    struct world *world)
{
    struct site site;
    struct xs_slice bytes;
    bool last = false;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nbody");
    world_until(world, &site.requests);
    (void)site_read(&site, &bytes, &last);
    while (!last) {
        world_run(world, XS_MS_NS);
        (void)site_read(&site, &bytes, &last);
    }
    assert_int_equal(bytes.len, 4);
    site_consume(&site, bytes.len);
    assert_int_equal(site_read(&site, &bytes, &last), XS_BODY_END);
    assert_int_equal(site_read(&site, &bytes, &last), XS_BODY_END);
    site_answer(&site, "");
    site_expect(&site, SITE_OK("0", ""));

    site_close(&site);
}

static void a_body_that_is_not_read_is_left_behind(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = answer_hello;
    site_say(&site, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 8\r\n\r\n");
    site_expect(&site, SITE_OK("5", "hello"));
    site_say(&site, "bodyBODY" GET);
    site_expect(&site, SITE_OK("5", "hello"));

    assert_int_equal(site.requests, 2);
    site_close(&site);
}

static void a_client_that_waits_is_told_to_continue(struct world *world)
{
    struct site site;
    struct reader reader = {.bite = 0};

    reader_open(&site, world, &reader);
    site_say(&site,
             "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n"
             "expect: 100-continue\r\n\r\n");
    site_expect(&site, "HTTP/1.1 100 Continue\r\n\r\n");
    site_say(&site, "body");
    site_expect(&site, SITE_OK("4", "body"));

    site_close(&site);
}

static void the_end_of_the_stream_is_told_once(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    world->outside->shutdown(site.client.peer);
    world_until(world, &site.eofs);
    world_settle(world);
    assert_int_equal(site.eofs, 1);
    assert_int_equal(site.aborts, 0);
    site_answer(&site, "still");
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n"
                "connection: close\r\n\r\nstill");
    site_expect_end(&site);

    site_close(&site);
}

static void the_end_of_the_stream_may_be_answered_at_once(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_eof = site_fail;
    site_say(&site, GET);
    world_until(world, &site.requests);
    world->outside->shutdown(site.client.peer);
    world_until(world, &site.eofs);
    site_expect(&site, "HTTP/1.1 500 ");

    site_close(&site);
}

/* A block full of pipelined bytes: reading stops, listening does not. */
static void an_end_is_told_while_nothing_is_read(struct world *world)
{
    static uint8_t next[XS_RX_BLOCK];
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    peer_send(&site.client, next, sizeof next);
    world->outside->shutdown(site.client.peer);
    world_until(world, &site.eofs);
    site_answer(&site, "hello");
    site_expect(&site, SITE_OK("5", "hello"));

    site_close(&site);
}

static void no_end_is_told_while_the_body_is_on_its_way(struct world *world)
{
    struct site site;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 8\r\n\r\n");
    world_until(world, &site.requests);
    world->outside->shutdown(site.client.peer);
    world_until(world, &site.aborts);

    assert_int_equal(site.eofs, 0);
    assert_int_equal(site.why, XS_ABORT_EOF);
    site_close(&site);
}

const struct rule rules_request[] = {
    RULE(a_request_may_be_answered_inside_on_request),
    RULE(a_request_may_be_answered_later),
    RULE(the_head_is_whole_inside_on_request),
    RULE(pipelined_requests_come_one_at_a_time_in_order),
    RULE(pipelined_requests_may_all_be_answered_at_once),
    RULE(conn_user_is_kept_until_the_connection_closes),
    RULE(a_body_that_came_with_the_head_can_be_read_at_once),
    RULE(a_body_that_comes_later_is_told_when_asked_for),
    RULE(a_chunked_body_is_decoded),
    RULE(a_body_that_nobody_asked_for_is_not_told),
    RULE(the_end_of_the_body_is_known_with_the_last_of_it),
    RULE(a_body_that_is_not_read_is_left_behind),
    RULE(a_client_that_waits_is_told_to_continue),
    RULE(the_end_of_the_stream_is_told_once),
    RULE(the_end_of_the_stream_may_be_answered_at_once),
    RULE(an_end_is_told_while_nothing_is_read),
    RULE(no_end_is_told_while_the_body_is_on_its_way),
    {NULL, NULL},
};
