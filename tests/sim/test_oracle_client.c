/* test_oracle_client.c - sim/oracle_client.c: who watches the watcher. */

#include "sim/oracle_client.h"

#include <stdio.h>

#include "tests/testlib.h"

struct reading {
    struct xs_reader reader;
    struct xs_verdict verdict;
};

/* Read `text` in two parts, cut at `cut`; `asks` has a letter for each request,
 * H for HEAD and G for any other. */
static void read_cut(struct reading *reading, const char *text,
                     const char *asks, size_t cut)
{
    struct xs_slice all = xs_slice_str(text);

    memset(&reading->verdict, 0, sizeof reading->verdict);
    xs_reader_init(&reading->reader, &reading->verdict);
    for (; *asks != '\0'; asks++) {
        xs_reader_ask(&reading->reader, *asks == 'H');
    }
    xs_reader_feed(&reading->reader, xs_slice_of(all.data, cut));
    xs_reader_feed(&reading->reader,
                   xs_slice_of(all.data + cut, all.len - cut));
}

static void reader_reads_legal_responses_in_any_cut(void **state)
{
    static const char text[] =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
        "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"
        "HTTP/1.1 204 No Content\r\n\r\n"
        "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n"
        "HTTP/1.1 404 \r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n0a\r\n0123456789\r\n0\r\n\r\n"
        "HTTP/1.1 500 Oh\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    struct xs_slice body = XS_LIT("abc0123456789");
    struct reading reading;
    (void)state;

    for (size_t cut = 0; cut < sizeof text; cut++) {
        read_cut(&reading, text, "GHGGGG", cut);

        assert_string_equal(reading.verdict.text, "");
        assert_int_equal(reading.reader.complete, 6);
        assert_int_equal(reading.reader.continues, 1);
        assert_int_equal(reading.reader.hints, 1);
        assert_int_equal(reading.reader.responses[4].status, 404);
        assert_int_equal(reading.reader.responses[4].body_len, 13);
        assert_int_equal(reading.reader.responses[4].body_hash,
                         xs_reader_hash(0, 0, body));
        assert_true(xs_reader_end(&reading.reader));
    }
}

static void reader_finds_fault_with_illegal_responses(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 200\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 101 Up\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\ncontent-length: 1\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 204 No\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
        "HTTP/1.1 200 OK\nx: y\n\n",
        "HTTP/1.1 200 OK\r\nx : y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: a\x01\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n"
        "transfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        "HTTP/1.1 204 No\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3 \r\nabc\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcd\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: "
        "b\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nab",
    };
    struct reading reading;
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(texts); i++) {
        read_cut(&reading, texts[i], "G", strlen(texts[i]) / 2);

        if (reading.verdict.oracle != XS_ORACLE_O3) {
            fail_msg("no fault is found with \"%s\"", texts[i]);
        }
    }
}

static void reader_takes_trailers_only_if_they_were_asked_for(void **state)
{
    static const struct {
        const char *trailer;
        bool right;
    } cases[] = {{"", true},
                 {"a: b\r\nc:\r\n", true},
                 {"a b: c\r\n", false},
                 {"a\r\n", false},
                 {"Content-Length: 1\r\n", false}};
    (void)state;

    for (size_t i = 0; i < 2 * XS_COUNT_OF(cases); i++) {
        bool asked = i % 2 == 1;
        struct reading reading = {.verdict = {.oracle = XS_ORACLE_NONE}};
        char text[200];

        (void)snprintf(text, sizeof text,
                       "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                       "0\r\n%s\r\n",
                       cases[i / 2].trailer);
        xs_reader_init(&reading.reader, &reading.verdict);
        xs_reader_ask(&reading.reader, false);
        if (asked) {
            xs_reader_ask_trailers(&reading.reader);
        }
        xs_reader_feed(&reading.reader, xs_slice_str(text));

        assert_int_equal(
            reading.verdict.oracle == XS_ORACLE_NONE,
            (cases[i / 2].right && asked) || cases[i / 2].trailer[0] == '\0');
    }
}

static void reader_finds_fault_with_a_body_behind_head(void **state)
{
    struct reading reading;
    (void)state;

    read_cut(&reading, "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc\r\n",
             "H", 10);

    assert_int_equal(reading.verdict.oracle, XS_ORACLE_O3);
}

static void reader_knows_where_a_stream_may_end(void **state)
{
    struct reading reading;
    (void)state;

    read_cut(&reading, "HTTP/1.1 200 OK\r\n\r\nuntil the end", "G", 5);
    assert_true(xs_reader_end(&reading.reader));
    assert_true(reading.reader.responses[0].complete);

    read_cut(&reading, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", "G",
             5);
    assert_false(xs_reader_end(&reading.reader));
    assert_false(reading.reader.responses[0].complete);

    read_cut(&reading, "HTTP/1.1 2", "G", 5);
    assert_false(xs_reader_end(&reading.reader));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_reads_legal_responses_in_any_cut),
        cmocka_unit_test(reader_finds_fault_with_illegal_responses),
        cmocka_unit_test(reader_takes_trailers_only_if_they_were_asked_for),
        cmocka_unit_test(reader_finds_fault_with_a_body_behind_head),
        cmocka_unit_test(reader_knows_where_a_stream_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
