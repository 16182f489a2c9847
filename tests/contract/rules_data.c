/* rules_data.c - recv, writev and what arrives: rules 3, 4, 13, 14 and 15. */

#include <string.h>

#include "tests/contract/contract.h"

static void recv_leaves_its_buffer_alone_after_it_returned(struct world *world)
{
    struct pair pair;
    uint8_t data[16];
    uint8_t still[16];

    pair_open(&pair, world);
    peer_send(&pair, "one", 3);
    pair_recv(&pair, data, 3);
    memset(data, 0xee, sizeof data);
    memset(still, 0xee, sizeof still);
    pair_want(&pair, XS_IO_READ);
    peer_send(&pair, "two", 3);
    pair_until(&pair, XS_IO_READ);

    assert_memory_equal(data, still, sizeof data);
    pair_close(&pair);
}

static void writev_needs_its_bytes_no_more_when_it_returned(struct world *world)
{
    uint8_t data[4096];
    struct xs_slice bytes;
    struct pair pair;
    int64_t n;

    pair_open(&pair, world);
    pattern_fill(data, 0, sizeof data);
    bytes = xs_slice_of(data, sizeof data);
    do {
        n = world->io->ops->writev(pair.conn, &bytes, 1);
        world_run(world, 0);
    } while (n == XS_EAGAIN);
    assert_true(n > 0);
    memset(data, 0, sizeof data);
    peer_recv(&pair, data, (size_t)n);

    pattern_check(data, 0, (size_t)n);
    pair_close(&pair);
}

static void recv_says_again_when_nothing_is_there(struct world *world)
{
    struct pair pair;
    uint8_t data[4];

    pair_open(&pair, world);

    assert_int_equal(world->io->ops->recv(pair.conn, data, sizeof data),
                     XS_EAGAIN);
    pair_close(&pair);
}

static void recv_gives_no_more_than_was_asked_for(struct world *world)
{
    struct pair pair;
    uint8_t data[64];
    size_t got = 0;

    pair_open(&pair, world);
    pattern_fill(data, 0, sizeof data);
    peer_send(&pair, data, sizeof data);
    while (got < sizeof data) {
        uint8_t out[8];
        int64_t n;
        memset(out, 0xee, sizeof out);
        n = pair_recv_some(&pair, out, 5);
        assert_true(n > 0);
        assert_true(n <= 5);
        assert_int_equal(out[5], 0xee);
        pattern_check(out, got, (size_t)n);
        got += (size_t)n;
    }

    assert_int_equal(world->io->ops->recv(pair.conn, data, sizeof data),
                     XS_EAGAIN);
    pair_close(&pair);
}

static void recv_gives_none_only_at_the_end(struct world *world)
{
    struct pair pair;
    uint8_t data[8];

    pair_open(&pair, world);
    peer_send(&pair, "abc", 3);
    world->outside->shutdown(pair.peer);

    pair_recv(&pair, data, 3);
    assert_int_equal(pair_recv_some(&pair, data, sizeof data), 0);
    pair_close(&pair);
}

static void writev_takes_a_prefix_until_nothing_fits(struct world *world)
{
    static uint8_t data[64 * 1024];
    struct pair pair;
    size_t total;
    size_t got = 0;

    pair_open(&pair, world);
    total = pair_fill(&pair);
    assert_true(total > 0);
    pair_close_conn(&pair, false);
    for (;;) {
        int64_t n = peer_recv_some(&pair, data, sizeof data);
        assert_true(n >= 0);
        if (n == 0) {
            break;
        }
        pattern_check(data, got, (size_t)n);
        got += (size_t)n;
    }

    assert_int_equal(got, total);
    pair_close(&pair);
}

/* Slices of all lengths, as many as are allowed. */
static void writev_takes_many_slices_in_their_order(struct world *world)
{
    static uint8_t data[XS_IO_SLICES * XS_IO_SLICES];
    struct xs_slice slices[XS_IO_SLICES];
    struct pair pair;
    size_t len = 0;
    int64_t n;

    pair_open(&pair, world);
    pattern_fill(data, 0, sizeof data);
    for (unsigned i = 0; i < XS_IO_SLICES; i++) {
        slices[i] = xs_slice_of(data + len, i + 1);
        len += i + 1;
    }
    do {
        n = world->io->ops->writev(pair.conn, slices, XS_IO_SLICES);
        world_run(world, 0);
    } while (n == XS_EAGAIN);
    assert_true(n > 0);
    assert_true((size_t)n <= len);
    pair_send(&pair, data + n, len - (size_t)n);
    memset(data, 0, sizeof data);
    peer_recv(&pair, data, len);

    pattern_check(data, 0, len);
    pair_close(&pair);
}

/* Both directions at once, much more than any buffer, in odd pieces. */
static void a_lot_of_bytes_arrives_in_order_both_ways(struct world *world)
{
    const size_t total = world_bytes(world, (size_t)1024 * 1024);
    static uint8_t data[50021];
    const struct xs_io_ops *ops = world->io->ops;
    const struct outside *outside = world->outside;
    size_t sent[2] = {0, 0};
    size_t got[2] = {0, 0};
    unsigned turns = 0;
    struct pair pair;

    pair_open(&pair, world);
    while (got[0] < total || got[1] < total) {
        size_t len = 1 + (sent[0] * 7 + turns * 13) % sizeof data;
        struct xs_slice bytes;
        int64_t n;

        if (sent[0] < total) {
            len = len < total - sent[0] ? len : total - sent[0];
            pattern_fill(data, sent[0], len);
            bytes = xs_slice_of(data, len);
            n = ops->writev(pair.conn, &bytes, 1);
            assert_true(n > 0 || n == XS_EAGAIN);
            sent[0] += n > 0 ? (size_t)n : 0;
        }
        if (sent[1] < total) {
            len = 1 + (sent[1] * 3 + turns * 17) % sizeof data;
            len = len < total - sent[1] ? len : total - sent[1];
            pattern_fill(data, sent[1], len);
            n = outside->write(pair.peer, data, len);
            assert_true(n > 0 || n == XS_EAGAIN);
            sent[1] += n > 0 ? (size_t)n : 0;
        }
        n = outside->read(pair.peer, data, 1 + turns * 101 % sizeof data);
        assert_true(n > 0 || n == XS_EAGAIN);
        if (n > 0) {
            pattern_check(data, got[0], (size_t)n);
            got[0] += (size_t)n;
        }
        n = ops->recv(pair.conn, data, 1 + turns * 89 % sizeof data);
        assert_true(n > 0 || n == XS_EAGAIN);
        if (n > 0) {
            pattern_check(data, got[1], (size_t)n);
            got[1] += (size_t)n;
        }
        world_run(world, outside->is_virtual ? XS_MS_NS : 0);
        assert_true(turns++ < 1000000);
    }

    assert_int_equal(got[0], total);
    assert_int_equal(got[1], total);
    pair_close(&pair);
}

static void our_end_of_the_stream_reaches_the_peer(struct world *world)
{
    struct pair pair;
    uint8_t data[8];

    pair_open(&pair, world);
    pair_send(&pair, "bye", 3);
    assert_int_equal(world->io->ops->shutdown_wr(pair.conn), 0);
    peer_recv(&pair, data, 3);
    assert_memory_equal(data, "bye", 3);
    assert_int_equal(peer_recv_some(&pair, data, sizeof data), 0);

    peer_send(&pair, "still", 5);
    pair_recv(&pair, data, 5);
    assert_memory_equal(data, "still", 5);
    pair_close(&pair);
}

/* The default action of SIGPIPE would end this test. */
static void writing_to_a_peer_that_is_gone_says_so_without_a_signal(
    struct world *world)
{
    struct xs_slice bytes = XS_LIT("hello");
    struct pair pair;
    int64_t n = 0;

    pair_open(&pair, world);
    pair_close_peer(&pair);
    for (int i = 0; i < 1000; i++) {
        n = world->io->ops->writev(pair.conn, &bytes, 1);
        if (n == XS_EPIPE || n == XS_ERESET) {
            break;
        }
        world_run(world, XS_MS_NS);
    }
    assert_true(n == XS_EPIPE || n == XS_ERESET);
    n = world->io->ops->writev(pair.conn, &bytes, 1);

    assert_true(n == XS_EPIPE || n == XS_ERESET);
    pair_close(&pair);
}

/* The peer's last words may be lost with a reset, but nothing is made up. */
static void bytes_before_a_reset_are_given_in_order_or_not_at_all(
    struct world *world)
{
    static uint8_t data[8192];
    const size_t sent = world_bytes(world, sizeof data);
    struct xs_slice bytes = XS_LIT("hello");
    struct pair pair;
    size_t got = 0;
    int64_t n;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_READ | XS_IO_HANGUP);
    pattern_fill(data, 0, sent);
    peer_send(&pair, data, sent);
    world->outside->reset(pair.peer);
    pair_until(&pair, XS_IO_READ | XS_IO_HANGUP);
    world_settle(world);
    (void)world->io->ops->writev(pair.conn, &bytes, 1);
    for (;;) {
        n = pair_recv_some(&pair, data, 1000);
        if (n <= 0) {
            break;
        }
        pattern_check(data, got, (size_t)n);
        got += (size_t)n;
    }

    /* The error may have been told to the writev. */
    assert_true(n == XS_ERESET || n == 0);
    assert_true(world->io->ops->recv(pair.conn, data, 1000) <= 0);
    pair_close(&pair);
}

static void unacked_is_none_when_the_peer_has_read_all(struct world *world)
{
    struct pair pair;
    uint8_t data[1000] = {0};
    int64_t n;

    pair_open(&pair, world);
    n = world->io->ops->unacked(pair.conn);
    assert_true(n == 0 || n == XS_EUNKNOWN);
    pair_send(&pair, data, sizeof data);
    peer_recv(&pair, data, sizeof data);
    for (int i = 0; i < 1000; i++) {
        n = world->io->ops->unacked(pair.conn);
        if (n == 0) {
            break;
        }
        world_run(world, XS_MS_NS);
    }

    assert_true(n == 0 || n == XS_EUNKNOWN);
    pair_close(&pair);
}

static void unacked_shows_what_a_peer_does_not_take(struct world *world)
{
    struct pair pair;
    int64_t n;

    pair_open(&pair, world);
    (void)pair_fill(&pair);
    n = world->io->ops->unacked(pair.conn);

    assert_true(n > 0 || n == XS_EUNKNOWN);
    pair_close(&pair);
}

static void random_bytes_differ(struct world *world)
{
    uint8_t a[32] = {0};
    uint8_t b[32] = {0};

    world->io->ops->random(world->io, a, sizeof a);
    world->io->ops->random(world->io, b, sizeof b);

    assert_memory_not_equal(a, b, sizeof a);
}

const struct rule rules_data[] = {
    RULE(recv_leaves_its_buffer_alone_after_it_returned),
    RULE(writev_needs_its_bytes_no_more_when_it_returned),
    RULE(recv_says_again_when_nothing_is_there),
    RULE(recv_gives_no_more_than_was_asked_for),
    RULE(recv_gives_none_only_at_the_end),
    RULE(writev_takes_a_prefix_until_nothing_fits),
    RULE(writev_takes_many_slices_in_their_order),
    RULE(a_lot_of_bytes_arrives_in_order_both_ways),
    RULE(our_end_of_the_stream_reaches_the_peer),
    RULE(writing_to_a_peer_that_is_gone_says_so_without_a_signal),
    RULE(bytes_before_a_reset_are_given_in_order_or_not_at_all),
    RULE(unacked_is_none_when_the_peer_has_read_all),
    RULE(unacked_shows_what_a_peer_does_not_take),
    RULE(random_bytes_differ),
    {NULL, NULL},
};
