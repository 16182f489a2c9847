/* rules_file_response.c - responses from files: what xs_response_body says of
 * a range of a file. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/site.h"

#define FILE_LEN 3000

/* A response whose body is `len` bytes that the file may not have. */
struct answer {
    const char *request;
    const char *length; /* Content-Length, or NULL */
    bool more;          /* the body is not said to end there */
    size_t len;
    const char *head;   /* what the client gets before the body */
    const char *tail;   /* and behind it; NULL: it ends early */
    const char *folder; /* what cannot be read, instead of it; or NULL */
};

static int file_open(void)
{
    uint8_t data[FILE_LEN];
    char path[] = "/tmp/xsgi-file-XXXXXX";
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(unlink(path), 0);
    pattern_fill(data, 0, sizeof data);
    assert_int_equal(write(file, data, sizeof data), sizeof data);
    return file;
}

/* What comes of the file, which is checked; no more than `len`. */
static size_t body_read(struct site *site, size_t from, size_t len)
{
    size_t got = 0;

    while (got < len) {
        uint8_t data[1000];
        size_t ask = len - got < sizeof data ? len - got : sizeof data;
        int64_t n = peer_recv_some(&site->client, data, ask);
        if (n <= 0) {
            break;
        }
        pattern_check(data, from + got, (size_t)n);
        got += (size_t)n;
    }
    return got;
}

/* On a connection of its own. */
static void answer_check(struct site *site, const struct answer *answer)
{
    struct world *world = site->world;
    int file =
        answer->folder != NULL ? open(answer->folder, O_RDONLY) : file_open();
    size_t due = answer->len < FILE_LEN - 10 ? answer->len : FILE_LEN - 10;

    assert_true(file >= 0);
    site->requests = 0;
    site->releases = 0;
    site->aborts = 0;
    site->conn_closes = 0;
    site_connect(site);
    site_say(site, answer->request);
    world_until(world, &site->requests);
    assert_int_equal(site_start(site, 200), 0);
    if (answer->length != NULL) {
        assert_int_equal(site_header(site, "content-length", answer->length),
                         0);
    }
    assert_int_equal(site_file(site, file, 10, answer->len, answer->more), 0);
    site_expect(site, answer->head);
    if (answer->tail != NULL) {
        assert_int_equal(body_read(site, 10, due), due);
        site_expect(site, answer->tail);
    } else {
        assert_true(body_read(site, 10, FILE_LEN) <= due);
        site_expect_end(site);
    }
    world_until(world, &site->releases);
    assert_int_equal(site->aborts, answer->more && answer->tail == NULL);
    if (answer->more && answer->tail == NULL) {
        assert_int_equal(site->why, XS_ABORT_FILE);
    } else if (answer->more) {
        site_fail(site);
    }
    pair_close_peer(&site->client);
    world_until(world, &site->conn_closes);
    assert_int_equal(site->releases, 1);
    (void)close(file);
}

static void answers_check(struct world *world, const struct answer *answers,
                          size_t count)
{
    struct site site;

    site_open(&site, world, NULL);
    for (size_t i = 0; i < count; i++) {
        answer_check(&site, &answers[i]);
    }
    site_close(&site);
}

#define GET "GET / HTTP/1.1\r\nhost: h\r\n\r\n"
#define GET_1_0 "GET / HTTP/1.0\r\n\r\n"
#define HEAD_OK(fields) "HTTP/1.1 200 OK\r\n" fields "\r\n"

static void a_file_is_framed_as_bytes_are(struct world *world)
{
    static const struct answer answers[] = {
        {GET, NULL, false, 500, HEAD_OK("content-length: 500\r\n"), "", NULL},
        {GET, "500", false, 500, HEAD_OK("content-length: 500\r\n"), "", NULL},
        {GET, NULL, true, 500,
         HEAD_OK("transfer-encoding: chunked\r\n") "1f4\r\n", "\r\n", NULL},
        {GET_1_0, NULL, true, 500, HEAD_OK("connection: close\r\n"), "", NULL},
    };

    answers_check(world, answers, XS_COUNT_OF(answers));
}

static void a_response_whose_file_is_too_short_ends_early(struct world *world)
{
    static const struct answer answers[] = {
        {GET, NULL, false, 5000, HEAD_OK("content-length: 5000\r\n"), NULL,
         NULL},
        {GET, "6000", true, 5000, HEAD_OK("content-length: 6000\r\n"), NULL,
         NULL},
        {GET, NULL, true, 5000,
         HEAD_OK("transfer-encoding: chunked\r\n") "1388\r\n", NULL, NULL},
    };

    answers_check(world, answers, XS_COUNT_OF(answers));
}

static void a_response_whose_file_cannot_be_read_ends_early(struct world *world)
{
    static const struct answer answers[] = {
        {GET, NULL, false, 5000, HEAD_OK("content-length: 5000\r\n"), NULL,
         "/tmp"},
        {GET, NULL, true, 5000,
         HEAD_OK("transfer-encoding: chunked\r\n") "1388\r\n", NULL, "/tmp"},
    };

    answers_check(world, answers, XS_COUNT_OF(answers));
}

/* The end of the stream would be the end of the body: a reset, by which the
 * client may lose what it has not read. */
static void a_body_until_the_end_whose_file_is_too_short_is_reset(
    struct world *world)
{
    struct site site;
    uint8_t data[1000];
    int file = file_open();
    int64_t n;

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET_1_0);
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_file(&site, file, 0, FILE_LEN + 1, true), 0);
    do {
        n = peer_recv_some(&site.client, data, sizeof data);
    } while (n > 0);

    assert_true(n < 0 || world->outside->is_unix);
    assert_int_equal(site.aborts, 1);
    assert_int_equal(site.why, XS_ABORT_FILE);
    assert_int_equal(site.releases, 1);
    site_close(&site);
    (void)close(file);
}

static void what_follows_a_torn_file_is_dropped(struct world *world)
{
    struct site site;
    int file = file_open();

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_file(&site, file, FILE_LEN, 7, true), 0);
    assert_int_equal(site_file(&site, file, 0, 7, true), 0);
    assert_int_equal(site_lend(&site, 0, 40000, true), 0);
    site_expect(&site, HEAD_OK("transfer-encoding: chunked\r\n") "7\r\n");
    site_expect_end(&site);

    assert_int_equal(site.releases, 3);
    assert_int_equal(site.why, XS_ABORT_FILE);
    site_close(&site);
    (void)close(file);
}

static void an_answer_before_a_torn_one_arrives_whole(struct world *world)
{
    struct site site;
    int file = file_open();

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET GET);
    world_until(world, &site.requests);
    site_answer(&site, "first");
    world_until_is(world, &site.requests, 2);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_file(&site, file, FILE_LEN + 5, 7, false), 0);
    site_expect(&site, SITE_OK("5", "first"));
    site_expect(&site, HEAD_OK("content-length: 7\r\n"));
    site_expect_end(&site);

    assert_int_equal(site.aborts, 0);
    assert_int_equal(site.releases, 1);
    site_close(&site);
    (void)close(file);
}

static void a_head_has_no_bytes_of_the_file(struct world *world)
{
    struct site site;
    int file = file_open();

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, "HEAD / HTTP/1.1\r\nhost: h\r\n\r\n");
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_file(&site, file, 0, 70, false), 0);
    assert_int_equal(site.releases, 1);
    site_expect(&site, HEAD_OK("content-length: 70\r\n"));
    site_say(&site, GET);
    world_until_is(world, &site.requests, 2);
    site_answer(&site, "second");
    site_expect(&site, SITE_OK("6", "second"));

    site_close(&site);
    (void)close(file);
}

static void a_file_that_does_not_fit_its_length_is_not_taken(
    struct world *world)
{
    struct site site;
    int file = file_open();

    site_open(&site, world, NULL);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_true(xs_response_left(site.req) == UINT64_MAX);
    assert_int_equal(site_header(&site, "content-length", "10"), 0);
    assert_int_equal(xs_response_left(site.req), 10);
    assert_int_equal(site_file(&site, file, 0, 11, true), XS_ELENGTH);
    assert_int_equal(site_file(&site, file, 0, 9, false), XS_ELENGTH);
    assert_int_equal(site.releases, 0);
    assert_int_equal(site_file(&site, file, 0, 10, false), 0);
    site_expect(&site, HEAD_OK("content-length: 10\r\n"));
    assert_int_equal(body_read(&site, 0, 10), 10);

    site_close(&site);
    (void)close(file);
}

/* A range counts as its length, however little memory it takes. */
static void a_long_file_makes_the_application_wait(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;
    int file = file_open();

    limits.tx_high = 2000;
    limits.tx_low = 100;
    site_open(&site, world, &limits);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "content-length", "2001"), 0);
    assert_int_equal(site_file(&site, file, 0, 2000, true), 0);
    if (site_full(&site)) {
        world_until(world, &site.drains);
    }
    assert_int_equal(site_body(&site, "x", false), 0);
    site_expect(&site, HEAD_OK("content-length: 2001\r\n"));
    assert_int_equal(body_read(&site, 0, 2000), 2000);
    site_expect(&site, "x");

    assert_int_equal(site.releases, 1);
    site_close(&site);
    (void)close(file);
}

static void a_file_that_waits_is_no_memory(struct world *world)
{
    const size_t len = (size_t)32 * 1024 * 1024;
    struct xs_limits limits = site_limits();
    struct site site;
    int file = file_open();

    assert_int_equal(ftruncate(file, (off_t)len), 0);
    limits.backlog_max = 1000;
    site_open(&site, world, &limits);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_file(&site, file, 0, len, true), 0);
    world_settle(world);

    assert_true(site.server.stats.backlog <= 1000);
    assert_int_equal(site.aborts, 0);
    assert_true(site_full(&site));
    pair_close_peer(&site.client);
    world_until(world, &site.aborts);
    assert_int_equal(site.why, XS_ABORT_RESET);
    world_until(world, &site.releases);
    site_close(&site);
    (void)close(file);
}

/* Each may hold a descriptor of the application's. */
static void few_ranges_wait_however_short(struct world *world)
{
    struct xs_limits limits = site_limits();
    struct site site;
    int file = file_open();

    limits.tx_high = (size_t)1024 * 1024;
    limits.tx_low = 0;
    site_open(&site, world, &limits);
    site_connect(&site);
    site_say(&site, GET);
    world_until(world, &site.requests);
    assert_int_equal(site_start(&site, 200), 0);
    assert_int_equal(site_header(&site, "content-length", "500"), 0);
    for (size_t i = 0; i < 500; i++) {
        if (site_full(&site)) {
            site.drains = 0;
            world_until(world, &site.drains);
        }
        assert_int_equal(site_file(&site, file, i, 1, i < 499), 0);
        assert_true(i + 1 - site.releases <= XS_TX_LENT);
    }
    site_expect(&site, HEAD_OK("content-length: 500\r\n"));
    assert_int_equal(body_read(&site, 0, 500), 500);

    assert_int_equal(site.releases, 500);
    site_close(&site);
    (void)close(file);
}

const struct rule rules_file_response[] = {
    RULE(a_file_is_framed_as_bytes_are),
    RULE(a_response_whose_file_is_too_short_ends_early),
    RULE(a_response_whose_file_cannot_be_read_ends_early),
    RULE(a_body_until_the_end_whose_file_is_too_short_is_reset),
    RULE(what_follows_a_torn_file_is_dropped),
    RULE(an_answer_before_a_torn_one_arrives_whole),
    RULE(a_head_has_no_bytes_of_the_file),
    RULE(a_file_that_does_not_fit_its_length_is_not_taken),
    RULE(a_long_file_makes_the_application_wait),
    RULE(a_file_that_waits_is_no_memory),
    RULE(few_ranges_wait_however_short),
    {NULL, NULL},
};
