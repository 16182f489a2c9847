/* test_access_sink.c - access/sink.c: lines on their way. */

#define _POSIX_C_SOURCE 200809L

#include "access/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/format.h"
#include "tests/testlib.h"

struct pipe_sink {
    struct access_sink sink;
    int reader;
};

static void pipe_open(struct pipe_sink *pair)
{
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_true(access_sink_init(&pair->sink, fds[1]));
    pair->reader = fds[0];
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
}

static void pipe_close(struct pipe_sink *pair)
{
    if (pair->reader >= 0) {
        close(pair->reader);
    }
    close(pair->sink.fd);
    access_sink_fini(&pair->sink);
}

/* Line `number`, `len` bytes with its end. False if it is lost. */
static bool add_line(struct access_sink *sink, unsigned number, size_t len)
{
    char *out = access_sink_room(sink, len);

    if (out == NULL) {
        return false;
    }
    memset(out, '.', len);
    (void)snprintf(out, len, "%u", number);
    out[strlen(out)] = '.';
    out[len - 1] = '\n';
    access_sink_add(sink, len);
    return true;
}

/* Read all that is there, up to `max` bytes; count lines that are what
 * add_line made, from `*next` on. */
static size_t read_lines(struct pipe_sink *pair, unsigned *next, size_t max)
{
    static char line[ACCESS_LINE_MAX];
    static size_t len;
    size_t total = 0;

    while (total < max && read(pair->reader, line + len, 1) == 1) {
        total++;
        len++;
        if (line[len - 1] == '\n') {
            assert_int_equal(strtol(line, NULL, 10), *next);
            *next += 1;
            len = 0;
        }
    }
    return total;
}

static void sink_writes_lines_in_order_and_once(void **state)
{
    struct pipe_sink pair;
    unsigned next = 0;
    (void)state;

    pipe_open(&pair);
    for (unsigned i = 0; i < 500; i++) {
        assert_true(add_line(&pair.sink, i, 40 + i % 60));
        if (i % 7 == 0) {
            access_sink_flush(&pair.sink);
        }
    }
    access_sink_flush(&pair.sink);
    (void)read_lines(&pair, &next, SIZE_MAX);

    assert_int_equal(next, 500);
    assert_false(access_sink_waits(&pair.sink));
    assert_int_equal(pair.sink.lost, 0);
    pipe_close(&pair);
}

static void sink_keeps_lines_for_a_slow_reader(void **state)
{
    struct pipe_sink pair;
    unsigned next = 0;
    (void)state;

    pipe_open(&pair);
    for (unsigned i = 0; i < 5000; i++) {
        assert_true(add_line(&pair.sink, i, 100));
        access_sink_flush(&pair.sink);
    }
    assert_true(access_sink_waits(&pair.sink));
    while (access_sink_waits(&pair.sink)) {
        assert_true(read_lines(&pair, &next, 10007) > 0);
        access_sink_flush(&pair.sink);
    }
    (void)read_lines(&pair, &next, SIZE_MAX);

    assert_int_equal(next, 5000);
    assert_int_equal(pair.sink.lost, 0);
    pipe_close(&pair);
}

static void sink_counts_the_lines_for_which_it_has_no_room(void **state)
{
    struct pipe_sink pair;
    unsigned added = 0;
    unsigned next = 0;
    (void)state;

    pipe_open(&pair);
    while (add_line(&pair.sink, added, 1000)) {
        added++;
    }
    for (unsigned i = 0; i < 9; i++) {
        assert_false(add_line(&pair.sink, added, 1000));
    }
    assert_int_equal(pair.sink.lost, 10);
    while (access_sink_waits(&pair.sink)) {
        (void)read_lines(&pair, &next, SIZE_MAX);
        access_sink_flush(&pair.sink);
    }
    assert_true(add_line(&pair.sink, added, 1000));
    access_sink_flush(&pair.sink);
    (void)read_lines(&pair, &next, SIZE_MAX);

    assert_int_equal(next, added + 1);
    pipe_close(&pair);
}

static void sink_writes_pieces_that_end_with_a_line(void **state)
{
    struct pipe_sink pair;
    unsigned next = 0;
    (void)state;

    pipe_open(&pair);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(add_line(&pair.sink, i, 300));
    }
    access_sink_flush(&pair.sink);

    /* The pipe is full: what it has of ours is whole lines. */
    assert_true(access_sink_waits(&pair.sink));
    assert_true(read_lines(&pair, &next, SIZE_MAX) % 300 == 0);
    assert_false(pair.sink.inside);
    pipe_close(&pair);
}

static void sink_writes_a_line_that_is_longer_than_a_piece(void **state)
{
    struct pipe_sink pair;
    unsigned next = 0;
    (void)state;

    pipe_open(&pair);
    assert_true(add_line(&pair.sink, 0, ACCESS_LINE_MAX));
    assert_true(add_line(&pair.sink, 1, 50));
    while (access_sink_waits(&pair.sink)) {
        access_sink_flush(&pair.sink);
        (void)read_lines(&pair, &next, SIZE_MAX);
    }

    assert_int_equal(next, 2);
    pipe_close(&pair);
}

static void sink_drain_gives_up_a_reader_that_does_not_read(void **state)
{
    struct pipe_sink pair;
    (void)state;

    pipe_open(&pair);
    for (unsigned i = 0; i < 2000; i++) {
        assert_true(add_line(&pair.sink, i, 100));
    }
    access_sink_drain(&pair.sink, 1);

    assert_false(access_sink_waits(&pair.sink));
    assert_true(pair.sink.lost > 0);
    assert_true(pair.sink.lost < 2000);
    pipe_close(&pair);
}

static void sink_loses_and_counts_what_nobody_can_read(void **state)
{
    struct pipe_sink pair;
    (void)state;

    (void)signal(SIGPIPE, SIG_IGN);
    pipe_open(&pair);
    close(pair.reader);
    pair.reader = -1;
    assert_true(add_line(&pair.sink, 0, 50));
    assert_true(add_line(&pair.sink, 1, 50));
    access_sink_flush(&pair.sink);

    assert_int_equal(pair.sink.lost, 2);
    assert_int_equal(pair.sink.error, EPIPE);
    assert_false(access_sink_waits(&pair.sink));
    pipe_close(&pair);
}

static void sink_begins_a_line_of_its_own_behind_half_a_line(void **state)
{
    struct pipe_sink pair;
    char text[ACCESS_LINE_MAX];
    ssize_t len = 0;
    (void)state;

    pipe_open(&pair);
    assert_true(add_line(&pair.sink, 0, ACCESS_LINE_MAX));
    access_sink_drain(&pair.sink, 1);
    assert_int_equal(pair.sink.lost, 1);
    while (len == 0 || text[len - 1] == '.') {
        len = read(pair.reader, text, sizeof text);
        if (len < 0) {
            break;
        }
    }
    assert_true(add_line(&pair.sink, 1, 20));
    access_sink_flush(&pair.sink);
    len = read(pair.reader, text, sizeof text);

    assert_int_equal(len, 21);
    assert_memory_equal(text, "\n1..................\n", 21);
    pipe_close(&pair);
}

/* A file that has room for `bytes`, like a disk that is nearly full. */
static void file_limit(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void sink_begins_a_line_of_its_own_when_a_full_file_has_room(
    void **state)
{
    static const char expected[] = "0........\n1....\n5........\n";
    char name[] = "/tmp/xsgi-access-XXXXXX";
    int fd = mkstemp(name);
    struct access_sink sink;
    char text[100];
    (void)state;

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_true(fd >= 0);
    unlink(name);
    assert_true(access_sink_init(&sink, fd));
    file_limit(15);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(add_line(&sink, i, 10));
        access_sink_flush(&sink);
    }
    file_limit(RLIM_INFINITY);
    assert_true(add_line(&sink, 5, 10));
    access_sink_flush(&sink);

    assert_int_equal(sink.lost, 4);
    assert_int_equal(sink.error, EFBIG);
    assert_int_equal(pread(fd, text, sizeof text, 0), sizeof expected - 1);
    assert_memory_equal(text, expected, sizeof expected - 1);
    access_sink_fini(&sink);
    close(fd);
}

static void sink_writes_to_a_file_in_one_go(void **state)
{
    char name[] = "/tmp/xsgi-access-XXXXXX";
    int fd = mkstemp(name);
    struct access_sink sink;
    struct stat status;
    (void)state;

    assert_true(fd >= 0);
    unlink(name);
    assert_true(access_sink_init(&sink, fd));
    for (unsigned i = 0; i < 9000; i++) {
        assert_true(add_line(&sink, i, 100));
    }
    access_sink_flush(&sink);

    assert_false(access_sink_waits(&sink));
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, 900000);
    access_sink_fini(&sink);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sink_writes_lines_in_order_and_once),
        cmocka_unit_test(sink_keeps_lines_for_a_slow_reader),
        cmocka_unit_test(sink_counts_the_lines_for_which_it_has_no_room),
        cmocka_unit_test(sink_writes_pieces_that_end_with_a_line),
        cmocka_unit_test(sink_writes_a_line_that_is_longer_than_a_piece),
        cmocka_unit_test(sink_drain_gives_up_a_reader_that_does_not_read),
        cmocka_unit_test(sink_loses_and_counts_what_nobody_can_read),
        cmocka_unit_test(sink_begins_a_line_of_its_own_behind_half_a_line),
        cmocka_unit_test(
            sink_begins_a_line_of_its_own_when_a_full_file_has_room),
        cmocka_unit_test(sink_writes_to_a_file_in_one_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
