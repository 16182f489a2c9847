/* test_writer_head.c - core/http1/writer.c: heads, and whole refusals. */

#include "core/http1/writer.h"

#include "tests/unit/writer_fixture.h"

static void writer_says_how_the_connection_goes_on(void **state)
{
    struct fixture *f = setup(GET_1_0_ALIVE);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON
                                 "content-length: 0\r\n"
                                 "connection: keep-alive\r\n\r\n");
    assert_true(f->writer.keep_alive);
    teardown(f);

    f = setup(GET_1_0);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON
                                 "content-length: 0\r\n"
                                 "connection: close\r\n\r\n");
    teardown(f);
}

static void writer_understands_connection_of_the_application(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "Connection", "Close"), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON
                                 "content-length: 0\r\n"
                                 "connection: close\r\n\r\n");
    assert_false(f->writer.keep_alive);
    teardown(f);

    f = setup(GET_1_1);
    assert_int_equal(start(f, 426), 0);
    assert_int_equal(header(f, "connection", "keep-alive"), 0);
    assert_int_equal(header(f, "connection", "upgrade"), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f),
                        "HTTP/1.1 426 Upgrade Required\r\n"
                        "connection: upgrade\r\n" COMMON
                        "content-length: 0\r\n\r\n");
    assert_true(f->writer.keep_alive);
    teardown(f);
}

static void writer_refuses_a_second_or_malformed_content_length(void **state)
{
    static const char *const bad[] = {"",   "x",   "-1",
                                      "+1", "1,1", "18446744073709551616"};
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    for (size_t i = 0; i < XS_COUNT_OF(bad); i++) {
        assert_int_equal(header(f, "content-length", bad[i]), XS_EINVALID);
    }
    assert_int_equal(header(f, "content-length", "0"), 0);
    assert_int_equal(header(f, "Content-Length", "0"), XS_EINVALID);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\n"
                        "content-length: 0\r\n" COMMON "\r\n");
    teardown(f);
}

static void writer_leaves_out_what_the_application_says_itself(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "DATE", "today"), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\nDATE: today\r\n"
                        "server: xsgi\r\n"
                        "content-length: 0\r\n\r\n");
    teardown(f);

    f = setup(GET_1_1);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "Server", "mine"), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\nServer: mine\r\n"
                        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                        "content-length: 0\r\n\r\n");
    teardown(f);

    f = setup(GET_1_1);
    xs_writer_begin(&f->writer, 1, false, true, XS_LIT("server: x\r\n"));
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(
        sent(f), "HTTP/1.1 200 OK\r\nserver: x\r\ncontent-length: 0\r\n\r\n");
    teardown(f);
}

static void writer_sends_the_first_date_and_server_only(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "date", "today"), 0);
    assert_int_equal(header(f, "Server", "mine"), 0);
    assert_int_equal(header(f, "Date", "tomorrow"), 0);
    assert_int_equal(header(f, "server", "yours"), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\ndate: today\r\n"
                        "Server: mine\r\ncontent-length: 0\r\n\r\n");
    teardown(f);
}

static void writer_says_when_to_try_again(void **state)
{
    struct fixture *f = setup(HEAD_1_1);
    (void)state;

    assert_int_equal(xs_writer_refuse(&f->writer, &f->queue, XS_REFUSE_BUSY),
                     0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 503 Service Unavailable\r\n"
                        "content-type: text/plain; charset=utf-8\r\n"
                        "retry-after: 1\r\n" COMMON
                        "content-length: 36\r\n\r\n");
    teardown(f);
}

static void writer_takes_a_reason_and_unknown_codes(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(
        xs_writer_start(&f->writer, &f->queue, 200, XS_LIT("Fine \xe4")), 0);
    assert_int_equal(body_text(f, "", true), 0);
    assert_memory_equal(sent(f), "HTTP/1.1 200 Fine \xe4\r\n", 20);
    teardown(f);

    f = setup(GET_1_1);
    assert_int_equal(start(f, 999), 0);
    assert_int_equal(body_text(f, "", true), 0);
    assert_memory_equal(sent(f), "HTTP/1.1 999 \r\n", 15);
    teardown(f);
}

static void writer_refuses_what_would_break_the_head(void **state)
{
    static const char *const names[] = {"", "a b", "a:", "a\r", "\xe4"};
    static const char *const values[] = {"a\nb", "a\r", "\n",
                                         "0123456789abcde\r0", "01234567\n"};
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 199), XS_EINVALID);
    assert_int_equal(start(f, 1000), XS_EINVALID);
    assert_int_equal(
        xs_writer_start(&f->writer, &f->queue, 200, XS_LIT("a\nb")),
        XS_EINVALID);
    assert_int_equal(header(f, "a", "b"), XS_ESTATE);
    assert_int_equal(body_text(f, "", false), XS_ESTATE);
    assert_int_equal(start(f, 200), 0);
    for (size_t i = 0; i < XS_COUNT_OF(names); i++) {
        assert_int_equal(header(f, names[i], "b"), XS_EINVALID);
    }
    for (size_t i = 0; i < XS_COUNT_OF(values); i++) {
        assert_int_equal(header(f, "a", values[i]), XS_EINVALID);
    }
    assert_int_equal(xs_writer_header(&f->writer, &f->queue, XS_LIT("a"),
                                      XS_LIT("0123456\0")),
                     XS_EINVALID);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(
        sent(f), "HTTP/1.1 200 OK\r\n" COMMON "content-length: 0\r\n\r\n");
    assert_int_equal(start(f, 200), XS_ESTATE);
    assert_int_equal(header(f, "a", "b"), XS_ESTATE);
    assert_int_equal(body_text(f, "", false), XS_ESTATE);
    teardown(f);
}

static void writer_start_again_drops_the_head_before(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(xs_queue_copy(&f->queue, XS_LIT("before|")), 0);
    assert_int_equal(start(f, 204), 0);
    assert_int_equal(header(f, "connection", "close"), 0);
    assert_int_equal(header(f, "date", "x"), 0);
    assert_int_equal(header(f, "content-length", "7"), 0);
    assert_int_equal(start(f, 500), 0);
    assert_int_equal(body_text(f, "oh", false), 0);

    assert_string_equal(sent(f),
                        "before|HTTP/1.1 500 Internal Server Error"
                        "\r\n" COMMON "content-length: 2\r\n\r\noh");
    assert_true(f->writer.keep_alive);
    teardown(f);
}

static void writer_refuses_with_a_text(void **state)
{
    struct fixture *f = setup((struct request){1, false, false});
    (void)state;

    assert_int_equal(
        xs_writer_refuse(&f->writer, &f->queue, XS_REFUSE_LINE_SIZE), 0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 414 URI Too Long\r\n"
                        "content-type: text/plain; charset=utf-8"
                        "\r\n" COMMON
                        "content-length: 29\r\n"
                        "connection: close\r\n\r\n"
                        "The request line is too long.");
    assert_int_equal(f->writer.state, XS_WRITER_DONE);
    teardown(f);
}

static void writer_refuses_in_place_of_a_head_that_is_held(void **state)
{
    struct fixture *f = setup(HEAD_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "x-secret", "1"), 0);
    assert_int_equal(xs_writer_refuse(&f->writer, &f->queue, XS_REFUSE_FAILED),
                     0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 500 Internal Server Error\r\n"
                        "content-type: text/plain; charset=utf-8"
                        "\r\n" COMMON "content-length: 21\r\n\r\n");
    teardown(f);
}

/* However far it comes: what is before it in the queue decides. */
static void writer_refuse_without_memory_leaves_nothing(void **state)
{
    static uint8_t before[1024];
    unsigned refused = 0;
    (void)state;

    for (size_t len = 0; len <= sizeof before; len += 8) {
        struct fixture *f = setup(GET_1_1);
        int err;

        assert_int_equal(xs_queue_copy(&f->queue, xs_slice_of(before, len)), 0);
        f->mem.left = 0;
        err = xs_writer_refuse(&f->writer, &f->queue, XS_REFUSE_HOST);
        if (err != 0) {
            refused++;
            assert_int_equal(err, XS_ENOMEM);
            xs_queue_check(&f->queue);
            assert_int_equal(f->queue.bytes, len);
            assert_int_equal(f->writer.state, XS_WRITER_IDLE);
            f->mem.left = TEST_MEM_ENOUGH;
            assert_int_equal(
                xs_writer_refuse(&f->writer, &f->queue, XS_REFUSE_HOST), 0);
        }
        assert_memory_equal(sent(f) + len, "HTTP/1.1 400 ", 13);
        teardown(f);
    }
    assert_true(refused >= 40);
    assert_true(refused <= 128);
}

static void writer_continues(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(xs_writer_continue(&f->queue), 0);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_memory_equal(sent(f),
                        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", 42);
    teardown(f);
    f->mem.left = 0;
    assert_int_equal(xs_writer_continue(&f->queue), XS_ENOMEM);
}

static void writer_common_has_date_and_server(void **state)
{
    char out[XS_COMMON_MAX];
    char name[XS_SERVER_NAME_MAX + 1];
    size_t len;
    size_t with_name;
    (void)state;

    len = xs_writer_common(out, NOW_NS, XS_LIT("xsgi"));
    assert_slice_is(xs_slice_of(out, len), COMMON);

    len = xs_writer_common(out, NOW_NS, NONE);
    assert_slice_is(xs_slice_of(out, len),
                    "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    memset(name, 'n', sizeof name);
    assert_int_equal(
        xs_writer_common(out, NOW_NS, xs_slice_of(name, sizeof name)), len);
    with_name =
        xs_writer_common(out, NOW_NS, xs_slice_of(name, sizeof name - 1));
    assert_true(with_name > len);
    assert_true(with_name <= sizeof out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writer_says_how_the_connection_goes_on),
        cmocka_unit_test(writer_understands_connection_of_the_application),
        cmocka_unit_test(writer_refuses_a_second_or_malformed_content_length),
        cmocka_unit_test(writer_leaves_out_what_the_application_says_itself),
        cmocka_unit_test(writer_sends_the_first_date_and_server_only),
        cmocka_unit_test(writer_says_when_to_try_again),
        cmocka_unit_test(writer_takes_a_reason_and_unknown_codes),
        cmocka_unit_test(writer_refuses_what_would_break_the_head),
        cmocka_unit_test(writer_start_again_drops_the_head_before),
        cmocka_unit_test(writer_refuses_with_a_text),
        cmocka_unit_test(writer_refuses_in_place_of_a_head_that_is_held),
        cmocka_unit_test(writer_refuse_without_memory_leaves_nothing),
        cmocka_unit_test(writer_continues),
        cmocka_unit_test(writer_common_has_date_and_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
