/* sim.c - the simulated backend as a whole: its life, memory and trace. */

#include "sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/limits.h"
#include "sim/sim_types.h"

/* Time begins here, so that 0 is nobody's deadline by accident. */
#define SIM_START_NS XS_SECOND_NS

/* The first moment of 2024. */
#define SIM_WALL_NS ((uint64_t)1704067200 * XS_SECOND_NS)

/* Before each block of the core's memory; keeps it aligned. */
struct sim_block {
    _Alignas(max_align_t) struct xs_list all; /* sim.blocks */
    size_t size;
};

/* time and the world */

static uint64_t sim_now(struct xs_io *io)
{
    return sim_of_io(io)->now_ns;
}

static uint64_t sim_wall(struct xs_io *io)
{
    struct xs_sim *sim = sim_of_io(io);

    return sim->wall_ns + sim->now_ns;
}

static void sim_random(struct xs_io *io, uint8_t *data, size_t len)
{
    struct xs_sim *sim = sim_of_io(io);

    for (size_t i = 0; i < len; i++) {
        data[i] = (uint8_t)(xs_rng_next(&sim->rng) >> 56);
    }
    sim_event(sim, 0, "random", len, 0);
}

static void sim_io_note(struct xs_io *io, const char *what, uint64_t a,
                        uint64_t b)
{
    struct xs_sim *sim = sim_of_io(io);

    sim_event(sim, 0, what, a, b);
    if (sim->on_note != NULL) {
        sim->on_note(sim->user, what, a, b);
    }
}

static const struct xs_io_ops sim_io_ops = {
    .now = sim_now,
    .wall = sim_wall,
    .clock = sim_now,
    .alarm = sim_alarm,
    .defer = sim_defer,
    .listen = sim_listen,
    .accept = sim_accept,
    .accept_want = sim_accept_want,
    .unlisten = sim_unlisten,
    .recv = sim_recv,
    .writev = sim_writev,
    .sendfile = sim_sendfile,
    .want = sim_want,
    .unacked = sim_unacked,
    .shutdown_wr = sim_shutdown_wr,
    .close = sim_close,
    .random = sim_random,
    .post = sim_post,
    .note = sim_io_note,
};

/* memory */

static void sim_mem_count(struct xs_sim *sim, size_t before, size_t after)
{
    struct xs_sim_stats *stats = &sim->stats;

    stats->mem_bytes += after - before;
    if (stats->mem_bytes > stats->mem_bytes_most) {
        stats->mem_bytes_most = stats->mem_bytes;
    }
}

static void sim_mem_free(struct xs_sim *sim, struct sim_block *block)
{
    xs_list_remove(&block->all);
    sim_mem_count(sim, block->size, 0);
    sim->stats.mem_blocks--;
    free(block);
}

static void *sim_mem_resize(struct xs_mem *mem, void *ptr, size_t size)
{
    struct xs_sim *sim = xs_container_of(mem, struct xs_sim, mem);
    struct sim_block *block = ptr == NULL ? NULL : (struct sim_block *)ptr - 1;
    size_t before = 0;

    if (size == 0) {
        if (block != NULL) {
            sim_mem_free(sim, block);
        }
        return NULL;
    }
    if (sim_fault(sim, XS_LABEL_MEM_FAIL)) {
        sim->stats.mem_failed++;
        sim_event(sim, 0, "mem.fail", size, 0);
        return NULL;
    }
    if (block != NULL) {
        before = block->size;
        xs_list_remove(&block->all);
    } else {
        sim->stats.mem_blocks++;
    }
    block = realloc(block, sizeof *block + size);
    XS_ASSERT(block != NULL); /* the machine's memory, not the simulation's */
    xs_list_init(&block->all);
    xs_list_append(&sim->blocks, &block->all);
    block->size = size;
    sim_mem_count(sim, before, size);
    return block + 1;
}

/* trace */

static uint64_t sim_fold(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* The first letters of a name, and its length: enough to tell it by. */
static uint64_t sim_word(const char *what)
{
    size_t len = strlen(what);
    uint64_t word = 0;

    for (size_t i = 0; i < len && i < 8; i++) {
        /* Names differ at their ends: "conn.open", "conn.close". */
        word = word << 8 | (uint8_t)what[len - 1 - i];
    }
    return word + len;
}

void sim_event(struct xs_sim *sim, uint64_t id, const char *what, uint64_t a,
               uint64_t b)
{
    uint64_t hash = sim_fold(sim->hash, sim->now_ns);

    hash = sim_fold(hash, sim_word(what));
    hash = sim_fold(hash, id);
    hash = sim_fold(hash, a);
    sim->hash = sim_fold(hash, b);
    if (sim->trace != NULL) {
        int64_t error = (int64_t)b;

        (void)fprintf(sim->trace, "%6" PRIu64 ".%09" PRIu64 "  ",
                      sim->now_ns / XS_SECOND_NS, sim->now_ns % XS_SECOND_NS);
        (void)fprintf(sim->trace, id != 0 ? "#%-3" PRIu64 : "    ", id);
        (void)fprintf(sim->trace, " %-16s %" PRIu64, what, a);
        if (error < 0 && error >= XS_EIO) {
            (void)fprintf(sim->trace, " %s\n", xs_error_name((int)error));
        } else {
            (void)fprintf(sim->trace, " %" PRIu64 "\n", b);
        }
    }
}

bool sim_fault(struct xs_sim *sim, enum xs_label label)
{
    return xs_fault(&sim->faults, sim->tape, label);
}

uint64_t sim_delay(struct xs_sim *sim, enum xs_label label)
{
    static const uint32_t delays_us[] = {1,     10,    100,    1000,
                                         10000, 50000, 200000, 1000000};

    return 1000 *
           (uint64_t)
               delays_us[xs_choose(sim->tape, label, XS_COUNT_OF(delays_us))];
}

void sim_progress(struct xs_sim *sim)
{
    sim->stats.idle_calls = 0;
}

void sim_kick(struct xs_sim *sim)
{
    if (!sim->running && !sim->kicked && sim->drive.kick != NULL) {
        sim->kicked = true;
        sim->drive.kick(sim->drive.user);
    }
}

/* life */

static void sim_init(struct xs_sim *sim, struct xs_tape *tape,
                     const struct xs_sim_options *options)
{
    sim->drive.ops = &sim_drive_ops;
    sim->drive.io = &sim->io;
    sim->io.ops = &sim_io_ops;
    sim->io.mem = &sim->mem;
    sim->mem.resize = sim_mem_resize;
    sim->tape = tape;
    sim->faults = options->faults;
    sim->trace = options->trace;
    sim->on_note = options->on_note;
    sim->on_idle = options->on_idle;
    sim->read = options->read;
    sim->user = options->user;
    sim->send_buffer =
        options->send_buffer > 0 ? options->send_buffer : SIM_BUFFER;
    sim->write_room = options->write_room > 0 ? options->write_room : 1;
    sim->recv_buffer =
        options->recv_buffer > 0 ? options->recv_buffer : SIM_BUFFER;
    sim->wall_ns = options->wall_ns;
    if (sim->wall_ns == 0) {
        /* Any phase of the second, and any second of some years. */
        sim->wall_ns = SIM_WALL_NS + xs_choose(tape, XS_LABEL_TIME_WALL, 1000) *
                                         UINT64_C(86414321987654);
    }
    sim->now_ns = SIM_START_NS;
    sim->wall_ns -= sim->now_ns;
    sim->rng = xs_choose(tape, XS_LABEL_RANDOM, UINT32_MAX);
    sim->alarm.fire = sim_on_alarm;
    xs_list_init(&sim->blocks);
    xs_list_init(&sim->links);
    xs_list_init(&sim->conns);
    xs_list_init(&sim->listeners);
    xs_list_init(&sim->ready);
    xs_list_init(&sim->changed);
}

int xs_sim_new(struct xs_drive **out, struct xs_tape *tape,
               const struct xs_sim_options *options)
{
    static const struct xs_sim_options usual;
    struct xs_sim *sim = calloc(1, sizeof *sim);

    XS_ASSERT(tape != NULL);
    if (sim == NULL) {
        return XS_ENOMEM;
    }
    if (sim_inbox_init(&sim->inbox) != 0) {
        free(sim);
        return XS_ENOMEM;
    }
    sim_init(sim, tape, options != NULL ? options : &usual);
    *out = &sim->drive;
    return 0;
}

void sim_free(struct xs_sim *sim)
{
    XS_ASSERT(!sim->running);
    while (!xs_list_empty(&sim->links)) {
        sim_link_free(xs_container_of(sim->links.next, struct sim_link, all));
    }
    while (!xs_list_empty(&sim->listeners)) {
        sim_unlisten(
            &xs_container_of(sim->listeners.next, struct sim_listener, all)
                 ->base);
    }
    while (!xs_list_empty(&sim->blocks)) {
        sim_mem_free(sim,
                     xs_container_of(sim->blocks.next, struct sim_block, all));
    }
    sim_inbox_fini(&sim->inbox);
    free(sim->heap);
    free(sim);
}

struct xs_sim *xs_sim_of_drive(struct xs_drive *drive)
{
    XS_ASSERT(drive->ops == &sim_drive_ops);
    return xs_container_of(drive, struct xs_sim, drive);
}

struct xs_io *xs_sim_io(struct xs_sim *sim)
{
    return &sim->io;
}

struct xs_tape *xs_sim_tape(struct xs_sim *sim)
{
    return sim->tape;
}

uint64_t xs_sim_now(const struct xs_sim *sim)
{
    return sim->now_ns;
}

const struct xs_sim_stats *xs_sim_stats(const struct xs_sim *sim)
{
    return &sim->stats;
}

uint64_t xs_sim_hash(const struct xs_sim *sim)
{
    return sim->hash;
}

void xs_sim_calm(struct xs_sim *sim)
{
    sim_event(sim, 0, "calm", 0, 0);
    xs_faults_none(&sim->faults);
}

bool sim_is_due(const struct xs_sim *sim)
{
    for (struct xs_list *link = sim->listeners.next; link != &sim->listeners;
         link = link->next) {
        struct sim_listener *listener =
            xs_container_of(link, struct sim_listener, all);

        if (listener->want && listener->waiting > 0) {
            return true;
        }
    }
    return sim->deferred || !xs_list_empty(&sim->ready) ||
           !xs_list_empty(&sim->changed);
}

bool xs_sim_idle(const struct xs_sim *sim)
{
    return sim->heap_count == 0 && !sim_is_due(sim);
}
