/* test_writer.c - core/http1/writer.c: bodies and framing, byte for byte. */

#include "core/http1/writer.h"

#include "tests/unit/writer_fixture.h"

static void writer_says_a_whole_response_in_one_run(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "Content-Type", "text/plain"), 0);
    assert_string_equal(sent(f), "");
    assert_int_equal(body_text(f, "hello", false), 0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\n"
                        "Content-Type: text/plain\r\n" COMMON
                        "content-length: 5\r\n"
                        "\r\n"
                        "hello");
    assert_int_equal(slice_count(f), 1);
    assert_int_equal(f->released, 1);
    assert_int_equal(f->writer.state, XS_WRITER_DONE);
    assert_int_equal(f->writer.framing, XS_FRAMING_LENGTH);
    assert_int_equal(f->writer.body_bytes, 5);
    assert_true(f->writer.keep_alive);
    teardown(f);
}

static void writer_says_an_empty_body_is_empty(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 404), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f), "HTTP/1.1 404 Not Found\r\n" COMMON
                                 "content-length: 0\r\n\r\n");
    teardown(f);
}

static void writer_chunks_what_comes_in_parts(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "0123456789abcdef", true), 0);
    assert_int_equal(body_text(f, "", true), 0);
    assert_int_equal(body_text(f, "x", true), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON
                                 "transfer-encoding: chunked\r\n\r\n"
                                 "10\r\n0123456789abcdef\r\n"
                                 "1\r\nx\r\n"
                                 "0\r\n\r\n");
    assert_int_equal(slice_count(f), 1);
    assert_int_equal(f->released, 4);
    assert_int_equal(f->writer.body_bytes, 17);
    teardown(f);
}

static void writer_puts_the_last_chunk_and_the_end_together(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", true), 0);
    xs_queue_consume(&f->queue, xs_queue_ready(&f->queue));
    assert_int_equal(body_text(f, "last", false), 0);

    assert_string_equal(sent(f), "4\r\nlast\r\n0\r\n\r\n");
    teardown(f);
}

static void writer_ends_http_1_0_with_the_connection(void **state)
{
    struct fixture *f = setup(GET_1_0_ALIVE);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "a", true), 0);
    assert_int_equal(body_text(f, "b", false), 0);

    assert_string_equal(
        sent(f), "HTTP/1.1 200 OK\r\n" COMMON "connection: close\r\n\r\nab");
    assert_false(f->writer.keep_alive);
    assert_int_equal(f->writer.framing, XS_FRAMING_CLOSE);
    teardown(f);
}

static void writer_honours_a_content_length(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "Content-Length", " 5 "), 0);
    assert_int_equal(body_text(f, "he", true), 0);
    assert_int_equal(body_text(f, "llo", true), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\n"
                        "Content-Length: 5\r\n" COMMON "\r\nhello");
    assert_int_equal(f->writer.framing, XS_FRAMING_LENGTH);
    teardown(f);
}

static void writer_refuses_a_body_that_is_not_as_long_as_promised(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "content-length", "5"), 0);
    assert_int_equal(body_text(f, "hello!", true), XS_ELENGTH);
    assert_int_equal(body_text(f, "hell", false), XS_ELENGTH);
    assert_string_equal(sent(f), "");
    assert_int_equal(f->released, 0);

    assert_int_equal(body_text(f, "hell", true), 0);
    xs_queue_consume(&f->queue, xs_queue_ready(&f->queue));
    assert_int_equal(body_text(f, "", false), XS_ELENGTH);
    assert_int_equal(body_text(f, "oo", true), XS_ELENGTH);
    assert_int_equal(f->released, 1);
    assert_string_equal(sent(f), "");

    assert_int_equal(body_text(f, "o", false), 0);
    assert_string_equal(sent(f), "o");
    teardown(f);
}

static void writer_understands_transfer_encoding_but_frames_itself(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "Transfer-Encoding", "Chunked"), 0);
    assert_int_equal(header(f, "Transfer-Encoding", "gzip, chunked"),
                     XS_EINVALID);
    assert_int_equal(body_text(f, "a", true), 0);

    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON
                                 "transfer-encoding: chunked\r\n\r\n"
                                 "1\r\na\r\n");
    teardown(f);
}

static void writer_answers_head_without_a_body(void **state)
{
    struct fixture *f = setup(HEAD_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "hello", false), 0);
    assert_string_equal(
        sent(f), "HTTP/1.1 200 OK\r\n" COMMON "content-length: 5\r\n\r\n");
    assert_int_equal(f->writer.body_bytes, 5);
    assert_int_equal(f->released, 1);
    teardown(f);

    f = setup(HEAD_1_1);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "content-length", "9"), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f),
                        "HTTP/1.1 200 OK\r\n"
                        "content-length: 9\r\n" COMMON "\r\n");
    teardown(f);

    f = setup(HEAD_1_1);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "he", true), 0);
    assert_int_equal(body_text(f, "llo", false), 0);
    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON "\r\n");
    assert_true(f->writer.keep_alive);
    teardown(f);

    f = setup(HEAD_1_1);
    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_text(f, "", false), 0);
    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON "\r\n");
    teardown(f);
}

static void writer_gives_204_neither_body_nor_framing(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 204), 0);
    assert_int_equal(header(f, "content-length", "5"), 0);
    assert_int_equal(header(f, "x-a", "b"), 0);
    assert_int_equal(body_text(f, "hello", true), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f),
                        "HTTP/1.1 204 No Content\r\n"
                        "x-a: b\r\n" COMMON "\r\n");
    assert_true(f->writer.keep_alive);
    assert_int_equal(f->released, 2);
    teardown(f);
}

static void writer_gives_205_no_body_and_says_so(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 205), 0);
    assert_int_equal(header(f, "content-length", "5"), 0);
    assert_int_equal(body_text(f, "hello", true), 0);
    assert_int_equal(body_text(f, "", false), 0);

    assert_string_equal(sent(f), "HTTP/1.1 205 Reset Content\r\n" COMMON
                                 "content-length: 0\r\n\r\n");
    assert_true(f->writer.keep_alive);
    teardown(f);
}

static void writer_gives_304_the_length_of_the_application(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 304), 0);
    assert_int_equal(header(f, "content-length", "5"), 0);
    assert_int_equal(body_text(f, "hello", false), 0);
    assert_string_equal(sent(f),
                        "HTTP/1.1 304 Not Modified\r\n"
                        "content-length: 5\r\n" COMMON "\r\n");
    teardown(f);

    f = setup(GET_1_1);
    assert_int_equal(start(f, 304), 0);
    assert_int_equal(body_text(f, "hello", false), 0);
    assert_string_equal(sent(f), "HTTP/1.1 304 Not Modified\r\n" COMMON "\r\n");
    teardown(f);
}

static void writer_lends_large_bodies_and_copies_others(void **state)
{
    struct fixture *f = setup(GET_1_1);
    struct xs_lent no_release = {.bytes = {big, sizeof big}};
    const size_t crlf_end = 2 + strlen("0\r\n\r\n");
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body(f, xs_slice_of(big, sizeof big), true), 0);
    assert_int_equal(slice_count(f), 3); /* head and size, data, CRLF */
    assert_int_equal(f->released, 0);
    assert_true(f->queue.own_cap < sizeof big); /* no room for it either */
    assert_int_equal(body(f, xs_slice_of(big, XS_TX_COPY_MAX), true), 0);
    assert_int_equal(slice_count(f), 3);
    assert_int_equal(f->released, 1);
    assert_int_equal(xs_writer_body(&f->writer, &f->queue, &no_release, true),
                     0);
    assert_int_equal(slice_count(f), 3);
    xs_queue_consume(&f->queue, xs_queue_ready(&f->queue));
    assert_int_equal(f->released, 2);

    assert_int_equal(body(f, xs_slice_of(big, sizeof big), false), 0);
    assert_memory_equal(sent(f), "4001\r\nBBB", 9);
    assert_string_equal(sent(f) + 6 + sizeof big, "\r\n0\r\n\r\n");
    xs_queue_consume(&f->queue, xs_queue_ready(&f->queue) - crlf_end);
    assert_int_equal(f->released, 3);
    teardown(f);
}

static int body_file(struct fixture *f, size_t len, bool more)
{
    struct xs_lent lent = {.bytes = {NULL, len},
                           .release = on_release,
                           .owner = &f->released,
                           .is_file = true,
                           .file = 3,
                           .offset = 5};
    int err = xs_writer_body(&f->writer, &f->queue, &lent, more);

    xs_queue_check(&f->queue);
    return err;
}

static void writer_lends_files_whatever_their_length(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_file(f, 1, false), 0);

    assert_string_equal(
        sent(f), "HTTP/1.1 200 OK\r\n" COMMON "content-length: 1\r\n\r\n");
    assert_int_equal(f->released, 0);
    xs_queue_consume(&f->queue, xs_queue_ready(&f->queue) - 1);
    assert_int_equal(xs_queue_file(&f->queue)->file, 3);
    assert_int_equal(xs_queue_file(&f->queue)->offset, 5);
    xs_queue_consume(&f->queue, 1);
    assert_int_equal(f->released, 1);
    teardown(f);
}

static void writer_puts_a_file_into_a_chunk(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(body_file(f, 0xabc, true), 0);
    assert_int_equal(body_text(f, "x", false), 0);

    assert_string_equal(sent(f), "HTTP/1.1 200 OK\r\n" COMMON
                                 "transfer-encoding: chunked\r\n\r\nabc\r\n");
    xs_queue_consume(&f->queue, strlen(sent(f)) + 0xabc);
    assert_string_equal(sent(f), "\r\n1\r\nx\r\n0\r\n\r\n");
    teardown(f);
}

static void writer_drops_a_file_that_is_not_to_be_sent(void **state)
{
    (void)state;

    for (unsigned status = 200; status <= 204; status += 4) {
        struct fixture *f = setup(status == 200 ? HEAD_1_1 : GET_1_1);

        assert_int_equal(start(f, status), 0);
        assert_int_equal(body_file(f, 1000, false), 0);

        assert_int_equal(f->released, 1);
        xs_queue_consume(&f->queue, strlen(sent(f)));
        assert_int_equal(f->queue.bytes, 0);
        teardown(f);
    }
}

static void writer_refuses_a_file_that_is_not_as_long_as_promised(void **state)
{
    struct fixture *f = setup(GET_1_1);
    (void)state;

    assert_int_equal(start(f, 200), 0);
    assert_int_equal(header(f, "content-length", "100"), 0);

    assert_int_equal(body_file(f, 101, true), XS_ELENGTH);
    assert_int_equal(body_file(f, 99, false), XS_ELENGTH);
    assert_int_equal(f->released, 0);
    assert_int_equal(body_file(f, 100, false), 0);
    teardown(f);
}

static void writer_without_memory_leaves_nothing_of_the_call(void **state)
{
    (void)state;

    for (unsigned left = 0; left < 8; left++) {
        struct fixture *f = setup(GET_1_1);
        size_t before;
        int err;

        f->mem.left = left;
        err = start(f, 200);
        for (unsigned i = 0; err == 0 && i < 40; i++) {
            before = f->queue.bytes;
            err = header(f, "a-long-name-of-a-field", "with-a-long-value");
            assert_true(err == 0 || f->queue.bytes == before);
        }
        for (unsigned i = 0; err == 0 && i < 10; i++) {
            before = f->queue.bytes;
            err = body(f, xs_slice_of(big, sizeof big), i < 9);
            assert_true(err == 0 || f->queue.bytes == before);
            assert_int_equal(f->released, 0);
        }
        assert_true(err == 0 || err == XS_ENOMEM);
        assert_true(err != 0 || left > 3);
        teardown(f);
        assert_true(err != 0 || f->released == 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writer_says_a_whole_response_in_one_run),
        cmocka_unit_test(writer_says_an_empty_body_is_empty),
        cmocka_unit_test(writer_chunks_what_comes_in_parts),
        cmocka_unit_test(writer_puts_the_last_chunk_and_the_end_together),
        cmocka_unit_test(writer_ends_http_1_0_with_the_connection),
        cmocka_unit_test(writer_honours_a_content_length),
        cmocka_unit_test(writer_refuses_a_body_that_is_not_as_long_as_promised),
        cmocka_unit_test(
            writer_understands_transfer_encoding_but_frames_itself),
        cmocka_unit_test(writer_answers_head_without_a_body),
        cmocka_unit_test(writer_gives_204_neither_body_nor_framing),
        cmocka_unit_test(writer_gives_205_no_body_and_says_so),
        cmocka_unit_test(writer_gives_304_the_length_of_the_application),
        cmocka_unit_test(writer_lends_large_bodies_and_copies_others),
        cmocka_unit_test(writer_lends_files_whatever_their_length),
        cmocka_unit_test(writer_puts_a_file_into_a_chunk),
        cmocka_unit_test(writer_drops_a_file_that_is_not_to_be_sent),
        cmocka_unit_test(writer_refuses_a_file_that_is_not_as_long_as_promised),
        cmocka_unit_test(writer_without_memory_leaves_nothing_of_the_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
