/* sim.h - a backend in memory: virtual time, a kernel's rules, seeded faults.
 *
 * It implements io.h for the core and drive.h for the host; nothing in the
 * core can tell it from a real one. Time passes only inside `run`, and then it
 * jumps to the next moment at which something happens. Whatever could be
 * otherwise is asked of the tape, so the same tape gives the same run.
 *
 *      server (core)                            client (sim_peer.h)
 *     ──────────────                            ───────────────────
 *     recv    ◀── window ◀── on the way ◀── send buffer ◀── write
 *     writev  ──▶ send buffer ──▶ on the way ──▶ window ──▶ read
 *
 * It behaves like a kernel where servers get hurt: a full send buffer takes
 * nothing, what is not acknowledged is not the peer's, a connection closed
 * with unread input is reset and takes undelivered output with it, bytes that
 * reach a closed socket are answered with a reset.
 *
 * Real descriptors may be watched (drive.h); they are polled without waiting.
 * Only when nothing at all is planned in virtual time does `run` wait for them
 * or for a posted job in real time, and not for long. */

#ifndef XS_SIM_SIM_H
#define XS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/drive.h"
#include "core/io.h"
#include "sim/faults.h"
#include "sim/tape.h"

struct xs_sim;

/* The longest that `run` waits in real time. */
#define XS_SIM_REAL_WAIT_MS 100

/* All zero is nice weather and everything as usual. */
struct xs_sim_options {
    struct xs_faults faults; /* which happen, and how often */
    size_t send_buffer;      /* bytes of each send buffer; 0: 64 KiB */
    size_t recv_buffer;      /* bytes of each window; 0: 64 KiB */
    size_t write_room;       /* bytes that are free in a send buffer before
                              * WRITE is told; Linux has a third of it. 0: 1 */
    uint64_t wall_ns;        /* time of day at the start; 0: some day */
    FILE *trace;             /* borrowed: every event as a line; NULL: none */
    /* Each `note` of the core's; may be NULL. */
    void (*on_note)(void *user, const char *what, uint64_t a, uint64_t b);
    /* Nothing is left to do at this moment; time is about to pass. May be
     * NULL. It looks on, and calls nothing that changes anything. */
    void (*on_idle)(void *user);
    /* Read up to `len` > 0 bytes of a file that is sent: the number of bytes, 0
     * at its end, or XS_EIO. NULL: it is a descriptor of this process. */
    int64_t (*read)(void *user, int file, uint64_t offset, uint8_t *data,
                    size_t len);
    void *user; /* borrowed: for all of them */
};

/* What happened so far. */
struct xs_sim_stats {
    uint64_t recvs;       /* calls */
    uint64_t recv_bytes;  /* bytes they gave */
    uint64_t writevs;     /* calls, those of sendfile too */
    uint64_t write_bytes; /* bytes they took */
    uint64_t wants;       /* calls of want that changed something */
    uint64_t callbacks;   /* into the core */
    uint64_t idle_calls;  /* callbacks in a row at this instant after which the
                            * core had done nothing that helps */
    uint64_t idle_calls_most;
    uint64_t writes_blind; /* writev after AGAIN without being told */
    unsigned conns;        /* accepted and not closed by the server */
    unsigned links;        /* of which either end is open */
    size_t mem_bytes;      /* the core's memory in use */
    size_t mem_bytes_most;
    size_t mem_blocks;
    uint64_t mem_failed; /* allocations refused */
    uint64_t late_ns;    /* lateness of alarms and pauses, all together */
};

/* `*out` is the caller's until `(*out)->ops->free`, which takes what is left
 * of connections, peers and the core's memory with it. `tape` is borrowed
 * until then. `options` may be NULL.
 *
 * Errors: XS_ENOMEM */
XS_MUST_CHECK int xs_sim_new(struct xs_drive **out, struct xs_tape *tape,
                             const struct xs_sim_options *options);

/* The simulation behind it. */
struct xs_sim *xs_sim_of_drive(struct xs_drive *drive);

struct xs_io *xs_sim_io(struct xs_sim *sim);     /* borrowed */
struct xs_tape *xs_sim_tape(struct xs_sim *sim); /* borrowed */
uint64_t xs_sim_now(const struct xs_sim *sim);   /* virtual, ns */
const struct xs_sim_stats *xs_sim_stats(const struct xs_sim *sim);

/* A hash of every operation and its result so far. */
uint64_t xs_sim_hash(const struct xs_sim *sim);

/* No fault from now on; what was held back or lost in silence stays so. */
void xs_sim_calm(struct xs_sim *sim);

/* Nothing is ready and nothing is planned: `run` would have nothing to do. */
bool xs_sim_idle(const struct xs_sim *sim);

/* Something to happen at a moment of virtual time. Embedded in its owner's
 * struct and zeroed at first. */
struct xs_sim_timer {
    uint64_t at_ns;
    uint64_t order; /* of two at the same moment, who was set first */
    size_t slot;    /* place in the heap, from 1; 0: not set */
    void (*fire)(struct xs_sim_timer *timer); /* may set it again */
};

/* Fire at `at_ns`, or in the next `run` if that is past, whatever was set
 * before. Lends the timer until it fires or is stopped. */
void xs_sim_timer_set(struct xs_sim *sim, struct xs_sim_timer *timer,
                      uint64_t at_ns);
void xs_sim_timer_stop(struct xs_sim *sim, struct xs_sim_timer *timer);

#endif
