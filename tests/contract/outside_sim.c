/* outside_sim.c - scripted peers as the other end of the simulated backend. */

#include <stdlib.h>

#include "sim/sim.h"
#include "sim/sim_peer.h"
#include "tests/contract/contract.h"

/* Worlds in which everything odd happens often. */
#define ODD_SEEDS 40
#define ODD_PERCENT 20

struct peer {
    struct xs_sim_peer *sim; /* owned */
};

static void sim_world_open(struct world *world,
                           const struct xs_sim_options *options)
{
    struct xs_tape *tape = calloc(1, sizeof *tape);

    assert_non_null(tape);
    xs_tape_init(tape);
    xs_tape_start_seed(tape, world->seed);
    world->state = tape;
    assert_int_equal(xs_sim_new(&world->inner, tape, options), 0);
}

static void sim_open(struct world *world)
{
    struct xs_sim_options options = {0};

    xs_faults_none(&options.faults);
    sim_world_open(world, &options);
}

/* All that is legal and harmless. What kills connections would break what the
 * rules expect; the campaigns in tests/sim have it. Buffers are alike
 * in both directions: "until nothing fits" has to end, and what a rule sends
 * before it reads has to fit. */
static void sim_open_odd(struct world *world)
{
    static const size_t buffers[] = {2048, 3000, 4096, 65536, 262144};
    struct xs_sim_options options = {0};
    size_t buffer = buffers[world->seed % XS_COUNT_OF(buffers)];

    xs_faults_none(&options.faults);
    for (unsigned label = 0; label < XS_LABEL_COUNT; label++) {
        if (xs_label_class(label) == XS_CLASS_ODD ||
            xs_label_class(label) == XS_CLASS_ORDER) {
            options.faults.percent[label] = ODD_PERCENT;
        }
    }
    options.faults.percent[XS_LABEL_NET_SEND_BUFFER] = 0;
    options.faults.percent[XS_LABEL_NET_RECV_BUFFER] = 0;
    options.send_buffer = buffer;
    options.recv_buffer = buffer;
    sim_world_open(world, &options);
}

static void sim_close(struct world *world)
{
    xs_tape_fini(world->state);
    free(world->state);
}

static int sim_listen(struct world *world, struct xs_io_listener **out)
{
    struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1", .backlog = 16};

    return world->io->ops->listen(world->io, out, &spec);
}

static void sim_run(struct world *world, uint64_t timeout_ns)
{
    assert_int_equal(world->drive->ops->run(world->drive, timeout_ns), 0);
}

static struct peer *sim_connect(struct world *world,
                                const struct xs_io_addr *to)
{
    struct peer *peer = calloc(1, sizeof *peer);
    int err;

    assert_non_null(peer);
    err = xs_sim_peer_open(xs_sim_of_drive(world->inner), &peer->sim, to);
    if (err != 0) {
        assert_int_equal(err, XS_ERESET);
        free(peer);
        return NULL;
    }
    return peer;
}

static int64_t sim_write(struct peer *peer, const void *data, size_t len)
{
    return xs_sim_peer_write(peer->sim, data, len);
}

static int64_t sim_read(struct peer *peer, void *data, size_t len)
{
    return xs_sim_peer_read(peer->sim, data, len);
}

static void sim_shutdown(struct peer *peer)
{
    xs_sim_peer_shutdown(peer->sim);
}

static void sim_reset(struct peer *peer)
{
    xs_sim_peer_reset(peer->sim);
}

static void sim_close_peer(struct peer *peer)
{
    xs_sim_peer_close(peer->sim);
    free(peer);
}

#define SIM_PEER                                                    \
    .is_virtual = true, .close = sim_close, .listen = sim_listen,   \
    .run = sim_run, .connect = sim_connect, .write = sim_write,     \
    .read = sim_read, .shutdown = sim_shutdown, .reset = sim_reset, \
    .close_peer = sim_close_peer

const struct outside outside_sim = {
    .name = "sim",
    .seeds = 1,
    .open = sim_open,
    SIM_PEER,
};

const struct outside outside_sim_odd = {
    .name = "sim in odd weather",
    .seeds = ODD_SEEDS,
    .open = sim_open_odd,
    SIM_PEER,
};
