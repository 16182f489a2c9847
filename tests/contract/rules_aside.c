/* rules_aside.c - fields besides the head's: rules 3 and 11 of gateway.h. */

#include <string.h>
#include <time.h>

#include "tests/contract/site.h"

#define GET "GET / HTTP/1.1\r\nhost: h\r\n\r\n"
#define HINT "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"

/* A site with a request that waits for its answer. */
static void asked_open(struct site *site, struct world *world,
                       const char *request)
{
    site_open(site, world, NULL);
    site_connect(site);
    site_say(site, request);
    world_until(world, &site->requests);
}

static void a_hint_arrives_while_the_answer_is_thought_of(struct world *world)
{
    struct site site;

    asked_open(&site, world, GET);
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    site_expect(&site, HINT);
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    site_expect(&site, HINT HINT);
    site_answer(&site, "hello");
    site_expect(&site, SITE_OK("5", "hello"));

    site_close(&site);
}

/* No turn passes in here. */
static void hint_and_think(struct site *site)
{
    struct world *world = site->world;
    char got[sizeof HINT] = "";
    time_t until = time(NULL) + 10;
    size_t len = 0;

    assert_int_equal(site_hint(site, "link", "<a>"), 0);
    while (len < sizeof HINT - 1 && time(NULL) < until) {
        int64_t n = world->outside->read(site->client.peer, got + len,
                                         sizeof HINT - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    assert_string_equal(got, HINT);
    site_answer(site, "");
}

/* An application on the loop's own thread may think for long inside its call:
 * the hint is with the kernel when xs_response_hint returns. */
static void a_hint_leaves_inside_the_call(struct world *world)
{
    struct site site;

    if (world->outside->is_virtual) {
        return; /* there bytes arrive in turns */
    }
    site_open(&site, world, NULL);
    site_connect(&site);
    site.do_request = hint_and_think;
    site_say(&site, GET);
    world_until(world, &site.requests);
    site_expect(&site, SITE_OK("0", ""));

    site_close(&site);
}

static void http_1_0_gets_no_hint(struct world *world)
{
    struct site site;

    asked_open(&site, world,
               "GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    assert_int_equal(site_hint(&site, "li nk", "<a>"), XS_EINVALID);
    site_answer(&site, "hello");
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n"
                "connection: keep-alive\r\n\r\nhello");

    site_close(&site);
}

static void a_hint_behind_the_start_is_refused(struct world *world)
{
    struct site site;

    asked_open(&site, world, GET);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_hint(&site, "link", "<a>"), XS_ESTATE);
    assert_int_equal(site_body(&site, "x", true), 0);
    assert_int_equal(site_hint(&site, "link", "<a>"), XS_ESTATE);
    assert_int_equal(site_body(&site, "", false), 0);
    site_expect(&site,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                "1\r\nx\r\n0\r\n\r\n");

    site_close(&site);
}

static void a_hint_that_is_not_legal_says_nothing(struct world *world)
{
    struct site site;

    asked_open(&site, world, GET);
    assert_int_equal(site_hint(&site, "", "x"), XS_EINVALID);
    assert_int_equal(site_hint(&site, "link", "a\r\nb: c"), XS_EINVALID);
    assert_int_equal(site_hint(&site, "content-length", "1"), XS_EINVALID);
    site_answer(&site, "hello");
    site_expect(&site, SITE_OK("5", "hello"));

    site_close(&site);
}

/* 100 is for the body, 103 for the answer: neither is the other. */
static void a_hint_does_not_let_the_body_come(struct world *world)
{
    struct xs_slice bytes;
    struct site site;
    bool last;

    asked_open(&site, world,
               "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\n"
               "content-length: 1\r\n\r\n");
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    site_expect(&site, HINT);
    assert_int_equal(site_read(&site, &bytes, &last), XS_BODY_WAIT);
    site_expect(&site, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    site_expect(&site, HINT);
    site_say(&site, "x");
    world_until(world, &site.bodies);
    site_answer(&site, "");
    site_expect(&site, SITE_OK("0", ""));

    site_close(&site);
}

static void a_failure_behind_a_hint_is_a_500(struct world *world)
{
    struct site site;

    asked_open(&site, world, GET);
    assert_int_equal(site_hint(&site, "link", "<a>"), 0);
    site_fail(&site);
    site_expect(&site,
                HINT "HTTP/1.1 500 Internal Server Error\r\ncontent-type: ");

    site_close(&site);
}

/* Hints for one who does not read are bounded, as everything; and a head that
 * is held, however long, does not hold up the drain. */
static void hints_wait_for_who_does_not_read(struct world *world)
{
    static char value[8000];
    static char head[40000];
    static char data[64 * 1024];
    struct site site;
    size_t hints = 0;
    int err;

    if (world->outside->seeds > 1) {
        return; /* a few bytes at a time this is too much */
    }
    memset(value, 'v', sizeof value - 1);
    memset(head, 'h', sizeof head - 1);
    asked_open(&site, world, GET);
    while ((err = site_hint(&site, "link", value)) == 0) {
        hints++;
        world_run(world, 0);
        assert_true(hints < 100000);
    }
    assert_int_equal(err, XS_EAGAIN);
    assert_true(site_full(&site));
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "long", head), 0);
    assert_int_equal(site_body(&site, "x", false), XS_EAGAIN);
    for (int i = 0; site.drains == 0; i++) {
        assert_true(i < 10000);
        (void)world->outside->read(site.client.peer, data, sizeof data);
        world_run(world, XS_MS_NS);
    }
    assert_int_equal(site_body(&site, "x", false), 0);

    site_close(&site);
}

#define TAKES "GET / HTTP/1.1\r\nhost: h\r\nte: trailers\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"

/* The last body is said; trailers are awaited. */
static void trailing_open(struct site *site, struct world *world,
                          const char *request)
{
    asked_open(site, world, request);
    assert_int_equal(site_expect_trailers(site), XS_ESTATE);
    assert_int_equal(site_start(site, 200), 0);
    assert_int_equal(site_expect_trailers(site), 0);
    assert_int_equal(site_body(site, "x", false), 0);
}

static void trailers_end_the_response(struct world *world)
{
    struct site site;

    trailing_open(&site, world, TAKES);
    site_expect(&site, CHUNKED "1\r\nx\r\n");
    assert_int_equal(site_body(&site, "", false), XS_ESTATE);
    assert_int_equal(site_trailer(&site, "content-type", "x", false),
                     XS_EINVALID);
    assert_int_equal(site_trailer(&site, "a", "1", true), 0);
    assert_int_equal(site_trailer(&site, "b", "2", false), 0);
    site_expect(&site, "0\r\na: 1\r\nb: 2\r\n\r\n");
    site_say(&site, GET);
    world_until_is(world, &site.requests, 2);
    site_answer(&site, "next");
    site_expect(&site, SITE_OK("4", "next"));

    site_close(&site);
}

static void trailers_are_not_for_who_does_not_take_them(struct world *world)
{
    struct site site;

    trailing_open(&site, world, GET);
    assert_int_equal(site_trailer(&site, "a", "1", false), 0);
    site_expect(&site, SITE_OK("1", "x"));
    site_say(&site, GET);
    world_until_is(world, &site.requests, 2);
    site_answer(&site, "next");
    site_expect(&site, SITE_OK("4", "next"));

    site_close(&site);
}

/* Not even the last chunk: there are clients to whom that is the end. */
static void a_failure_before_the_last_trailers_is_no_end(struct world *world)
{
    struct site site;

    trailing_open(&site, world, TAKES);
    assert_int_equal(site_trailer(&site, "a", "1", true), 0);
    site_fail(&site);
    site_expect(&site, CHUNKED "1\r\nx\r\n");
    site_expect_end(&site);

    site.trailing = false;
    site_close(&site);
}

const struct rule rules_aside[] = {
    RULE(a_hint_arrives_while_the_answer_is_thought_of),
    RULE(a_hint_leaves_inside_the_call),
    RULE(http_1_0_gets_no_hint),
    RULE(a_hint_behind_the_start_is_refused),
    RULE(a_hint_that_is_not_legal_says_nothing),
    RULE(a_hint_does_not_let_the_body_come),
    RULE(a_failure_behind_a_hint_is_a_500),
    RULE(hints_wait_for_who_does_not_read),
    RULE(trailers_end_the_response),
    RULE(trailers_are_not_for_who_does_not_take_them),
    RULE(a_failure_before_the_last_trailers_is_no_end),
    {NULL, NULL},
};
