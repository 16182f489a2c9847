/* rules_close.c - close and unlisten end it: rules 5 and 11 of io.h. */

#include "tests/contract/contract.h"

static void close_hands_over_what_was_written(struct world *world)
{
    static uint8_t data[64 * 1024];
    struct pair pair;
    size_t total;
    size_t got = 0;

    pair_open(&pair, world);
    total = pair_fill(&pair);
    pair_close_conn(&pair, false);
    while (got < total) {
        int64_t n = peer_recv_some(&pair, data, sizeof data);
        assert_true(n > 0);
        pattern_check(data, got, (size_t)n);
        got += (size_t)n;
    }

    assert_int_equal(peer_recv_some(&pair, data, sizeof data), 0);
    pair_close(&pair);
}

static void close_with_abort_resets(struct world *world)
{
    struct pair pair;
    uint8_t byte;
    int64_t n;

    pair_open(&pair, world);
    pair_close_conn(&pair, true);
    n = peer_recv_some(&pair, &byte, 1);

    assert_true(n == XS_ERESET || (n == 0 && world->outside->is_unix));
    pair_close(&pair);
}

static void close_may_follow_shutdown(struct world *world)
{
    struct pair pair;
    uint8_t byte;

    pair_open(&pair, world);
    pair_send(&pair, "x", 1);
    assert_int_equal(world->io->ops->shutdown_wr(pair.conn), 0);
    pair_close_conn(&pair, false);
    peer_recv(&pair, &byte, 1);

    assert_int_equal(peer_recv_some(&pair, &byte, 1), 0);
    pair_close(&pair);
}

static void close_of_a_dead_connection_is_fine(struct world *world)
{
    struct pair pair;

    for (int abort = 0; abort < 2; abort++) {
        pair_open(&pair, world);
        pair_want(&pair, XS_IO_HANGUP);
        world->outside->reset(pair.peer);
        pair_until(&pair, XS_IO_HANGUP);
        pair_close_conn(&pair, abort != 0);
        world_settle(world);
        pair_close(&pair);
    }
}

static void close_right_after_want_is_fine(struct world *world)
{
    struct pair pair;

    for (int i = 0; i < 3; i++) {
        pair_open(&pair, world);
        pair_want(&pair, XS_IO_READ);
        world_run(world, 0);
        pair_want(&pair, XS_IO_READ | XS_IO_WRITE);
        pair_close_conn(&pair, false);
        world_settle(world);
        assert_int_equal(pair.calls, 0);
        pair_close(&pair);
    }
}

static void close_now(struct pair *pair, unsigned events)
{
    (void)events;
    pair_close_conn(pair, false);
}

static void close_inside_on_ready_is_the_last_word(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair.act = close_now;
    pair_want(&pair, XS_IO_READ | XS_IO_WRITE);
    peer_send(&pair, "x", 1);
    pair_until(&pair, XS_IO_READ | XS_IO_WRITE);
    world_settle(world);

    assert_int_equal(pair.calls, 1);
    pair_close(&pair);
}

static void close_other(struct pair *pair, unsigned events)
{
    struct pair *other = pair->user;

    (void)events;
    pair->act = NULL;
    other->act = NULL;
    pair_close_conn(other, true);
}

/* Both are ready in the same turn; whoever comes first closes the other. */
static void close_of_another_ready_connection_silences_it(struct world *world)
{
    struct pair a;
    struct pair b;
    unsigned calls;

    pair_open(&a, world);
    pair_open(&b, world);
    peer_send(&a, "x", 1);
    peer_send(&b, "x", 1);
    pair_want(&a, XS_IO_READ);
    pair_want(&b, XS_IO_READ);
    pair_until(&a, XS_IO_READ);
    pair_until(&b, XS_IO_READ);
    pair_forget(&a);
    pair_forget(&b);
    a.user = &b;
    b.user = &a;
    a.act = close_other;
    b.act = close_other;
    while (a.conn != NULL && b.conn != NULL) {
        world_run(world, XS_MS_NS);
    }
    calls = a.conn == NULL ? a.calls : b.calls;
    world_settle(world);

    assert_int_equal(a.conn == NULL ? a.calls : b.calls, calls);
    assert_true(a.calls + b.calls >= 1);
    pair_close(&a);
    pair_close(&b);
}

static void close_and_open(struct pair *pair, unsigned events)
{
    struct pair *other = pair->user;
    struct world *world = pair->world;
    struct xs_io_conn *conn = NULL;

    (void)events;
    pair->act = NULL;
    pair_close_conn(other, true);
    if (world->io->ops->accept(world->listener, &conn) == 0) {
        /* It may have the descriptor of the one that was ready. */
        conn->on_ready = NULL;
        world->user = conn;
    }
}

/* The system gives the number of a descriptor out again at once; an event of
 * the old one must not reach the new one, which wants nothing. */
static void close_leaves_nothing_to_who_comes_next(struct world *world)
{
    struct pair a;
    struct pair b;
    struct peer *third;

    pair_open(&a, world);
    pair_open(&b, world);
    peer_send(&a, "x", 1);
    peer_send(&b, "x", 1);
    third = world->outside->connect(world, &world->listener->local);
    assert_non_null(third);
    world_settle(world);
    a.user = &b;
    a.act = close_and_open;
    pair_want(&a, XS_IO_READ);
    pair_want(&b, XS_IO_READ);
    pair_until(&a, XS_IO_READ);
    world_settle(world);

    if (world->user != NULL) {
        world->io->ops->close(world->user, true);
    }
    world->outside->close_peer(third);
    pair_close(&a);
    pair_close(&b);
}

static void many_connections_may_be_closed_in_one_turn(struct world *world)
{
    enum { MANY = 12 };
    struct pair pairs[MANY];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            pair_open(&pairs[i], world);
            pair_want(&pairs[i], XS_IO_READ);
        }
        for (int i = 0; i < MANY; i++) {
            peer_send(&pairs[i], "x", 1);
        }
        for (int i = 0; i < MANY; i++) {
            pair_close_conn(&pairs[i], i % 2 == 0);
        }
        world_settle(world);
        for (int i = 0; i < MANY; i++) {
            assert_true(pairs[i].calls == 0 || pairs[i].events == XS_IO_READ);
            pair_close(&pairs[i]);
        }
    }
}

static void unlisten_ends_it(struct world *world)
{
    struct xs_io_addr at = world->listener->local;
    struct peer *peer;
    uint8_t byte;

    world->io->ops->unlisten(world->listener);
    world->listener = NULL;
    world_settle(world);
    peer = world->outside->connect(world, &at);
    if (peer != NULL) {
        assert_true(world->outside->read(peer, &byte, 1) != XS_EAGAIN);
        world->outside->close_peer(peer);
    }

    assert_int_equal(world->accepts, 0);
}

static void unlisten_now(struct world *world)
{
    world->io->ops->unlisten(world->listener);
    world->listener = NULL;
}

static void unlisten_inside_on_ready_refuses_who_waits(struct world *world)
{
    struct peer *peer;
    struct pair pair = {.world = world};
    uint8_t byte;
    int64_t n;

    peer = world->outside->connect(world, &world->listener->local);
    assert_non_null(peer);
    world->do_accept = unlisten_now;
    world_until(world, &world->accepts);
    pair.peer = peer;
    n = peer_recv_some(&pair, &byte, 1);
    world_settle(world);

    assert_int_equal(world->accepts, 1);
    assert_true(n == XS_ERESET || (n == 0 && world->outside->is_unix));
    world->outside->close_peer(peer);
}

static void connections_outlive_their_listener(struct world *world)
{
    struct pair pair;
    uint8_t byte;

    pair_open(&pair, world);
    unlisten_now(world);
    pair_want(&pair, XS_IO_READ);
    peer_send(&pair, "x", 1);
    pair_until(&pair, XS_IO_READ);
    pair_recv(&pair, &byte, 1);
    pair_send(&pair, &byte, 1);
    peer_recv(&pair, &byte, 1);

    assert_int_equal(byte, 'x');
    pair_close(&pair);
}

const struct rule rules_close[] = {
    RULE(close_hands_over_what_was_written),
    RULE(close_with_abort_resets),
    RULE(close_may_follow_shutdown),
    RULE(close_of_a_dead_connection_is_fine),
    RULE(close_right_after_want_is_fine),
    RULE(close_inside_on_ready_is_the_last_word),
    RULE(close_of_another_ready_connection_silences_it),
    RULE(close_leaves_nothing_to_who_comes_next),
    RULE(many_connections_may_be_closed_in_one_turn),
    RULE(unlisten_ends_it),
    RULE(unlisten_inside_on_ready_refuses_who_waits),
    RULE(connections_outlive_their_listener),
    {NULL, NULL},
};
