/* rules_access.c - what the access event of server.h tells of requests. */

#include <stdio.h>
#include <string.h>

#include "core/conn/conn.h"
#include "tests/contract/site.h"

#define HEAD "GET /a?b HTTP/1.1\r\nhost: h\r\n"
#define GET HEAD "\r\n"

#define LOG_MAX 1024

/* The events so far, one a line. */
struct log {
    char text[LOG_MAX];
    unsigned count;
};

static struct log the_log;

static void log_slice(struct xs_slice bytes)
{
    size_t len = strlen(the_log.text);

    if (bytes.data == NULL) {
        bytes = XS_LIT("-");
    }
    assert_true(len + bytes.len + 2 < LOG_MAX);
    memcpy(the_log.text + len, bytes.data, bytes.len);
    the_log.text[len + bytes.len] = ' ';
    the_log.text[len + bytes.len + 1] = '\0';
}

static void on_access(void *user, const struct xs_access *access)
{
    struct site *site = user;
    const struct xs_access_wants *wants = &site->server.config.wants;
    char numbers[64];

    log_slice(access->method);
    log_slice(access->target);
    (void)snprintf(numbers, sizeof numbers, "%u %u %u %s", access->minor,
                   access->status, (unsigned)access->body_bytes, access->why);
    log_slice(xs_slice_str(numbers));
    for (unsigned i = 0; i < wants->request_count; i++) {
        log_slice(access->request_values[i]);
    }
    for (unsigned i = 0; i < wants->response_count; i++) {
        log_slice(access->response_values[i]);
    }
    the_log.text[strlen(the_log.text) - 1] = '\n';
    assert_true(access->start_ns <= access->end_ns);
    assert_true(access->conn_id != 0);
    assert_false(site->calling); /* server.h: never inside a call of ours */
    the_log.count++;
}

static const struct xs_slice request[] = {
    {(const uint8_t *)"user-agent", 10},
    {(const uint8_t *)"x-one", 5},
};
static const struct xs_slice response[] = {
    {(const uint8_t *)"x-two", 5},
    {(const uint8_t *)"x-four", 6},
    {(const uint8_t *)"x-five", 6},
};

static void site_open_wanting(struct site *site, struct world *world,
                              struct xs_access_wants wants,
                              struct xs_limits limits)
{
    struct xs_server_config config = {
        .limits = limits,
        .events = {.access = on_access},
        .wants = wants,
    };

    memset(&the_log, 0, sizeof the_log);
    site_open_with(site, world, &config);
    site_connect(site);
}

static void site_open_logged(struct site *site, struct world *world,
                             struct xs_limits limits)
{
    site_open_wanting(
        site, world, (struct xs_access_wants){request, response, 2, 1}, limits);
}

static void answer_with_fields(struct site *site)
{
    assert_int_equal(site_start(site, 200), 0);
    assert_int_equal(site_header(site, "X-Two", "dropped"), 0);
    assert_int_equal(site_start(site, 201), 0);
    assert_int_equal(site_header(site, "X-Two", "a"), 0);
    assert_int_equal(site_header(site, "X-Three", "c"), 0);
    assert_int_equal(site_header(site, "x-two", "b"), 0);
    assert_int_equal(site_body(site, "hello", false), 0);
}

static void access_is_told_of_what_it_wants_of_both_heads(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = answer_with_fields;
    site_say(&site, HEAD "User-Agent: me\r\nX-One: 1\r\nx-one: 2\r\n\r\n" GET);
    world_until_is(world, &the_log.count, 2);

    assert_string_equal(the_log.text,
                        "GET /a?b 1 201 5 ok me 2 b\n"
                        "GET /a?b 1 201 5 ok - - b\n");
    site_close(&site);
}

static void access_is_told_of_no_bytes_that_were_dropped(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = answer_with_fields;
    site_say(&site, "HEAD /h HTTP/1.1\r\nhost: h\r\n\r\n");
    world_until_is(world, &the_log.count, 1);

    assert_string_equal(the_log.text, "HEAD /h 1 201 0 ok - - b\n");
    site_close(&site);
}

static void answer_with_one_field_often(struct site *site)
{
    assert_int_equal(site_start(site, 200), 0);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(site_header(site, "X-Two", "the same again"), 0);
    }
    assert_true(xs_conn_of(site->req)->log.text_cap < 200);
    assert_int_equal(site_body(site, "hello", false), 0);
}

static void access_keeps_a_field_once(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = answer_with_one_field_often;
    site_say(&site, GET);
    world_until_is(world, &the_log.count, 1);

    site_close(&site);
}

static void answer_with_fields_again(struct site *site)
{
    static const char *const fields[][2] = {
        {"x-two", "first"}, {"x-four", "d"}, {"x-five", "e"},
        {"x-four", "dd"},   {"x-two", ""},   {"x-five", "last"},
    };

    assert_int_equal(site_start(site, 200), 0);
    for (size_t i = 0; i < XS_COUNT_OF(fields); i++) {
        assert_int_equal(site_header(site, fields[i][0], fields[i][1]), 0);
    }
    assert_int_equal(site_body(site, "hello", false), 0);
}

static void access_is_told_the_last_of_each_field(struct world *world)
{
    struct site site;

    site_open_wanting(&site, world,
                      (struct xs_access_wants){request, response, 2, 3},
                      site_limits());
    site.do_request = answer_with_fields_again;
    site_say(&site, HEAD "user-agent: me\r\nx-one: 1\r\n\r\n");
    world_until_is(world, &the_log.count, 1);

    assert_string_equal(the_log.text, "GET /a?b 1 200 5 ok me 1  dd last\n");
    site_close(&site);
}

static void fail_behind_fields(struct site *site)
{
    assert_int_equal(site_start(site, 200), 0);
    assert_int_equal(site_header(site, "X-Two", "dropped"), 0);
    site_fail(site);
}

static void access_is_told_of_what_went_out_in_place_of_a_failure(
    struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = fail_behind_fields;
    site_say(&site, GET);
    world_until_is(world, &the_log.count, 1);

    assert_string_equal(the_log.text, "GET /a?b 1 500 21 failed - - -\n");
    site_close(&site);
}

static void access_is_told_of_a_request_that_was_refused(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site_say(&site, "GET /a HTTP/1.1\r\nx-one: 1\r\n\r\n");
    world_until_is(world, &the_log.count, 1);

    assert_int_equal(site.requests, 0);
    assert_string_equal(the_log.text, "GET /a 1 400 51 host - - -\n");
    site_close(&site);
}

static void access_is_told_of_bytes_that_are_no_request(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site_say(&site, "\x16\x03\x01 nothing");
    world_until_is(world, &the_log.count, 1);

    assert_string_equal(the_log.text, "- - 1 400 60 tls - - -\n");
    site_close(&site);
}

static void access_is_told_of_a_busy_server_s_refusals(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;
    struct pair second = {.world = world};

    limits.requests_max = 1;
    site_open_logged(&site, world, limits);
    site_say(&site, GET);
    world_until(world, &site.requests);
    second.peer =
        world->outside->connect(world, &site.server.listeners[0]->local);
    assert_non_null(second.peer);
    peer_send(&second, HEAD "x-one: 1\r\n\r\n",
              sizeof HEAD "x-one: 1\r\n\r\n" - 1);
    world_until_is(world, &the_log.count, 1);
    pair_close_peer(&second);

    assert_string_equal(the_log.text, "GET /a?b 1 503 36 busy - 1 -\n");
    site_close(&site);
}

static void access_is_told_of_a_client_that_left(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site_say(&site, GET);
    world_until(world, &site.requests);
    site_close(&site);

    assert_string_equal(the_log.text, "GET /a?b 1 0 0 shutdown - - -\n");
}

static void access_is_told_of_a_body_that_was_malformed(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site_say(&site,
             "PUT /a HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n"
             "\r\n");
    world_until(world, &site.requests);
    site_ask(&site);
    site_say(&site, "no chunk\r\n");
    world_until_is(world, &the_log.count, 1);
    world_settle(world);

    assert_int_equal(the_log.count, 1);
    assert_string_equal(the_log.text, "PUT /a 1 400 38 syntax - - -\n");
    site_close(&site);
}

#define BIG ((size_t)32 * 1024 * 1024)

static void answer_much(struct site *site)
{
    assert_int_equal(site_start(site, 200), 0);
    assert_int_equal(site_lend(site, 0, BIG, false), 0);
}

static void access_is_told_of_a_response_that_was_not_taken(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = answer_much;
    site_say(&site, GET);
    world_until(world, &site.requests);
    world_settle(world);
    assert_int_equal(the_log.count, 0);
    pair_close_peer(&site.client);
    world_until_is(world, &the_log.count, 1);

    assert_string_equal(the_log.text, "GET /a?b 1 200 33554432 reset - - -\n");
    site_close(&site);
}

static void access_is_told_of_a_response_that_a_stop_cuts_off(
    struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = answer_much;
    site_say(&site, GET);
    world_until(world, &site.requests);
    world_settle(world);
    xs_server_stop(&site.server, 0);
    world_until(world, &site.stops);

    assert_string_equal(the_log.text,
                        "GET /a?b 1 200 33554432 shutdown - - -\n");
    site_close(&site);
}

/* The client reads as many bytes as the body has. */
static void take_much(struct site *site)
{
    static char data[256 * 1024];
    size_t len = 0;

    while (len < BIG) {
        int64_t some = peer_recv_some(&site->client, data, sizeof data);
        assert_true(some > 0);
        len += (size_t)some;
    }
}

static void access_is_told_before_the_next_request_begins(struct world *world)
{
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.do_request = answer_much;
    site_say(&site, GET "PUT /b HTTP/1.1\r\nhost: h\r\n\r\n");
    world_until(world, &site.requests);
    world_settle(world);
    assert_int_equal(the_log.count, 0);
    take_much(&site);
    world_until(world, &the_log.count);
    pair_close_peer(&site.client);
    world_until_is(world, &the_log.count, 2);

    assert_string_equal(the_log.text,
                        "GET /a?b 1 200 33554432 ok - - -\n"
                        "PUT /b 1 200 33554432 reset - - -\n");
    site_close(&site);
}

static void on_long_access(void *user, const struct xs_access *access)
{
    (void)user;

    assert_int_equal(access->target.len, XS_ACCESS_TEXT);
    assert_int_equal(access->request_values[1].len, XS_ACCESS_VALUE);
    assert_int_equal(access->target.data[XS_ACCESS_TEXT - 1], 'a');
    assert_int_equal(access->request_values[1].data[XS_ACCESS_VALUE - 1], 'b');
    the_log.count++;
}

static void access_is_told_of_the_first_bytes_of_long_texts(struct world *world)
{
    static char target[XS_ACCESS_TEXT + 1];
    static char value[XS_ACCESS_VALUE + 2];
    static char head[sizeof target + sizeof value + 128];
    struct site site;

    site_open_logged(&site, world, site_limits());
    site.server.config.events.access = on_long_access;
    site.do_request = answer_with_fields;
    memset(target, 'a', sizeof target - 1);
    memset(value, 'b', sizeof value - 1);
    (void)snprintf(head, sizeof head,
                   "GET /%s HTTP/1.1\r\nhost: h\r\nx-one: %s\r\n\r\n", target,
                   value);
    site_say(&site, head);
    world_until(world, &the_log.count);

    site_close(&site);
}

const struct rule rules_access[] = {
    RULE(access_is_told_of_what_it_wants_of_both_heads),
    RULE(access_is_told_of_no_bytes_that_were_dropped),
    RULE(access_keeps_a_field_once),
    RULE(access_is_told_the_last_of_each_field),
    RULE(access_is_told_of_what_went_out_in_place_of_a_failure),
    RULE(access_is_told_of_a_request_that_was_refused),
    RULE(access_is_told_of_bytes_that_are_no_request),
    RULE(access_is_told_of_a_busy_server_s_refusals),
    RULE(access_is_told_of_a_client_that_left),
    RULE(access_is_told_of_a_body_that_was_malformed),
    RULE(access_is_told_of_the_first_bytes_of_long_texts),
    RULE(access_is_told_of_a_response_that_was_not_taken),
    RULE(access_is_told_of_a_response_that_a_stop_cuts_off),
    RULE(access_is_told_before_the_next_request_begins),
    {NULL, NULL},
};
