/* rules_ready.c - interest and readiness: rules 2, 5, 6 and 7 of io.h. */

#include "tests/contract/contract.h"

#define ANY ((unsigned)XS_IO_READ | XS_IO_WRITE | XS_IO_HANGUP)

static void a_new_connection_is_told_nothing(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    peer_send(&pair, "x", 1);
    world->outside->shutdown(pair.peer);
    world_settle(world);

    assert_int_equal(pair.calls, 0);
    pair_close(&pair);
}

static void no_call_runs_a_callback_before_it_returns(struct world *world)
{
    const struct xs_io_ops *ops = world->io->ops;
    struct xs_slice hello = XS_LIT("hello");
    struct pair pair;
    uint8_t data[8];
    unsigned accepts;

    pair_open(&pair, world);
    peer_send(&pair, "x", 1);
    pair_want(&pair, XS_IO_READ);
    pair_until(&pair, XS_IO_READ);
    pair_forget(&pair);
    accepts = world->accepts;
    ops->alarm(world->io, 0);
    ops->defer(world->io);
    pair_want(&pair, ANY);
    (void)ops->now(world->io);
    (void)ops->recv(pair.conn, data, sizeof data);
    (void)ops->writev(pair.conn, &hello, 1);
    (void)ops->unacked(pair.conn);
    ops->accept_want(world->listener, false);
    ops->accept_want(world->listener, true);
    (void)ops->shutdown_wr(pair.conn);

    assert_int_equal(pair.calls, 0);
    assert_int_equal(world->accepts, accepts);
    assert_int_equal(world->alarms, 0);
    assert_int_equal(world->defers, 0);
    pair_close(&pair);
}

static void readable_is_told_when_bytes_arrive(struct world *world)
{
    struct pair pair;
    char byte = 0;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_READ);
    peer_send(&pair, "x", 1);
    pair_until(&pair, XS_IO_READ);

    pair_recv(&pair, &byte, 1);
    assert_int_equal(byte, 'x');
    pair_close(&pair);
}

static void readable_comes_again_while_it_is_true(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_READ);
    peer_send(&pair, "x", 1);
    for (int i = 0; i < 3; i++) {
        pair_until(&pair, XS_IO_READ);
        pair_forget(&pair);
    }

    pair_close(&pair);
}

static void writable_is_told_while_there_is_room(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_WRITE);
    for (int i = 0; i < 3; i++) {
        pair_until(&pair, XS_IO_WRITE);
        pair_forget(&pair);
    }

    pair_close(&pair);
}

static void writable_is_told_when_the_peer_has_read(struct world *world)
{
    static uint8_t data[64 * 1024];
    struct pair pair;
    size_t total;
    size_t got = 0;

    pair_open(&pair, world);
    total = pair_fill(&pair);
    pair_want(&pair, XS_IO_WRITE);
    while (got < total) {
        int64_t n = peer_recv_some(&pair, data, sizeof data);
        assert_true(n > 0);
        pattern_check(data, got, (size_t)n);
        got += (size_t)n;
    }
    pair_until(&pair, XS_IO_WRITE);

    pair_send(&pair, "x", 1);
    pair_close(&pair);
}

static void what_is_not_wanted_is_not_told(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_WRITE);
    peer_send(&pair, "x", 1);
    pair_until(&pair, XS_IO_WRITE);
    world_settle(world);
    assert_int_equal(pair.events, XS_IO_WRITE);

    pair_want(&pair, XS_IO_READ);
    pair_forget(&pair);
    pair_until(&pair, XS_IO_READ);
    world_settle(world);
    assert_int_equal(pair.events, XS_IO_READ);
    pair_close(&pair);
}

static void nothing_wanted_is_nothing_told(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, ANY);
    peer_send(&pair, "x", 1);
    pair_until(&pair, ANY);
    pair_want(&pair, 0);
    pair_forget(&pair);
    world->outside->shutdown(pair.peer);
    world_settle(world);

    assert_int_equal(pair.calls, 0);
    pair_close(&pair);
}

static void interest_dropped_and_taken_up_again_is_told(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_READ);
    peer_send(&pair, "x", 1);
    for (int i = 0; i < 3; i++) {
        pair_want(&pair, 0);
        pair_want(&pair, XS_IO_READ);
        pair_until(&pair, XS_IO_READ);
        pair_want(&pair, 0);
        world_run(world, 0);
        pair_forget(&pair);
        pair_want(&pair, XS_IO_READ);
        pair_until(&pair, XS_IO_READ);
    }

    pair_close(&pair);
}

static void drop_interest(struct pair *pair, unsigned events)
{
    (void)events;
    pair_want(pair, 0);
}

static void want_inside_on_ready_takes_effect_at_once(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair.act = drop_interest;
    pair_want(&pair, XS_IO_READ);
    peer_send(&pair, "x", 1);
    pair_until(&pair, XS_IO_READ);
    world_settle(world);

    assert_int_equal(pair.calls, 1);
    pair_close(&pair);
}

static void drop_other(struct pair *pair, unsigned events)
{
    struct pair *other = pair->user;

    (void)events;
    pair->act = NULL;
    other->act = NULL;
    pair_want(other, 0);
    pair_forget(other);
}

/* Both are ready in the same turn; whoever comes first silences the other. */
static void interest_dropped_for_another_takes_effect_at_once(
    struct world *world)
{
    struct pair a;
    struct pair b;

    pair_open(&a, world);
    pair_open(&b, world);
    peer_send(&a, "x", 1);
    peer_send(&b, "x", 1);
    pair_want(&a, XS_IO_READ);
    pair_want(&b, XS_IO_READ);
    pair_until(&a, XS_IO_READ);
    pair_until(&b, XS_IO_READ);
    a.user = &b;
    b.user = &a;
    a.act = drop_other;
    b.act = drop_other;
    while (a.act != NULL) {
        world_run(world, XS_MS_NS);
    }
    world_settle(world);

    assert_true(a.calls == 0 || b.calls == 0);
    pair_close(&a);
    pair_close(&b);
}

static void every_set_of_interest_may_follow_every_other(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    peer_send(&pair, "x", 1);
    for (unsigned from = 0; from <= ANY; from++) {
        for (unsigned to = 0; to <= ANY; to++) {
            pair_want(&pair, from);
            world_run(world, 0);
            pair_want(&pair, to);
            world_run(world, 0);
        }
    }
    pair_want(&pair, XS_IO_READ);
    pair_forget(&pair);
    pair_until(&pair, XS_IO_READ);

    pair_close(&pair);
}

static void the_end_is_told_to_who_wants_to_read(struct world *world)
{
    struct pair pair;
    char byte;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_READ);
    world->outside->shutdown(pair.peer);
    pair_until(&pair, XS_IO_READ);

    assert_int_equal(pair_recv_some(&pair, &byte, 1), 0);
    assert_int_equal(pair_recv_some(&pair, &byte, 1), 0);
    pair_close(&pair);
}

static void the_end_is_told_to_who_waits_for_hangup(struct world *world)
{
    struct pair pair;
    char data[8];

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_HANGUP);
    peer_send(&pair, "last", 4);
    world->outside->shutdown(pair.peer);
    pair_until(&pair, XS_IO_HANGUP);

    pair_recv(&pair, data, 4);
    assert_memory_equal(data, "last", 4);
    assert_int_equal(pair_recv_some(&pair, data, sizeof data), 0);
    pair_close(&pair);
}

static void the_end_is_told_again_while_it_is_wanted(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_HANGUP);
    world->outside->shutdown(pair.peer);
    for (int i = 0; i < 3; i++) {
        pair_until(&pair, XS_IO_HANGUP);
        pair_forget(&pair);
    }

    pair_close(&pair);
}

static void bytes_are_not_told_to_who_waits_for_hangup(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_HANGUP);
    peer_send(&pair, "x", 1);
    world_settle(world);

    assert_int_equal(pair.events & ~(unsigned)XS_IO_HANGUP, 0);
    pair_close(&pair);
}

static void a_reset_is_told_to_who_wants(struct world *world, unsigned events)
{
    struct pair pair;
    char byte;

    pair_open(&pair, world);
    peer_send(&pair, "x", 1);
    pair_recv(&pair, &byte, 1);
    (void)pair_fill(&pair);
    pair_want(&pair, events);
    world_settle(world);
    pair_forget(&pair);
    world->outside->reset(pair.peer);
    pair_until(&pair, events);

    pair_close(&pair);
}

static void a_reset_is_told_to_who_wants_to_read(struct world *world)
{
    a_reset_is_told_to_who_wants(world, XS_IO_READ);
}

static void a_reset_is_told_to_who_wants_to_write(struct world *world)
{
    a_reset_is_told_to_who_wants(world, XS_IO_WRITE);
}

static void a_reset_is_told_to_who_waits_for_hangup(struct world *world)
{
    a_reset_is_told_to_who_wants(world, XS_IO_HANGUP);
}

static void a_reset_is_told_again_while_nobody_acts(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_HANGUP);
    world->outside->reset(pair.peer);
    for (int i = 0; i < 3; i++) {
        pair_until(&pair, XS_IO_HANGUP);
        pair_forget(&pair);
    }

    pair_close(&pair);
}

/* A peer that is gone is true for ever: the backend must not turn in circles
 * because of it when nobody wants to know. */
static void a_dead_peer_that_nobody_watches_costs_no_turns(
    struct world *world, void (*end)(struct peer *peer))
{
    struct pair pair;
    unsigned turns = 0;
    uint64_t start_ns;

    pair_open(&pair, world);
    pair_want(&pair, ANY);
    end(pair.peer);
    pair_until(&pair, ANY);
    pair_want(&pair, 0);
    world_settle(world);
    start_ns = world->io->ops->now(world->io);
    world->io->ops->alarm(world->io, start_ns + 10 * XS_MS_NS);
    while (world->alarms == 0) {
        world_run(world, XS_SECOND_NS);
        turns++;
    }

    assert_true(turns < 5);
    pair_close(&pair);
}

static void an_end_that_nobody_watches_costs_no_turns(struct world *world)
{
    a_dead_peer_that_nobody_watches_costs_no_turns(world,
                                                   world->outside->shutdown);
}

static void a_reset_that_nobody_watches_costs_no_turns(struct world *world)
{
    a_dead_peer_that_nobody_watches_costs_no_turns(world,
                                                   world->outside->reset);
}

const struct rule rules_ready[] = {
    RULE(a_new_connection_is_told_nothing),
    RULE(no_call_runs_a_callback_before_it_returns),
    RULE(readable_is_told_when_bytes_arrive),
    RULE(readable_comes_again_while_it_is_true),
    RULE(writable_is_told_while_there_is_room),
    RULE(writable_is_told_when_the_peer_has_read),
    RULE(what_is_not_wanted_is_not_told),
    RULE(nothing_wanted_is_nothing_told),
    RULE(interest_dropped_and_taken_up_again_is_told),
    RULE(want_inside_on_ready_takes_effect_at_once),
    RULE(interest_dropped_for_another_takes_effect_at_once),
    RULE(every_set_of_interest_may_follow_every_other),
    RULE(the_end_is_told_to_who_wants_to_read),
    RULE(the_end_is_told_to_who_waits_for_hangup),
    RULE(the_end_is_told_again_while_it_is_wanted),
    RULE(bytes_are_not_told_to_who_waits_for_hangup),
    RULE(a_reset_is_told_to_who_wants_to_read),
    RULE(a_reset_is_told_to_who_wants_to_write),
    RULE(a_reset_is_told_to_who_waits_for_hangup),
    RULE(a_reset_is_told_again_while_nobody_acts),
    RULE(an_end_that_nobody_watches_costs_no_turns),
    RULE(a_reset_that_nobody_watches_costs_no_turns),
    {NULL, NULL},
};
