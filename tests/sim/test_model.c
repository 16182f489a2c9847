/* test_model.c - sim/model*.c: the reference serialisation and its freedoms. */

#include "sim/model.h"
#include "tests/testlib.h"

#define WALL 784111777u /* Sun, 06 Nov 1994 08:49:37 GMT */

struct modelling {
    struct xs_model model;
    struct xs_verdict verdict;
};

static void setup(struct modelling *m)
{
    memset(m, 0, sizeof *m);
    xs_model_init(&m->model, &m->verdict, XS_LIT("xsgi"), true);
    xs_model_request(&m->model, 1, false, WALL);
}

static void wrote(struct modelling *m, const char *text)
{
    xs_model_wrote(&m->model, xs_slice_str(text));
}

/* A response with a body said in one go. */
static void say(struct modelling *m, const struct xs_model_ties *ties)
{
    xs_model_start(&m->model, 200, XS_LIT(""));
    xs_model_field(&m->model, XS_LIT("content-type"), XS_LIT("text/plain"));
    xs_model_body(&m->model, XS_LIT("hello"), false, WALL + 1, ties);
}

static const struct xs_model_ties free_ties = {false, false};

#define HEAD(second, last)                            \
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n" \
    "date: Sun, 06 Nov 1994 08:49:" second            \
    " GMT\r\nserver: xsgi\r\ncontent-length: 5\r\n" last "\r\n"

static void model_takes_what_may_be_either(void **state)
{
    static const char *const texts[] = {
        HEAD("37", "") "hello",
        HEAD("38", "") "hello",
        HEAD("37", "connection: close\r\n") "hello",
        HEAD("38", "connection: close\r\n") "hello",
    };
    struct modelling m;
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(texts); i++) {
        for (size_t cut = 0; cut <= strlen(texts[i]); cut++) {
            struct xs_slice all = xs_slice_str(texts[i]);

            setup(&m);
            say(&m, &free_ties);
            xs_model_wrote(&m.model, xs_slice_of(all.data, cut));
            assert_int_equal(xs_model_is_complete(&m.model), cut == all.len);
            xs_model_wrote(&m.model,
                           xs_slice_of(all.data + cut, all.len - cut));

            assert_string_equal(m.verdict.text, "");
            assert_true(xs_model_is_complete(&m.model));
            assert_int_equal(m.model.close_said, i >= 2);
            xs_model_fini(&m.model);
        }
    }
}

static void model_finds_fault_with_any_other_byte(void **state)
{
    static const char text[] = HEAD("37", "") "hello";
    struct modelling m;
    (void)state;

    for (size_t at = 0; at < sizeof text - 1; at++) {
        char other[sizeof text];

        memcpy(other, text, sizeof text);
        other[at] ^= 0x40;
        setup(&m);
        say(&m, &free_ties);
        wrote(&m, other);

        assert_int_equal(m.verdict.oracle, XS_ORACLE_O1);
        xs_model_fini(&m.model);
    }
}

static void model_finds_fault_with_a_byte_too_many(void **state)
{
    struct modelling m;
    (void)state;

    setup(&m);
    say(&m, &free_ties);
    wrote(&m, HEAD("37", "") "hello!");

    assert_int_equal(m.verdict.oracle, XS_ORACLE_O1);
    xs_model_fini(&m.model);
}

static void model_demands_what_must_close_or_live(void **state)
{
    const struct xs_model_ties must_close = {.must_close = true};
    const struct xs_model_ties must_keep = {.must_keep = true};
    struct modelling m;
    (void)state;

    setup(&m);
    say(&m, &must_close);
    wrote(&m, HEAD("37", ""));
    assert_int_equal(m.verdict.oracle, XS_ORACLE_O8);
    xs_model_fini(&m.model);

    setup(&m);
    say(&m, &must_keep);
    wrote(&m, HEAD("37", "connection: close\r\n"));
    assert_int_equal(m.verdict.oracle, XS_ORACLE_O8);
    xs_model_fini(&m.model);
}

static void model_lets_a_needless_continue_be_left_out(void **state)
{
    static const char *const befores[] = {"", "HTTP/1.1 100 Continue\r\n\r\n"};
    struct modelling m;
    (void)state;

    for (unsigned i = 0; i < 4; i++) {
        bool must = i >= 2;

        setup(&m);
        xs_model_continue(&m.model, must);
        say(&m, &free_ties);
        for (const char *at = befores[i % 2]; *at != '\0'; at++) {
            xs_model_wrote(&m.model, xs_slice_of(at, 1));
        }
        wrote(&m, HEAD("37", "") "hello");

        assert_int_equal(m.verdict.oracle,
                         i == 2 ? XS_ORACLE_O1 : XS_ORACLE_NONE);
        xs_model_fini(&m.model);
    }
}

static void model_frames_pieces_as_chunks(void **state)
{
    struct modelling m;
    (void)state;

    setup(&m);
    m.model.date = false;
    m.model.server_name = XS_LIT("");
    xs_model_start(&m.model, 200, XS_LIT(""));
    xs_model_body(&m.model, XS_LIT("0123456789abcdef"), true, WALL, &free_ties);
    xs_model_body(&m.model, XS_LIT(""), true, WALL, &free_ties);
    xs_model_body(&m.model, XS_LIT("x"), false, WALL, &free_ties);
    wrote(&m,
          "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
          "10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\n\r\n");

    assert_string_equal(m.verdict.text, "");
    assert_true(xs_model_is_complete(&m.model));
    xs_model_fini(&m.model);
}

static void model_takes_back_a_body_that_failed(void **state)
{
    struct modelling m;
    (void)state;

    setup(&m);
    say(&m, &free_ties);
    xs_model_undo(&m.model);
    assert_true(xs_model_is_complete(&m.model));
    assert_false(m.model.response.head_out);
    xs_model_refuse(&m.model, 500, XS_LIT("no"), WALL, &free_ties);
    wrote(&m,
          "HTTP/1.1 500 Internal Server Error\r\n"
          "content-type: text/plain; charset=utf-8\r\n"
          "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nserver: xsgi\r\n"
          "content-length: 2\r\n\r\nno");

    assert_string_equal(m.verdict.text, "");
    assert_true(xs_model_is_complete(&m.model));
    xs_model_fini(&m.model);
}

static void model_that_was_cut_misses_nothing_and_takes_nothing(void **state)
{
    struct modelling m;
    (void)state;

    setup(&m);
    say(&m, &free_ties);
    xs_model_cut(&m.model);
    assert_true(xs_model_is_complete(&m.model));
    xs_model_wrote(&m.model, XS_LIT("H"));

    assert_int_equal(m.verdict.oracle, XS_ORACLE_O1);
    xs_model_fini(&m.model);
}

static void model_says_hints_before_the_head_and_not_to_http_1_0(void **state)
{
    const struct xs_field links[] = {{XS_LIT("link"), XS_LIT("<a>")},
                                     {XS_LIT("Link"), XS_LIT("")}};
    struct modelling m;
    (void)state;

    setup(&m);
    xs_model_hint(&m.model, links, 2);
    xs_model_hint(&m.model, links, 0);
    say(&m, &free_ties);
    wrote(&m, "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\nLink: \r\n\r\n");
    wrote(&m, HEAD("37", "") "hello");
    assert_string_equal(m.verdict.text, "");
    assert_true(xs_model_is_complete(&m.model));
    xs_model_fini(&m.model);

    setup(&m);
    xs_model_request(&m.model, 0, false, WALL);
    xs_model_hint(&m.model, links, 2);
    assert_true(xs_model_is_complete(&m.model));
    xs_model_fini(&m.model);
}

/* Both begin with "HTTP/1.1 10". */
static void model_tells_a_hint_from_a_100_that_was_left_out(void **state)
{
    const struct xs_field link = {XS_LIT("link"), XS_LIT("<a>")};
    static const char *const texts[] = {
        ("HTTP/1.1 100 Continue\r\n\r\n"
         "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"),
        "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 105",
    };
    struct modelling m;
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(texts); i++) {
        for (size_t cut = 0; cut <= strlen(texts[i]); cut++) {
            struct xs_slice all = xs_slice_str(texts[i]);

            setup(&m);
            xs_model_continue(&m.model, false);
            xs_model_hint(&m.model, &link, 1);
            xs_model_wrote(&m.model, xs_slice_of(all.data, cut));
            xs_model_wrote(&m.model,
                           xs_slice_of(all.data + cut, all.len - cut));

            assert_int_equal(m.verdict.oracle == XS_ORACLE_NONE, i < 2);
            assert_int_equal(xs_model_is_complete(&m.model), i < 2);
            xs_model_fini(&m.model);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_takes_what_may_be_either),
        cmocka_unit_test(model_finds_fault_with_any_other_byte),
        cmocka_unit_test(model_finds_fault_with_a_byte_too_many),
        cmocka_unit_test(model_demands_what_must_close_or_live),
        cmocka_unit_test(model_lets_a_needless_continue_be_left_out),
        cmocka_unit_test(model_frames_pieces_as_chunks),
        cmocka_unit_test(model_takes_back_a_body_that_failed),
        cmocka_unit_test(model_that_was_cut_misses_nothing_and_takes_nothing),
        cmocka_unit_test(model_says_hints_before_the_head_and_not_to_http_1_0),
        cmocka_unit_test(model_tells_a_hint_from_a_100_that_was_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
