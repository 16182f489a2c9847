/* test_aside.c - core/http1/aside.c: fields besides those of a head. */

#include "core/http1/aside.h"

#include "tests/unit/writer_fixture.h"

#define LINK(value)                                      \
    {                                                    \
        {(const uint8_t *)"link", 4},                    \
            {(const uint8_t *)value, sizeof(value) - 1}, \
    }

static const struct xs_field two_links[] = {
    LINK("</a.css>; rel=preload"),
    LINK("</b.js>; rel=preload"),
};

static int hint(struct fixture *f, const struct xs_field *fields,
                unsigned count)
{
    int err = xs_aside_hint(&f->writer, &f->queue, fields, count);

    xs_queue_check(&f->queue);
    return err;
}

static int hint_of(struct fixture *f, struct xs_slice name,
                   struct xs_slice value)
{
    const struct xs_field field = {name, value};

    return hint(f, &field, 1);
}

static void aside_hint_is_a_whole_103_before_the_head(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(hint(f, two_links, 2), 0);
    assert_int_equal(hint(f, two_links, 1), 0);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 103 Early Hints\r\n"
                        "link: </a.css>; rel=preload\r\n"
                        "link: </b.js>; rel=preload\r\n\r\n"
                        "HTTP/1.1 103 Early Hints\r\n"
                        "link: </a.css>; rel=preload\r\n\r\n"
                        "HTTP/1.1 200 OK\r\n" COMMON
                        "content-length: 0\r\n\r\n");
    teardown(f);
}

static void aside_hint_without_fields_or_for_http_1_0_says_nothing(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(hint(f, two_links, 0), 0);
    assert_string_equal(sent(f), "");
    teardown(f);

    f = setup(GET_1_0_ALIVE);
    assert_int_equal(hint(f, two_links, 2), 0);
    assert_int_equal(hint_of(f, XS_LIT("a b"), NONE), XS_EINVALID);
    assert_string_equal(sent(f), "");
    teardown(f);
}

static void aside_hint_comes_too_late_once_the_head_is_begun(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(hint(f, two_links, 2), XS_ESTATE);
    assert_int_equal(body_text(f, "x", true), 0);
    assert_int_equal(hint(f, two_links, 2), XS_ESTATE);
    assert_int_equal(body_text(f, "", false), 0);
    assert_int_equal(hint(f, two_links, 2), XS_ESTATE);

    assert_null(strstr(sent(f), "103"));
    teardown(f);
}

static void aside_hint_refuses_what_is_no_field(void **state)
{
    struct fixture *f = setup(GET_1_1);
    struct xs_field fields[] = {two_links[0], {XS_LIT("x y"), NONE}};
    (void)state;

    assert_int_equal(hint(f, fields, 2), XS_EINVALID);
    assert_int_equal(hint_of(f, NONE, XS_LIT("x")), XS_EINVALID);
    assert_int_equal(hint_of(f, XS_LIT("a"), XS_LIT("b\r\nc: d")), XS_EINVALID);
    assert_int_equal(hint_of(f, XS_LIT("a"), XS_LIT("b\n")), XS_EINVALID);
    assert_int_equal(hint_of(f, XS_LIT("a"), XS_LIT("\0")), XS_EINVALID);

    assert_string_equal(sent(f), "");
    teardown(f);
}

static void aside_hint_has_neither_framing_nor_a_connection(void **state)
{
    static const char *const names[] = {"Content-Length", "transfer-encoding",
                                        "CONNECTION",     "Keep-Alive",
                                        "upgrade",        "trailer"};
    struct fixture *f = setup(GET_1_1);
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(names); i++) {
        assert_false(xs_aside_may_hint(xs_slice_str(names[i])));
        assert_int_equal(hint_of(f, xs_slice_str(names[i]), XS_LIT("1")),
                         XS_EINVALID);
    }
    assert_true(xs_aside_may_hint(XS_LIT("content-lengths")));
    assert_true(xs_aside_may_hint(XS_LIT("content-security-policy")));

    assert_string_equal(sent(f), "");
    teardown(f);
}

static void aside_hint_has_a_largest_size(void **state)
{
    static uint8_t value[XS_ASIDE_MAX];
    const size_t fits = XS_ASIDE_MAX - sizeof "link: \r\n" + 1;
    struct fixture *f = setup(GET_1_1);
    (void)state;

    memset(value, 'v', sizeof value);
    assert_int_equal(hint_of(f, XS_LIT("link"), xs_slice_of(value, fits + 1)),
                     XS_ELIMIT);
    assert_string_equal(sent(f), "");
    assert_int_equal(hint_of(f, XS_LIT("link"), xs_slice_of(value, fits)), 0);
    assert_int_equal(
        strlen(sent(f)),
        sizeof "HTTP/1.1 103 Early Hints\r\n\r\n" - 1 + XS_ASIDE_MAX);
    teardown(f);
}

static void aside_hint_is_not_said_in_part_without_memory(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    f->mem.left = 0;
    assert_int_equal(hint(f, two_links, 2), XS_ENOMEM);
    assert_string_equal(sent(f), "");
    f->mem.left = TEST_MEM_ENOUGH;
    assert_int_equal(hint(f, two_links, 2), 0);
    teardown(f);
}

static int trailers(struct fixture *f, unsigned count, bool more)
{
    int err = xs_aside_trailers(&f->writer, &f->queue, two_links, count, more);

    xs_queue_check(&f->queue);
    return err;
}

/* A response whose body is "x". */
static struct fixture *trailing(struct request request, bool wanted)
{
    struct fixture *f = setup(request);

    assert_int_equal(xs_aside_expect(&f->writer, wanted), XS_ESTATE);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(xs_aside_expect(&f->writer, wanted), 0);
    assert_int_equal(trailers(f, 1, false), XS_ESTATE);
    assert_int_equal(body_text(f, "x", false), 0);
    assert_int_equal(f->writer.state, XS_WRITER_TRAILER);
    assert_int_equal(body_text(f, "x", false), XS_ESTATE);
    return f;
}

#define CHUNKED                  \
    "HTTP/1.1 200 OK\r\n" COMMON \
    "transfer-encoding: "        \
    "chunked\r\n\r\n1\r\nx\r\n"
#define LENGTH "HTTP/1.1 200 OK\r\n" COMMON "content-length: 1\r\n"

static void aside_trailers_leave_with_the_end_and_not_before(void **state)
{
    struct fixture *f = trailing(GET_1_1, true);
    (void)state;

    assert_string_equal(sent(f), CHUNKED);
    assert_int_equal(trailers(f, 2, true), 0);
    assert_string_equal(sent(f), CHUNKED);
    assert_int_equal(trailers(f, 1, false), 0);
    assert_string_equal(sent(f), CHUNKED
                        "0\r\nlink: </a.css>; rel=preload\r\n"
                        "link: </b.js>; rel=preload\r\n"
                        "link: </a.css>; rel=preload\r\n\r\n");
    assert_int_equal(trailers(f, 1, false), XS_ESTATE);
    assert_int_equal(slice_count(f), 1);
    teardown(f);
}

static void aside_trailers_go_only_where_they_are_taken(void **state)
{
    struct fixture *f = trailing(GET_1_1, false);
    (void)state;

    assert_int_equal(trailers(f, 2, false), 0);
    assert_string_equal(sent(f), LENGTH "\r\nx");
    assert_int_equal(f->writer.state, XS_WRITER_DONE);
    teardown(f);

    f = trailing(GET_1_0, true);
    assert_int_equal(trailers(f, 2, false), 0);
    assert_string_equal(sent(f), LENGTH "connection: close\r\n\r\nx");
    teardown(f);

    f = trailing(HEAD_1_1, true);
    assert_int_equal(trailers(f, 2, false), 0);
    assert_string_equal(sent(f), LENGTH "\r\n");
    teardown(f);
}

static void aside_trailers_refuse_what_a_client_has_to_know_before(void **state)
{
    static const char *const names[] = {"Content-Length",
                                        "content-type",
                                        "Transfer-Encoding",
                                        "Host",
                                        "Set-Cookie",
                                        "Authorization",
                                        "CACHE-CONTROL",
                                        "trailer",
                                        "a b",
                                        ""};
    struct fixture *f = trailing(GET_1_1, true);
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(names); i++) {
        const struct xs_field fields[] = {
            two_links[0], {xs_slice_str(names[i]), XS_LIT("1")}};

        assert_int_equal(
            xs_aside_trailers(&f->writer, &f->queue, fields, 2, false),
            XS_EINVALID);
    }
    assert_true(xs_aside_may_trail(XS_LIT("Server-Timing")));
    assert_true(xs_aside_may_trail(XS_LIT("grpc-status")));
    assert_string_equal(sent(f), CHUNKED);
    assert_int_equal(trailers(f, 0, false), 0);
    assert_string_equal(sent(f), CHUNKED "0\r\n\r\n");
    teardown(f);
}

static void aside_trailers_have_a_largest_size_together(void **state)
{
    static uint8_t value[XS_ASIDE_MAX / 2];
    const struct xs_field half = {XS_LIT("a"),
                                  xs_slice_of(value, sizeof value - 5)};
    struct fixture *f = trailing(GET_1_1, true);
    (void)state;

    memset(value, 'v', sizeof value);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            xs_aside_trailers(&f->writer, &f->queue, &half, 1, true), 0);
    }
    assert_int_equal(trailers(f, 1, true), XS_ELIMIT);
    assert_int_equal(trailers(f, 0, false), 0);
    teardown(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aside_hint_is_a_whole_103_before_the_head),
        cmocka_unit_test(
            aside_hint_without_fields_or_for_http_1_0_says_nothing),
        cmocka_unit_test(aside_hint_comes_too_late_once_the_head_is_begun),
        cmocka_unit_test(aside_hint_refuses_what_is_no_field),
        cmocka_unit_test(aside_hint_has_neither_framing_nor_a_connection),
        cmocka_unit_test(aside_hint_has_a_largest_size),
        cmocka_unit_test(aside_hint_is_not_said_in_part_without_memory),
        cmocka_unit_test(aside_trailers_leave_with_the_end_and_not_before),
        cmocka_unit_test(aside_trailers_go_only_where_they_are_taken),
        cmocka_unit_test(
            aside_trailers_refuse_what_a_client_has_to_know_before),
        cmocka_unit_test(aside_trailers_have_a_largest_size_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
