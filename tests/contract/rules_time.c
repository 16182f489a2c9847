/* rules_time.c - now, alarm and defer: rules 8, 9 and 10 of io.h. */

#include "tests/contract/contract.h"

static uint64_t now(struct world *world)
{
    return world->io->ops->now(world->io);
}

/* Work that takes a while on a real clock. */
static void work(void)
{
    for (volatile unsigned i = 0; i < 100000; i++) {
    }
}

static void look_twice(struct world *world)
{
    uint64_t first = now(world);

    work();
    assert_true(now(world) == first);
}

static void time_is_the_same_all_through_a_callback(struct world *world)
{
    world->do_defer = look_twice;
    world->do_alarm = look_twice;
    world->io->ops->defer(world->io);
    world->io->ops->alarm(world->io, now(world));
    world_until(world, &world->alarms);
    world_until(world, &world->defers);
}

static void look_at_the_clock(struct world *world)
{
    uint64_t time = now(world);
    uint64_t first = world->io->ops->clock(world->io);

    assert_true(first >= time);
    work();
    assert_true(world->io->ops->clock(world->io) >= first);
}

static void the_clock_is_not_before_the_time_of_a_callback(struct world *world)
{
    world->do_defer = look_at_the_clock;
    world->do_alarm = look_at_the_clock;
    world->io->ops->defer(world->io);
    world->io->ops->alarm(world->io, now(world));
    world_until(world, &world->alarms);
    world_until(world, &world->defers);
}

static void time_goes_on_and_never_back(struct world *world)
{
    uint64_t start = now(world);
    uint64_t last = start;

    world->io->ops->alarm(world->io, start + 3 * XS_MS_NS);
    while (world->alarms == 0) {
        world_run(world, XS_MS_NS);
        assert_true(now(world) >= last);
        last = now(world);
    }

    assert_true(last >= start + 3 * XS_MS_NS);
}

/* 2020 is past; 2100 is far. */
static void the_time_of_day_is_of_this_century(struct world *world)
{
    uint64_t wall = world->io->ops->wall(world->io);

    assert_true(wall > (uint64_t)1577836800 * XS_SECOND_NS);
    assert_true(wall < (uint64_t)4102444800 * XS_SECOND_NS);
}

static void an_alarm_is_never_early(struct world *world)
{
    static const uint64_t after_ns[] = {1, 1000, 999999, 1000001, 2500000};

    for (size_t i = 0; i < XS_COUNT_OF(after_ns); i++) {
        uint64_t at_ns = now(world) + after_ns[i];
        world->alarms = 0;
        world->io->ops->alarm(world->io, at_ns);
        world_until(world, &world->alarms);
        assert_true(now(world) >= at_ns);
    }
}

static void an_alarm_in_the_past_comes_soon(struct world *world)
{
    world->io->ops->alarm(world->io, 0);
    world_until(world, &world->alarms);

    world->alarms = 0;
    world->io->ops->alarm(world->io, now(world));
    world_until(world, &world->alarms);
}

static void an_alarm_comes_once(struct world *world)
{
    world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    world_until(world, &world->alarms);
    world_settle(world);

    assert_int_equal(world->alarms, 1);
}

static void an_alarm_replaces_the_one_before(struct world *world)
{
    uint64_t start = now(world);
    uint64_t late = start + 10 * XS_MS_NS;

    world->io->ops->alarm(world->io, start + XS_MS_NS);
    world->io->ops->alarm(world->io, late);
    world_until(world, &world->alarms);
    assert_true(now(world) >= late);

    world->alarms = 0;
    world->io->ops->alarm(world->io, now(world) + 3600 * XS_SECOND_NS);
    world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    world_until(world, &world->alarms);
    assert_true(now(world) < late + 3600 * XS_SECOND_NS);
}

static void an_alarm_of_never_takes_the_one_before_back(struct world *world)
{
    world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    world->io->ops->alarm(world->io, XS_NEVER);
    world_settle(world);
    assert_int_equal(world->alarms, 0);

    world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    world_run(world, 0);
    world->io->ops->alarm(world->io, XS_NEVER);
    world_settle(world);
    assert_int_equal(world->alarms, 0);
}

static void alarm_again(struct world *world)
{
    if (world->alarms < 3) {
        world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    }
}

static void an_alarm_set_inside_on_alarm_comes_too(struct world *world)
{
    world->do_alarm = alarm_again;
    world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    world_until_is(world, &world->alarms, 3);
    world_settle(world);

    assert_int_equal(world->alarms, 3);
}

static void alarm_at_once(struct world *world)
{
    if (world->alarms < 100) {
        world->io->ops->alarm(world->io, 0);
    }
}

/* A core that is always late must not keep the backend from its sockets. */
static void an_alarm_that_is_always_due_starves_nobody(struct world *world)
{
    struct pair pair;
    unsigned alarms;

    pair_open(&pair, world);
    pair_want(&pair, XS_IO_WRITE);
    world->do_alarm = alarm_at_once;
    world->io->ops->alarm(world->io, 0);
    pair_until(&pair, XS_IO_WRITE);
    alarms = world->alarms;
    world_until_is(world, &world->alarms, 100);

    assert_true(alarms < 100);
    pair_close(&pair);
}

static void several_defers_give_one_call(struct world *world)
{
    world->io->ops->defer(world->io);
    world->io->ops->defer(world->io);
    world->io->ops->defer(world->io);
    assert_int_equal(world->defers, 0);
    world_until(world, &world->defers);
    world_settle(world);

    assert_int_equal(world->defers, 1);
}

static void defer_twice(struct world *world)
{
    if (world->defers < 2) {
        world->io->ops->defer(world->io);
        world->io->ops->defer(world->io);
    }
}

static void a_defer_inside_on_defer_gives_one_more(struct world *world)
{
    world->do_defer = defer_twice;
    world->io->ops->defer(world->io);
    world_until(world, &world->defers);
    world_settle(world);

    assert_int_equal(world->defers, 2);
}

static void defer_now(struct world *world)
{
    assert_int_equal(world->defers, 0);
    world->io->ops->defer(world->io);
}

/* `check` sees to it that none is owed when the backend blocks. */
static void a_defer_inside_on_alarm_comes_before_the_wait(struct world *world)
{
    world->do_alarm = defer_now;
    world->io->ops->alarm(world->io, now(world) + XS_MS_NS);
    world_until(world, &world->alarms);
    world_run(world, 0);

    assert_int_equal(world->defers, 1);
}

static void defer_in_ready(struct pair *pair, unsigned events)
{
    (void)events;
    pair_want(pair, 0);
    pair->world->io->ops->defer(pair->world->io);
}

static void a_defer_inside_on_ready_comes_before_the_wait(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    pair.act = defer_in_ready;
    pair_want(&pair, XS_IO_WRITE);
    pair_until(&pair, XS_IO_WRITE);
    world_run(world, 0);

    assert_int_equal(world->defers, 1);
    pair_close(&pair);
}

const struct rule rules_time[] = {
    RULE(time_is_the_same_all_through_a_callback),
    RULE(the_clock_is_not_before_the_time_of_a_callback),
    RULE(time_goes_on_and_never_back),
    RULE(the_time_of_day_is_of_this_century),
    RULE(an_alarm_is_never_early),
    RULE(an_alarm_in_the_past_comes_soon),
    RULE(an_alarm_comes_once),
    RULE(an_alarm_replaces_the_one_before),
    RULE(an_alarm_of_never_takes_the_one_before_back),
    RULE(an_alarm_set_inside_on_alarm_comes_too),
    RULE(an_alarm_that_is_always_due_starves_nobody),
    RULE(several_defers_give_one_call),
    RULE(a_defer_inside_on_defer_gives_one_more),
    RULE(a_defer_inside_on_alarm_comes_before_the_wait),
    RULE(a_defer_inside_on_ready_comes_before_the_wait),
    {NULL, NULL},
};
