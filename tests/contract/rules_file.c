/* rules_file.c - sendfile: rule 16, and those of writev that hold for it.
 *
 * Each of them is tried with a file on a disk, with one that has just been
 * thrown out of memory, and with one on a file system in memory, of which
 * Linux does not say whether it would wait. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/contract/contract.h"

/* The lowest descriptors that a test may have. */
#define FDS 256

struct kind {
    const char *folder;
    bool is_cold;
};

static const struct kind kinds[] = {
    {"/tmp", false},
    {"/tmp", true},
    {"/dev/shm", false},
};

/* For the length of a rule. */
static const struct kind *kind;

/* Make it cold again, if it is to be. */
static void file_cool(int file)
{
    if (kind->is_cold) {
        (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    }
}

/* A file of `len` bytes of the pattern. */
static int file_open(size_t len)
{
    static uint8_t data[64 * 1024];
    char path[64];
    int file;

    (void)snprintf(path, sizeof path, "%s/xsgi-file-XXXXXX", kind->folder);
    file = mkstemp(path);
    if (file < 0) {
        (void)snprintf(path, sizeof path, "/tmp/xsgi-file-XXXXXX");
        file = mkstemp(path);
    }
    assert_true(file >= 0);
    assert_int_equal(unlink(path), 0);
    for (size_t at = 0; at < len; at += sizeof data) {
        size_t part = len - at < sizeof data ? len - at : sizeof data;
        pattern_fill(data, at, part);
        assert_int_equal(write(file, data, part), part);
    }
    assert_int_equal(fdatasync(file), 0);
    file_cool(file);
    return file;
}

/* What sendfile says when it does not say XS_EAGAIN any more; waits as one
 * has to. */
static int64_t file_send_some(struct pair *pair, int file, uint64_t at,
                              size_t len)
{
    for (;;) {
        int64_t n = pair->world->io->ops->sendfile(pair->conn, file, at, len);
        if (n != XS_EAGAIN) {
            return n;
        }
        pair_forget(pair);
        pair_want(pair, XS_IO_WRITE);
        pair_until(pair, XS_IO_WRITE);
        pair_want(pair, 0);
    }
}

static void a_range_arrives_in_order(struct world *world)
{
    const size_t len = world_bytes(world, (size_t)1500 * 1000);
    static uint8_t data[64 * 1024];
    struct pair pair;
    int file = file_open(len + 1000);
    size_t sent = 777;
    size_t got = 777;

    pair_open(&pair, world);
    while (got < len) {
        int64_t n;
        if (sent < len) {
            n = file_send_some(&pair, file, sent, len - sent);
            assert_true(n > 0);
            assert_true((size_t)n <= len - sent);
            sent += (size_t)n;
        }
        while (got < sent) {
            n = peer_recv_some(&pair, data, sizeof data);
            assert_true(n > 0);
            pattern_check(data, got, (size_t)n);
            got += (size_t)n;
        }
    }
    assert_int_equal(got, len);

    pair_close(&pair);
    (void)close(file);
}

static void a_file_keeps_its_place_between_bytes(struct world *world)
{
    struct pair pair;
    uint8_t data[5];
    int file = file_open(9);

    pair_open(&pair, world);
    pair_send(&pair, "a", 1);
    assert_int_equal(file_send_some(&pair, file, 7, 1), 1);
    pair_send(&pair, "b", 1);
    assert_int_equal(file_send_some(&pair, file, 3, 1), 1);
    pair_send(&pair, "c", 1);
    peer_recv(&pair, data, sizeof data);

    assert_int_equal(data[0], 'a');
    assert_int_equal(data[1], pattern_at(7));
    assert_int_equal(data[2], 'b');
    assert_int_equal(data[3], pattern_at(3));
    assert_int_equal(data[4], 'c');
    pair_close(&pair);
    (void)close(file);
}

static void sendfile_says_none_where_the_file_ends(struct world *world)
{
    struct pair pair;
    uint8_t data[300];
    int file = file_open(300);
    size_t sent = 0;

    pair_open(&pair, world);
    while (sent < 300) {
        int64_t n = file_send_some(&pair, file, sent, 100000 - sent);
        assert_true(n > 0);
        sent += (size_t)n;
    }
    assert_int_equal(sent, 300);
    assert_int_equal(file_send_some(&pair, file, 300, 1), 0);
    assert_int_equal(file_send_some(&pair, file, 100000, 50), 0);

    peer_recv(&pair, data, 300); /* and the connection lives on */
    pattern_check(data, 0, 300);
    pair_send(&pair, "x", 1);
    peer_recv(&pair, data, 1);
    assert_int_equal(data[0], 'x');
    pair_close(&pair);
    (void)close(file);
}

static void sendfile_says_that_a_file_cannot_be_read(struct world *world)
{
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct pair pair;
    uint8_t byte;

    assert_true(file >= 0);
    pair_open(&pair, world);
    assert_int_equal(file_send_some(&pair, file, 0, 10), XS_EIO);

    pair_send(&pair, "x", 1);
    peer_recv(&pair, &byte, 1);
    assert_int_equal(byte, 'x');
    pair_close(&pair);
    (void)close(file);
}

/* Send until nothing fits, which a fetch that has to come first is not; the
 * bytes taken. Where writev finds no room a page of a file may have some. */
static size_t file_fill(struct pair *pair, int file)
{
    size_t total = 0;
    unsigned refused = 0;

    while (refused < 5) {
        int64_t n = pair->world->io->ops->sendfile(pair->conn, file, 0, 100);
        if (n == XS_EAGAIN) {
            refused++;
            world_settle(pair->world);
            continue;
        }
        assert_true(n > 0);
        refused = 0;
        total += (size_t)n;
        assert_true(total < (size_t)1 << 30);
    }
    return total;
}

static void sendfile_waits_while_nothing_fits(struct world *world)
{
    static uint8_t data[64 * 1024];
    struct pair pair;
    int file = file_open(100);
    size_t filled;

    pair_open(&pair, world);
    filled = pair_fill(&pair);
    filled += file_fill(&pair, file);
    pair_want(&pair, XS_IO_WRITE);
    for (size_t got = 0; got < filled;) {
        int64_t n = peer_recv_some(&pair, data, sizeof data);
        assert_true(n > 0);
        got += (size_t)n;
    }
    pair_until(&pair, XS_IO_WRITE);
    pair_want(&pair, 0);

    assert_true(file_send_some(&pair, file, 0, 100) > 0);
    pair_close(&pair);
    (void)close(file);
}

/* Whoever fetches has a descriptor of its own: this one may be another file's
 * meanwhile. */
static void sendfile_needs_its_descriptor_no_more_when_it_returned(
    struct world *world)
{
    static uint8_t data[64 * 1024];
    const size_t len = world_bytes(world, 50000);
    struct pair pair;
    int first = file_open(len);
    int again = dup(first);
    int64_t n;
    size_t sent = 0;

    assert_true(again >= 0);
    pair_open(&pair, world);
    n = world->io->ops->sendfile(pair.conn, first, 0, len);
    assert_int_equal(dup2(STDERR_FILENO, first), first);
    (void)close(first);
    sent += n > 0 ? (size_t)n : 0;
    while (sent < len) {
        n = file_send_some(&pair, again, sent, len - sent);
        assert_true(n > 0);
        sent += (size_t)n;
    }
    peer_recv(&pair, data, len);

    pattern_check(data, 0, len);
    pair_close(&pair);
    (void)close(again);
}

static unsigned fds_open(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < FDS; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void a_connection_may_close_while_its_file_is_fetched(
    struct world *world)
{
    const size_t len = world_bytes(world, 50000);
    unsigned before = 0;

    for (unsigned i = 0; i < 20; i++) {
        struct pair pair;
        int file = file_open(len);

        pair_open(&pair, world);
        (void)world->io->ops->sendfile(pair.conn, file, 0, len);
        (void)close(file);
        pair_want(&pair, XS_IO_WRITE);
        pair_close(&pair);
        world_settle(world);
        if (i == 0) {
            before = fds_open();
        }
    }

    assert_int_equal(fds_open(), before);
}

static void sendfile_to_a_peer_that_is_gone_says_so_without_a_signal(
    struct world *world)
{
    struct pair pair;
    int file = file_open(100);
    int64_t n = 0;

    pair_open(&pair, world);
    pair_close_peer(&pair);
    for (int i = 0; i < 1000; i++) {
        n = world->io->ops->sendfile(pair.conn, file, 0, 100);
        if (n == XS_EPIPE || n == XS_ERESET) {
            break;
        }
        assert_true(n > 0 || n == XS_EAGAIN);
        world_run(world, XS_MS_NS);
    }
    assert_true(n == XS_EPIPE || n == XS_ERESET);
    n = world->io->ops->sendfile(pair.conn, file, 0, 100);

    assert_true(n == XS_EPIPE || n == XS_ERESET);
    pair_close(&pair);
    (void)close(file);
}

/* `NAME_of_any_file` is the rule NAME with each kind of file. */
#define OF_ANY_FILE(name)                                 \
    static void name##_of_any_file(struct world *world)   \
    {                                                     \
        for (size_t i = 0; i < XS_COUNT_OF(kinds); i++) { \
            kind = &kinds[i];                             \
            name(world);                                  \
        }                                                 \
    }

OF_ANY_FILE(a_range_arrives_in_order)
OF_ANY_FILE(a_file_keeps_its_place_between_bytes)
OF_ANY_FILE(sendfile_says_none_where_the_file_ends)
OF_ANY_FILE(sendfile_says_that_a_file_cannot_be_read)
OF_ANY_FILE(sendfile_waits_while_nothing_fits)
OF_ANY_FILE(sendfile_needs_its_descriptor_no_more_when_it_returned)
OF_ANY_FILE(a_connection_may_close_while_its_file_is_fetched)
OF_ANY_FILE(sendfile_to_a_peer_that_is_gone_says_so_without_a_signal)

const struct rule rules_file[] = {
    RULE(a_range_arrives_in_order_of_any_file),
    RULE(a_file_keeps_its_place_between_bytes_of_any_file),
    RULE(sendfile_says_none_where_the_file_ends_of_any_file),
    RULE(sendfile_says_that_a_file_cannot_be_read_of_any_file),
    RULE(sendfile_waits_while_nothing_fits_of_any_file),
    RULE(sendfile_needs_its_descriptor_no_more_when_it_returned_of_any_file),
    RULE(a_connection_may_close_while_its_file_is_fetched_of_any_file),
    RULE(sendfile_to_a_peer_that_is_gone_says_so_without_a_signal_of_any_file),
    {NULL, NULL},
};
