/* test_parser.c - core/http1/parser.c: budgets, splits, and what is left to
 * the caller. What is legal and what is not is in tests/http. */

#include "core/http1/parser.h"

#include "tests/unit/parser_fixture.h"

#define CHUNKED_HEAD                            \
    "head POST / HTTP/1.1 keep-alive chunked\n" \
    "  Host: a\n"                               \
    "  Transfer-Encoding: chunked\n"

static void assert_transcript(struct xs_slice input,
                              const struct transcript_way *way,
                              const char *wanted)
{
    char *got = transcript_of(input, way);

    assert_string_equal(got, wanted);
    free(got);
}

/* The same whole, byte by byte, and cut once at each offset; with the body
 * taken at once or at the end; with the block moved in between. */
static void assert_always(const struct xs_limits *limits, const char *text,
                          const char *wanted)
{
    struct xs_slice input = xs_slice_str(text);

    for (size_t first = 0; first < input.len; first++) {
        for (unsigned bits = 0; bits < 8; bits++) {
            const struct transcript_way way = {
                .limits = limits,
                .first = first,
                .each = (bits & 1) != 0 ? 1 : 0,
                .keep = (bits & 2) != 0,
                .move = (bits & 4) != 0,
            };
            assert_transcript(input, &way, wanted);
        }
    }
}

static void parser_gives_the_same_however_the_bytes_are_cut(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    assert_always(
        &limits,
        "\r\nGET /a?b HTTP/1.1\r\n" HOST
        "X:\r\nY: \t v \r\n\r\n"
        "POST http://h/ HTTP/1.1\r\n" HOST
        "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello" CHUNKED
        "5\r\nhello\r\n1;a=b\r\n \r\n5\r\nworld\r\n0\r\nT: 1\r\n\r\n"
        "HEAD / HTTP/1.0\r\n\r\nGET /half HTTP/1.1\r\nHos",
        "head GET /a?b HTTP/1.1 keep-alive\n"
        "  query b\n"
        "  Host: a\n"
        "  X: \n"
        "  Y: v\n"
        "end\n"
        "head POST http://h/ HTTP/1.1 keep-alive length=5 expect\n"
        "  path /\n"
        "  authority h\n"
        "  Host: h\n"
        "  Content-Length: 5\n"
        "  Expect: 100-continue\n"
        "body hello\n"
        "end\n" CHUNKED_HEAD
        "body hello world\n"
        "end\n"
        "head HEAD / HTTP/1.0 is-head\n"
        "end\n"
        "more\n");
}

static void parser_goes_on_after_an_offer_of_another_protocol(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    assert_always(&limits,
                  "POST / HTTP/1.1\r\n" HOST
                  "Connection: Upgrade\r\nUpgrade: h2c\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                  "GET /2 HTTP/1.0\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
                  "GET /3 HTTP/1.0\r\n\r\n",
                  "head POST / HTTP/1.1 keep-alive chunked\n"
                  "  Host: a\n"
                  "  Connection: Upgrade\n"
                  "  Upgrade: h2c\n"
                  "  Transfer-Encoding: chunked\n"
                  "body abc\n"
                  "end\n"
                  "head GET /2 HTTP/1.0\n"
                  "  Upgrade: x\n"
                  "  Connection: upgrade\n"
                  "end\n"
                  "head GET /3 HTTP/1.0\n"
                  "end\n");
}

static void parser_bounds_the_request_line(void **state)
{
    struct xs_limits limits = xs_limits_default();
    size_t around = strlen("GET / HTTP/1.1");
    (void)state;

    limits.request_line_max = 100;
    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(
            &limits,
            text_of("GET /", "a", 100 - around, " HTTP/1.1\r\n" HOST "\r\n"),
            cuts[i], "end");
        assert_last_line(
            &limits,
            text_of("GET /", "a", 101 - around, " HTTP/1.1\r\n" HOST "\r\n"),
            cuts[i], "refuse 414 line size");
        /* Without waiting for its end. */
        assert_last_line(&limits, text_of("GET /", "a", 1000, ""), cuts[i],
                         "refuse 414 line size");
    }
}

static void parser_bounds_each_field(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    limits.request_field_max = 50;
    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        const char *start = "GET / HTTP/1.1\r\n" HOST "X: ";

        assert_last_line(&limits, text_of(start, "v", 47, "\r\n\r\n"), cuts[i],
                         "end");
        assert_last_line(&limits, text_of(start, "v", 48, "\r\n\r\n"), cuts[i],
                         "refuse 431 field size");
        assert_last_line(&limits, text_of(start, "v", 48, ""), cuts[i],
                         "refuse 431 field size");
        start = "GET / HTTP/1.1\r\n" HOST;
        assert_last_line(&limits, text_of(start, "n", 50, ":\r\n\r\n"), cuts[i],
                         "refuse 431 field size");
        assert_last_line(&limits, text_of(start, "n", 51, ""), cuts[i],
                         "refuse 431 field size");
    }
}

static void parser_bounds_the_number_of_fields(void **state)
{
    struct xs_limits limits = xs_limits_default();
    const char *start = "GET / HTTP/1.1\r\n" HOST;
    (void)state;

    limits.request_fields_max = 10;
    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(&limits, text_of(start, "A: b\r\n", 9, "\r\n"),
                         cuts[i], "end");
        assert_last_line(&limits, text_of(start, "A: b\r\n", 10, "\r\n"),
                         cuts[i], "refuse 431 field count");
    }
}

static void parser_stays_within_the_table_of_fields(void **state)
{
    struct xs_limits limits = xs_limits_default();
    static char text[] = "GET / HTTP/1.1\r\n" HOST "A: b\r\n\r\n";
    struct xs_field one[1];
    struct xs_parser parser;
    size_t used;
    (void)state;

    xs_parser_init(&parser, &limits);
    xs_parser_fields(&parser, one, 1);

    assert_int_equal(
        xs_parser_feed(&parser, (uint8_t *)text, strlen(text), &used),
        XS_PARSE_REFUSE);

    assert_int_equal(parser.refusal, XS_REFUSE_FIELD_COUNT);
}

static void parser_bounds_the_body(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    limits.request_body_max = 10;
    assert_always(&limits, CHUNKED "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n",
                  CHUNKED_HEAD "body helloworld\nend\n");
    assert_always(&limits, CHUNKED "5\r\nhello\r\n6\r\nworld!\r\n0\r\n\r\n",
                  CHUNKED_HEAD "body hello\nrefuse 413 body size\n");
    assert_always(&limits, CHUNKED "ffffffffffffffff\r\n",
                  CHUNKED_HEAD "refuse 413 body size\n");
    assert_always(&limits,
                  "POST / HTTP/1.1\r\n" HOST "Content-Length: 11\r\n\r\nx",
                  "refuse 413 body size\n");
}

static void parser_skips_a_few_empty_lines(void **state)
{
    struct xs_limits limits = xs_limits_default();
    const char *get = "GET / HTTP/1.0\r\n\r\n";
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(&limits, text_of("", "\r\n", 8, get), cuts[i], "end");
        assert_last_line(&limits, text_of("", "\r\n", 9, get), cuts[i],
                         "refuse 400 syntax");
        assert_last_line(&limits, text_of("", "\r", 1, get), cuts[i],
                         "refuse 400 syntax");
        assert_last_line(&limits, text_of("", "\n", 1, get), cuts[i],
                         "refuse 400 syntax");
        assert_last_line(&limits, text_of("\r\n", "\n", 1, get), cuts[i],
                         "refuse 400 syntax");
        assert_last_line(&limits, text_of("", "\r\r", 1, get), cuts[i],
                         "refuse 400 syntax");
        assert_last_line(&limits, text_of(get, "\r\n", 3, get), cuts[i], "end");
        /* They are counted for each request anew. */
        assert_last_line(&limits,
                         text_of("", "\r\nGET / HTTP/1.0\r\n\r\n", 20, ""),
                         cuts[i], "end");
    }
}

static void parser_is_as_strict_with_the_next_message(void **state)
{
    struct xs_limits limits = xs_limits_default();
    const char *post = "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nab";
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(&limits,
                         text_of("", post, 2, "GET  / HTTP/1.0\r\n\r\n"),
                         cuts[i], "refuse 400 syntax");
        assert_last_line(&limits,
                         text_of("", post, 2, "GET / RTSP/1.0\r\n\r\n"),
                         cuts[i], "refuse 505 version");
        assert_last_line(&limits, text_of("", post, 2, "GET /\r\n\r\n"),
                         cuts[i], "refuse 400 syntax");
        assert_last_line(&limits, text_of("", post, 3, ""), cuts[i], "end");
    }
}

static void parser_has_not_begun_on_empty_lines(void **state)
{
    struct xs_limits limits = xs_limits_default();
    static char text[] = "\r\nG";
    struct xs_field fields[4];
    struct xs_parser parser;
    size_t used = 9;
    (void)state;

    xs_parser_init(&parser, &limits);
    xs_parser_fields(&parser, fields, 4);

    assert_int_equal(xs_parser_feed(&parser, (uint8_t *)text, 0, &used),
                     XS_PARSE_MORE);
    assert_int_equal(used, 0);
    assert_int_equal(xs_parser_feed(&parser, (uint8_t *)text, 2, &used),
                     XS_PARSE_MORE);
    assert_int_equal(used, 2);
    assert_false(parser.began);

    assert_int_equal(xs_parser_feed(&parser, (uint8_t *)text + 2, 1, &used),
                     XS_PARSE_MORE);
    assert_true(parser.began);
}

static void parser_knows_a_head_request_when_its_target_begins(void **state)
{
    static const struct {
        const char *text;
        bool is_head;
    } cases[] = {
        {"HEAD ", false},
        {"HEAD /", true},
        {"HEAD / HTTP/1.1\r\nHost:\r\n\r\n", true},
        {"HEADER /", false},
        {"GET / HTTP/1.1\r\n\r\n", false},
        {"HEAD / HTTP/1.0\r\n\r\n\n", false}, /* the next one is none */
    };
    struct xs_limits limits = xs_limits_default();
    struct xs_field fields[4];
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct xs_parser parser;
        uint8_t input[64];
        size_t len = strlen(cases[i].text);
        size_t at = 0;

        memcpy(input, cases[i].text, len);
        xs_parser_init(&parser, &limits);
        xs_parser_fields(&parser, fields, 4);
        while (parser.state != XS_PARSER_REFUSED && at < len) {
            size_t used;

            (void)xs_parser_feed(&parser, input + at, len - at, &used);
            at += used;
        }

        assert_int_equal(xs_parser_is_head(&parser), cases[i].is_head);
    }
}

static void parser_keeps_the_head_until_the_next_message(void **state)
{
    struct xs_limits limits = xs_limits_default();
    static char text[] = "GET /1 HTTP/1.0\r\n\r\nGET /2 HTTP/1.0\r\n\r\n";
    size_t half = sizeof text / 2;
    struct xs_field fields[4];
    struct xs_parser parser;
    size_t used = 0;
    (void)state;

    xs_parser_init(&parser, &limits);
    xs_parser_fields(&parser, fields, 4);
    assert_int_equal(
        xs_parser_feed(&parser, (uint8_t *)text, sizeof text - 1, &used),
        XS_PARSE_HEAD);
    assert_int_equal(used, half);

    assert_int_equal(
        xs_parser_feed(&parser, (uint8_t *)text + half, half, &used),
        XS_PARSE_END);

    assert_int_equal(used, 0);
    assert_false(parser.began);
    assert_slice_is(parser.head.target, "/1");
    assert_int_equal(
        xs_parser_feed(&parser, (uint8_t *)text + half, half, &used),
        XS_PARSE_HEAD);
    assert_slice_is(parser.head.target, "/2");
}

static void parser_ends_a_body_with_its_last_byte(void **state)
{
    struct xs_limits limits = xs_limits_default();
    static char text[] =
        "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.0\r\n";
    const size_t head = strlen("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n");
    struct xs_field fields[4];
    struct xs_parser parser;
    size_t used = 0;
    (void)state;

    xs_parser_init(&parser, &limits);
    xs_parser_fields(&parser, fields, 4);
    assert_int_equal(
        xs_parser_feed(&parser, (uint8_t *)text, sizeof text - 1, &used),
        XS_PARSE_HEAD);
    assert_int_equal(used, head);
    /* No bytes: it waits. */
    assert_int_equal(xs_parser_feed(&parser, (uint8_t *)text + head, 0, &used),
                     XS_PARSE_MORE);

    assert_int_equal(xs_parser_feed(&parser, (uint8_t *)text + head, 10, &used),
                     XS_PARSE_END);

    assert_int_equal(used, 2);
    assert_slice_is(xs_slice_of(parser.body, parser.body_len), "ab");
    xs_parser_take(&parser, 1);
    assert_slice_is(xs_slice_of(parser.body, parser.body_len), "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parser_gives_the_same_however_the_bytes_are_cut),
        cmocka_unit_test(parser_goes_on_after_an_offer_of_another_protocol),
        cmocka_unit_test(parser_bounds_the_request_line),
        cmocka_unit_test(parser_bounds_each_field),
        cmocka_unit_test(parser_bounds_the_number_of_fields),
        cmocka_unit_test(parser_stays_within_the_table_of_fields),
        cmocka_unit_test(parser_bounds_the_body),
        cmocka_unit_test(parser_skips_a_few_empty_lines),
        cmocka_unit_test(parser_is_as_strict_with_the_next_message),
        cmocka_unit_test(parser_has_not_begun_on_empty_lines),
        cmocka_unit_test(parser_knows_a_head_request_when_its_target_begins),
        cmocka_unit_test(parser_keeps_the_head_until_the_next_message),
        cmocka_unit_test(parser_ends_a_body_with_its_last_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
