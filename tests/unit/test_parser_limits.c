/* test_parser_limits.c - core/http1/parser.c: the bounds of a whole head, of
 * what chunks have besides data, and of the trailer. */

#include "core/http1/parser.h"

#include "tests/unit/parser_fixture.h"

static void parser_bounds_the_extensions_of_chunks(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(&limits,
                         text_of(CHUNKED "1;", "e", XS_CHUNK_EXTRA_MAX,
                                 "\r\nx\r\n0\r\n\r\n"),
                         cuts[i], "end");
        assert_last_line(&limits,
                         text_of(CHUNKED "1;", "e", XS_CHUNK_EXTRA_MAX + 32,
                                 "\r\nx\r\n0\r\n\r\n"),
                         cuts[i], "refuse 413 chunk extensions");
        assert_last_line(
            &limits, text_of(CHUNKED "1;", "e", XS_CHUNK_EXTRA_MAX + 32, ""),
            cuts[i], "refuse 413 chunk extensions");
        assert_last_line(&limits,
                         text_of(CHUNKED, "0", XS_CHUNK_EXTRA_MAX + 32, ""),
                         cuts[i], "refuse 413 chunk extensions");
        assert_last_line(&limits,
                         text_of(CHUNKED,
                                 "1;eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                                 "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                                 "\r\nx\r\n",
                                 200, "0\r\n\r\n"),
                         cuts[i], "refuse 413 chunk extensions");
    }
}

static void parser_lets_long_chunks_have_signatures(void **state)
{
    struct xs_limits limits = xs_limits_default();
    char chunk[2100];
    size_t len;
    (void)state;

    len = (size_t)snprintf(chunk, sizeof chunk, "7d0;signature=%064d\r\n", 1);
    memset(chunk + len, 'x', 2000);
    memcpy(chunk + len + 2000, "\r\n", 3);

    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(&limits, text_of(CHUNKED, chunk, 300, "0\r\n\r\n"),
                         cuts[i], "end");
    }
}

static void parser_lets_a_body_have_any_number_of_small_chunks(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    assert_last_line(
        &limits, text_of(CHUNKED, "1\r\nx\r\n", 20000, "0\r\n\r\n"), 0, "end");
}

static void parser_bounds_the_whole_head(void **state)
{
    const size_t around = sizeof "GET / HTTP/1.1\r\n" HOST "\r\n" - 1;
    struct xs_limits limits = xs_limits_default();
    (void)state;

    limits.request_head_max = around + 10 * (sizeof "X: y\r\n" - 1);
    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        const char *start = "GET / HTTP/1.1\r\n" HOST;

        assert_last_line(&limits, text_of(start, "X: y\r\n", 10, "\r\n"),
                         cuts[i], "end");
        assert_last_line(&limits, text_of(start, "X: y\r\n", 10, "z:\r\n\r\n"),
                         cuts[i], "refuse 431 head size");
        assert_last_line(&limits, text_of(start, "X: y\r\n", 11, ""), cuts[i],
                         "refuse 431 head size");
    }
    limits.request_head_max--;
    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(
            &limits, text_of("GET / HTTP/1.1\r\n" HOST, "X: y\r\n", 10, "\r\n"),
            cuts[i], "refuse 431 head size");
    }
}

static void parser_bounds_each_head_of_a_connection_by_itself(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    limits.request_head_max = 40;
    assert_last_line(&limits,
                     text_of("", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 100, ""),
                     0, "end");
}

static void parser_bounds_the_trailer_to_the_byte(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    limits.request_trailer_max = 10 * (sizeof "T: t\r\n" - 1) + 2;
    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        const char *start = CHUNKED "1;ext\r\nx\r\n0;ext\r\n";

        assert_last_line(&limits, text_of(start, "T: t\r\n", 10, "\r\n"),
                         cuts[i], "end");
        assert_last_line(&limits, text_of(start, "T: t\r\n", 10, "z:\r\n\r\n"),
                         cuts[i], "refuse 431 trailer size");
    }
}

static void parser_bounds_the_trailer_section(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cuts); i++) {
        assert_last_line(&limits,
                         text_of(CHUNKED "0\r\nT: ", "t",
                                 XS_CHUNK_EXTRA_MAX - 10, "\r\n\r\n"),
                         cuts[i], "end");
        assert_last_line(&limits,
                         text_of(CHUNKED "0\r\nT: ", "t",
                                 XS_CHUNK_EXTRA_MAX + 32, "\r\n\r\n"),
                         cuts[i], "refuse 431 trailer size");
        assert_last_line(
            &limits,
            text_of(CHUNKED "0\r\n", "T: t\r\n", XS_CHUNK_EXTRA_MAX, ""),
            cuts[i], "refuse 431 trailer size");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parser_bounds_the_extensions_of_chunks),
        cmocka_unit_test(parser_lets_long_chunks_have_signatures),
        cmocka_unit_test(parser_lets_a_body_have_any_number_of_small_chunks),
        cmocka_unit_test(parser_bounds_the_whole_head),
        cmocka_unit_test(parser_bounds_each_head_of_a_connection_by_itself),
        cmocka_unit_test(parser_bounds_the_trailer_to_the_byte),
        cmocka_unit_test(parser_bounds_the_trailer_section),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
