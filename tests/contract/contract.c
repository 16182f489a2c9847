/* contract.c - worlds and pairs: what every rule needs. */

#include "tests/contract/contract.h"

#include <string.h>
#include <time.h>

#include "io/check.h"

/* No wait of these tests is longer than this, in real time. */
#define PATIENCE_S 10

/* Nor does any take more turns; for where time is virtual. */
#define TURNS_MAX 100000

/* One turn of a wait. */
#define TURN_NS (10 * XS_MS_NS)

/* A listener's queue, a loopback, a scheduler: done after this. */
#define SETTLE_NS (20 * XS_MS_NS)
#define SETTLE_TURNS 16

static struct world *world_of(struct xs_io *io)
{
    return io->user;
}

static void on_alarm(struct xs_io *io)
{
    struct world *world = world_of(io);

    world->alarms++;
    if (world->do_alarm != NULL) {
        world->do_alarm(world);
    }
}

static void on_defer(struct xs_io *io)
{
    struct world *world = world_of(io);

    world->defers++;
    if (world->do_defer != NULL) {
        world->do_defer(world);
    }
}

static void on_accept(struct xs_io_listener *listener)
{
    struct world *world = listener->user;

    world->accepts++;
    if (world->do_accept != NULL) {
        world->do_accept(world);
    }
}

static void on_block(void *user)
{
    struct world *world = user;

    world->blocks++;
    if (world->do_block != NULL) {
        world->do_block(world);
    }
}

static void on_wake(void *user)
{
    ((struct world *)user)->wakes++;
}

static void on_kick(void *user)
{
    ((struct world *)user)->kicks++;
}

void world_open(struct world *world, const struct outside *outside,
                uint64_t seed)
{
    *world = (struct world){.outside = outside, .seed = seed};
    outside->open(world);
    assert_int_equal(xs_check_new(&world->drive, world->inner), 0);
    world->drive->block = on_block;
    world->drive->wake = on_wake;
    world->drive->kick = on_kick;
    world->drive->user = world;
    world->io = world->drive->io;
    world->io->on_alarm = on_alarm;
    world->io->on_defer = on_defer;
    world->io->user = world;
    assert_int_equal(outside->listen(world, &world->listener), 0);
    world->listener->on_ready = on_accept;
    world->listener->user = world;
}

void world_close(struct world *world)
{
    if (world->listener != NULL) {
        world->io->ops->unlisten(world->listener);
    }
    assert_int_equal(world->blocks, world->wakes);
    world->drive->ops->free(world->drive);
    world->outside->close(world);
}

void world_run(struct world *world, uint64_t timeout_ns)
{
    world->outside->run(world, timeout_ns);
}

struct patience {
    time_t until;
    unsigned turns;
};

static struct patience patience(void)
{
    return (struct patience){time(NULL) + PATIENCE_S, TURNS_MAX};
}

static void patience_turn(struct patience *left, struct world *world)
{
    if (left->turns-- == 0 || time(NULL) > left->until) {
        fail_msg("what was waited for never came");
    }
    world_run(world, TURN_NS);
}

void world_until_is(struct world *world, const unsigned *count, unsigned least)
{
    struct patience left = patience();

    while (*count < least) {
        patience_turn(&left, world);
    }
}

void world_until(struct world *world, const unsigned *flag)
{
    world_until_is(world, flag, 1);
}

/* Where time is virtual it stands still while a callback is due again at once:
 * that many turns are enough. */
void world_settle(struct world *world)
{
    uint64_t end_ns = world->io->ops->now(world->io) + SETTLE_NS;
    struct patience left = patience();

    for (unsigned i = 0; i < SETTLE_TURNS; i++) {
        world_run(world, 0);
    }
    for (unsigned i = 0; world->io->ops->now(world->io) < end_ns; i++) {
        if (world->outside->is_virtual && i == SETTLE_TURNS) {
            return;
        }
        patience_turn(&left, world);
    }
}

static void on_pair(struct xs_io_conn *conn, unsigned events)
{
    struct pair *pair = conn->user;

    pair->calls++;
    pair->events |= events;
    if (pair->act != NULL) {
        pair->act(pair, events);
    }
}

void pair_open(struct pair *pair, struct world *world)
{
    struct patience left = patience();
    int err;

    *pair = (struct pair){.world = world};
    pair->peer = world->outside->connect(world, &world->listener->local);
    assert_non_null(pair->peer);
    for (;;) {
        err = world->io->ops->accept(world->listener, &pair->conn);
        if (err != XS_EAGAIN && err != XS_EMFILE) {
            break;
        }
        patience_turn(&left, world);
    }
    assert_int_equal(err, 0);
    pair->conn->on_ready = on_pair;
    pair->conn->user = pair;
}

void pair_close_conn(struct pair *pair, bool abort)
{
    struct xs_io_conn *conn = pair->conn;

    assert_non_null(conn);
    pair->conn = NULL;
    pair->world->io->ops->close(conn, abort);
}

void pair_close_peer(struct pair *pair)
{
    struct peer *peer = pair->peer;

    assert_non_null(peer);
    pair->peer = NULL;
    pair->world->outside->close_peer(peer);
}

void pair_close(struct pair *pair)
{
    if (pair->conn != NULL) {
        pair_close_conn(pair, false);
    }
    if (pair->peer != NULL) {
        pair_close_peer(pair);
    }
}

void pair_want(struct pair *pair, unsigned events)
{
    pair->world->io->ops->want(pair->conn, events);
}

void pair_forget(struct pair *pair)
{
    pair->calls = 0;
    pair->events = 0;
}

void pair_until(struct pair *pair, unsigned events)
{
    struct patience left = patience();

    while ((pair->events & events) == 0) {
        patience_turn(&left, pair->world);
    }
}

void pair_send(struct pair *pair, const void *data, size_t len)
{
    struct patience left = patience();
    size_t done = 0;

    while (done < len) {
        struct xs_slice rest =
            xs_slice_of((const uint8_t *)data + done, len - done);
        int64_t n = pair->world->io->ops->writev(pair->conn, &rest, 1);
        if (n == XS_EAGAIN) {
            patience_turn(&left, pair->world);
            continue;
        }
        assert_true(n > 0);
        done += (size_t)n;
    }
}

int64_t pair_recv_some(struct pair *pair, void *data, size_t len)
{
    struct patience left = patience();
    int64_t n;

    for (;;) {
        n = pair->world->io->ops->recv(pair->conn, data, len);
        if (n != XS_EAGAIN) {
            return n;
        }
        patience_turn(&left, pair->world);
    }
}

void pair_recv(struct pair *pair, void *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        int64_t n = pair_recv_some(pair, (uint8_t *)data + done, len - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
}

void peer_send(struct pair *pair, const void *data, size_t len)
{
    struct patience left = patience();
    size_t done = 0;

    while (done < len) {
        int64_t n = pair->world->outside->write(
            pair->peer, (const uint8_t *)data + done, len - done);
        if (n == XS_EAGAIN) {
            patience_turn(&left, pair->world);
            continue;
        }
        assert_true(n > 0);
        done += (size_t)n;
    }
}

int64_t peer_recv_some(struct pair *pair, void *data, size_t len)
{
    struct patience left = patience();
    int64_t n;

    for (;;) {
        n = pair->world->outside->read(pair->peer, data, len);
        if (n != XS_EAGAIN) {
            return n;
        }
        patience_turn(&left, pair->world);
    }
}

void peer_recv(struct pair *pair, void *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        int64_t n = peer_recv_some(pair, (uint8_t *)data + done, len - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
}

size_t world_bytes(const struct world *world, size_t len)
{
    return world->outside->seeds == 1 || len < 256 ? len : 256 + len / 1024;
}

/* A spurious XS_EAGAIN is not "full": full is what stays so. */
size_t pair_fill(struct pair *pair)
{
    static uint8_t block[64 * 1024];
    const struct xs_io_ops *ops = pair->world->io->ops;
    size_t total = 0;
    unsigned refused = 0;

    while (refused < 20) {
        size_t len = sizeof block - total % sizeof block;
        struct xs_slice bytes;
        int64_t n;

        pattern_fill(block, total, len);
        bytes = xs_slice_of(block, len);
        n = ops->writev(pair->conn, &bytes, 1);
        if (n == XS_EAGAIN) {
            refused++;
            world_run(pair->world, pair->world->outside->is_virtual
                                       ? XS_SECOND_NS
                                       : XS_MS_NS);
            continue;
        }
        assert_true(n > 0);
        refused = 0;
        total += (size_t)n;
        assert_true(total < (size_t)1 << 30);
    }
    return total;
}

uint8_t pattern_at(size_t at)
{
    return (uint8_t)((at * 31 + (at >> 8) * 7 + (at >> 16)) & 0xff);
}

void pattern_fill(uint8_t *data, size_t at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        data[i] = pattern_at(at + i);
    }
}

void pattern_check(const uint8_t *data, size_t at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] != pattern_at(at + i)) {
            fail_msg("byte %zu of the stream is wrong", at + i);
        }
    }
}
