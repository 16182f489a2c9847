/* rules_drive.c - the host's side: the rules of drive.h. */

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/contract/contract.h"

#define RW ((unsigned)XS_IO_READ | XS_IO_WRITE)

static uint64_t real_ns(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * XS_SECOND_NS + (uint64_t)now.tv_nsec;
}

static void run_with_no_time_does_not_wait(struct world *world)
{
    uint64_t start = real_ns();

    world->io->ops->alarm(world->io, XS_NEVER - 1);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(world->drive->ops->run(world->drive, 0), 0);
    }

    assert_int_equal(world->blocks, 0);
    assert_true(real_ns() - start < XS_SECOND_NS);
}

static void run_waits_no_longer_than_it_may(struct world *world)
{
    uint64_t start = real_ns();

    for (int i = 0; i < 5; i++) {
        assert_int_equal(world->drive->ops->run(world->drive, 2 * XS_MS_NS), 0);
    }
    assert_int_equal(world->drive->ops->run(world->drive, 1), 0);

    assert_true(real_ns() - start < 2 * XS_SECOND_NS);
}

/* Its time is up again and again, and each time it goes on to wait. */
static void run_waits_when_there_is_nothing_to_do(struct world *world)
{
    uint64_t start = world->io->ops->now(world->io);
    unsigned turns = 0;

    while (world->io->ops->now(world->io) < start + 20 * XS_MS_NS) {
        assert_int_equal(world->drive->ops->run(world->drive, 5 * XS_MS_NS), 0);
        assert_true(++turns < 100);
    }
}

static void run_returns_after_a_callback(struct world *world)
{
    world->io->ops->alarm(world->io, world->io->ops->now(world->io) + XS_MS_NS);
    while (world->alarms == 0) {
        assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
    }

    assert_int_equal(world->alarms, 1);
}

/* What runs before the wait may give the host something to do. */
static void run_does_not_wait_after_a_callback(struct world *world)
{
    world->io->ops->defer(world->io);
    assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
    assert_int_equal(world->defers, 1);
    if (!world->outside->is_virtual) {
        assert_int_equal(world->blocks, 0);
    }

    world->io->ops->alarm(world->io, 0);
    while (world->alarms == 0) {
        assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
    }
}

/* A wait that ends too early is made up for by turning in circles. */
static void run_does_not_turn_in_circles_before_an_alarm(struct world *world)
{
    unsigned turns = 0;

    for (unsigned i = 0; i < 4; i++) {
        world->alarms = 0;
        world->io->ops->alarm(world->io, world->io->ops->now(world->io) +
                                             XS_MS_NS + i * XS_MS_NS / 4);
        while (world->alarms == 0) {
            assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
            turns++;
        }
    }

    assert_true(turns < 20);
}

/* Holding up the host for as long as 3 ms, as taking a lock may. */
static void hold_up(struct world *world)
{
    uint64_t start = real_ns();

    (void)world;
    while (real_ns() - start < 3 * XS_MS_NS) {
    }
}

static void run_returns_when_block_took_until_the_alarm(struct world *world)
{
    world->do_block = hold_up;
    for (unsigned i = 0; i < 3; i++) {
        world->alarms = 0;
        world->io->ops->alarm(world->io,
                              world->io->ops->now(world->io) + XS_MS_NS);
        while (world->alarms == 0) {
            assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
        }
    }
    world->do_block = NULL;
}

/* The clock that the wait is reckoned by is not from before the work. */
static void an_alarm_is_not_late_by_what_the_host_has_worked(
    struct world *world)
{
    uint64_t start;
    uint64_t late_ns;

    world_run(world, 0);
    start = real_ns();
    while (real_ns() - start < 200 * XS_MS_NS) {
    }
    start = real_ns();
    world->io->ops->alarm(world->io,
                          world->io->ops->now(world->io) + 2 * XS_MS_NS);
    while (world->alarms == 0) {
        assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
    }
    late_ns = real_ns() - start;

    assert_true(late_ns < 150 * XS_MS_NS);
}

static void waits_come_in_pairs_of_block_and_wake(struct world *world)
{
    world->io->ops->alarm(world->io,
                          world->io->ops->now(world->io) + 3 * XS_MS_NS);
    while (world->alarms == 0) {
        assert_int_equal(world->drive->ops->run(world->drive, XS_NEVER), 0);
        assert_int_equal(world->blocks, world->wakes);
    }

    if (!world->outside->is_virtual) {
        assert_true(world->blocks >= 1);
    }
}

static void nothing_blocks_while_a_defer_is_owed(struct world *world)
{
    world->io->ops->defer(world->io);
    world->io->ops->alarm(world->io, 0);
    assert_int_equal(world->drive->ops->run(world->drive, 0), 0);

    assert_int_equal(world->blocks, 0);
    assert_int_equal(world->defers, 1);
}

/* A callback may give the host something to do: it has to get at it. */
static void nothing_blocks_after_a_defer(struct world *world)
{
    world_settle(world);
    world->blocks = 0;
    world->wakes = 0;
    world->io->ops->defer(world->io);
    assert_int_equal(world->drive->ops->run(world->drive, 5 * XS_MS_NS), 0);

    assert_int_equal(world->defers, 1);
    assert_int_equal(world->blocks, 0);
}

static void defers_run_before_run_returns(struct world *world)
{
    world->io->ops->defer(world->io);
    assert_int_equal(world->drive->ops->run(world->drive, XS_MS_NS), 0);

    assert_int_equal(world->defers, 1);
}

static void next_tells_when_run_has_work(struct world *world)
{
    struct xs_drive *drive = world->drive;
    uint64_t next;

    world_settle(world);
    assert_true(drive->ops->next(drive) == XS_NEVER);
    world->io->ops->alarm(world->io,
                          world->io->ops->now(world->io) + XS_SECOND_NS);
    (void)drive->ops->run(drive, 0);
    next = drive->ops->next(drive);
    assert_true(next <= XS_SECOND_NS);
    assert_true(next > XS_SECOND_NS / 2);
    world->io->ops->alarm(world->io, XS_NEVER);
    world->io->ops->defer(world->io);
    assert_true(drive->ops->next(drive) == 0);
    (void)drive->ops->run(drive, 0);

    assert_true(drive->ops->next(drive) == XS_NEVER);
}

static void a_kick_comes_once_until_the_next_run(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    if (world->drive->ops->fd(world->drive) < 0) {
        pair_close(&pair);
        return; /* cannot be a guest, so nobody is kicked */
    }
    (void)world->drive->ops->run(world->drive, 0);
    world->kicks = 0;
    pair_want(&pair, XS_IO_READ);
    assert_int_equal(world->kicks, 1);
    world->io->ops->defer(world->io);
    world->io->ops->alarm(world->io, 0);
    assert_int_equal(world->kicks, 1);
    (void)world->drive->ops->run(world->drive, 0);
    world->io->ops->defer(world->io);
    assert_int_equal(world->kicks, 2);

    (void)world->drive->ops->run(world->drive, 0);
    pair_close(&pair);
}

static void the_descriptor_is_readable_when_there_is_work(struct world *world)
{
    struct xs_drive *drive = world->drive;
    struct pollfd at = {.fd = drive->ops->fd(drive), .events = POLLIN};
    struct pair pair;

    if (at.fd < 0) {
        return;
    }
    pair_open(&pair, world);
    pair_want(&pair, XS_IO_READ);
    (void)drive->ops->run(drive, 0);
    assert_true(drive->ops->next(drive) == XS_NEVER);
    peer_send(&pair, "x", 1);
    assert_int_equal(poll(&at, 1, 5000), 1);
    (void)drive->ops->run(drive, 0);

    assert_int_equal(pair.events, XS_IO_READ);
    pair_close(&pair);
}

struct seen {
    struct world *world;
    struct xs_watch watch;
    unsigned calls;
    unsigned events;
    bool end; /* inside on_ready */
};

static void on_seen(struct xs_watch *watch, unsigned events)
{
    struct seen *seen = watch->user;

    seen->calls++;
    seen->events |= events;
    if (seen->end) {
        assert_int_equal(
            seen->world->drive->ops->watch(seen->world->drive, watch, 0), 0);
    }
}

static void seen_start(struct seen *seen, struct world *world, int fd)
{
    *seen = (struct seen){.world = world};
    seen->watch.fd = fd;
    seen->watch.on_ready = on_seen;
    seen->watch.user = seen;
}

static void seen_want(struct seen *seen, unsigned events)
{
    struct xs_drive *drive = seen->world->drive;

    assert_int_equal(drive->ops->watch(drive, &seen->watch, events), 0);
}

static void a_watch_tells_what_is_true_and_wanted(struct world *world)
{
    struct seen seen;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    seen_start(&seen, world, fds[0]);
    seen_want(&seen, XS_IO_READ);
    world_settle(world);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    world_until(world, &seen.calls);
    assert_int_equal(seen.events, XS_IO_READ);
    seen.calls = 0;
    world_until(world, &seen.calls); /* level-triggered */

    seen_want(&seen, 0);
    seen.calls = 0;
    world_settle(world);
    assert_int_equal(seen.calls, 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void a_watch_may_change_and_start_again(struct world *world)
{
    struct seen seen;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    seen_start(&seen, world, fds[1]);
    for (int i = 0; i < 3; i++) {
        seen.calls = 0;
        seen.events = 0;
        seen_want(&seen, XS_IO_READ);
        world_run(world, 0);
        assert_int_equal(seen.events & XS_IO_WRITE, 0);
        seen.calls = 0;
        seen_want(&seen, RW);
        world_until(world, &seen.events);
        seen_want(&seen, 0);
        seen_want(&seen, 0);
    }

    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void a_watch_may_end_inside_its_callback(struct world *world)
{
    struct seen seen;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    seen_start(&seen, world, fds[1]);
    seen.end = true;
    seen_want(&seen, XS_IO_WRITE);
    world_until(world, &seen.calls);
    world_settle(world);

    assert_int_equal(seen.calls, 1);
    assert_null(seen.watch.backend);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

/* The reader is gone: an error, which a write will tell. */
static void a_watch_is_told_of_a_broken_pipe(struct world *world)
{
    struct seen seen;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    seen_start(&seen, world, fds[1]);
    (void)close(fds[0]);
    seen_want(&seen, XS_IO_WRITE);
    world_until(world, &seen.calls);
    seen.calls = 0;
    world_until(world, &seen.calls);

    seen_want(&seen, 0);
    (void)close(fds[1]);
}

static void a_watch_leaves_the_descriptor_as_it_was(struct world *world)
{
    struct seen seen;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    seen_start(&seen, world, fds[0]);
    seen_want(&seen, XS_IO_READ);
    world_run(world, 0);

    assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
    seen_want(&seen, 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void a_watch_refuses_what_cannot_be_polled(struct world *world)
{
    struct xs_drive *drive = world->drive;
    struct seen seen;
    char path[] = "/tmp/xsgi.XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    (void)unlink(path);
    (void)close(fd);
    seen_start(&seen, world, fd);

    assert_int_equal(drive->ops->watch(drive, &seen.watch, XS_IO_READ),
                     XS_EINVALID);
    assert_null(seen.watch.backend);
}

const struct rule rules_drive[] = {
    RULE(run_with_no_time_does_not_wait),
    RULE(run_waits_no_longer_than_it_may),
    RULE(run_waits_when_there_is_nothing_to_do),
    RULE(run_returns_after_a_callback),
    RULE(run_does_not_wait_after_a_callback),
    RULE(run_does_not_turn_in_circles_before_an_alarm),
    RULE(run_returns_when_block_took_until_the_alarm),
    RULE(an_alarm_is_not_late_by_what_the_host_has_worked),
    RULE(waits_come_in_pairs_of_block_and_wake),
    RULE(nothing_blocks_while_a_defer_is_owed),
    RULE(nothing_blocks_after_a_defer),
    RULE(defers_run_before_run_returns),
    RULE(next_tells_when_run_has_work),
    RULE(a_kick_comes_once_until_the_next_run),
    RULE(the_descriptor_is_readable_when_there_is_work),
    RULE(a_watch_tells_what_is_true_and_wanted),
    RULE(a_watch_may_change_and_start_again),
    RULE(a_watch_may_end_inside_its_callback),
    RULE(a_watch_is_told_of_a_broken_pipe),
    RULE(a_watch_leaves_the_descriptor_as_it_was),
    RULE(a_watch_refuses_what_cannot_be_polled),
    {NULL, NULL},
};
