/* sink.h - a backend for one connection, whose every answer is a choice.
 *
 * The simulator (sim/sim.h) is a world with many faults at a time, each by its
 * chance. This is the other end: one connection, no network, no time that
 * passes by itself, and so few choices that all of them can be tried.
 *
 *   - a write takes all, or so much and no more until `sink_writable`;
 *   - a file has ended or cannot be read; an allocation fails;
 *   - all else happens when the holder says so: bytes come, the client ends or
 *     resets, time passes until the alarm.
 *
 * How often it may be unkind in a run is set by the holder. It keeps the rules
 * of io.h; interest is level-triggered, and what is true is told at once. */

#ifndef XS_TESTS_SIM_SINK_H
#define XS_TESTS_SIM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "core/io.h"
#include "sim/oracle.h"
#include "sim/sim_peer.h"
#include "sim/tape.h"

/* What the core hands over in one piece is cut at every offset if it is small;
 * else at those that are near to one of its ends. */
#define SINK_SMALL ((size_t)128)
#define SINK_EDGE ((size_t)8)

struct sink {
    struct xs_io base; /* must be first */
    struct xs_mem mem;
    struct xs_io_listener listener;
    struct xs_io_conn conn;

    /* Set by the holder before `sink_connect`. */
    struct xs_tape *tape;       /* borrowed */
    struct xs_verdict *verdict; /* borrowed */
    struct xs_sim_tap *tap;     /* borrowed; `accepted` is not called */
    void (*on_note)(void *user, const char *what, uint64_t b);
    /* Likewise in xs_sim_options. */
    int64_t (*read)(void *user, int file, uint64_t offset, uint8_t *data,
                    size_t len);
    void *user;       /* borrowed: for both */
    unsigned cuts;    /* writes that may yet take less than all */
    uint64_t cut_at;  /* they take at least the first so many bytes */
    bool cut_between; /* they take something */
    bool cut_far;     /* anywhere, also in large pieces */
    unsigned kills;   /* failures that may yet happen; the holder counts his */

    /* Written only by sink.c. */
    bool waits;    /* to be accepted */
    bool open;     /* accepted and not closed */
    bool full;     /* takes nothing until `sink_writable` */
    bool ended;    /* our stream is */
    bool shut;     /* and that by shutdown_wr */
    bool fin;      /* the client has ended its side */
    bool dead;     /* reset */
    bool told;     /* and somebody has heard of it */
    bool starved;  /* an allocation has failed */
    bool deferred; /* on_defer is due */
    unsigned wanted;
    struct xs_slice in; /* borrowed: has come, and was not read */
    uint64_t taken;     /* bytes */
    uint64_t now_ns;
    uint64_t alarm_ns;
};

/* No connection yet. It is used by one server for all its life. */
void sink_init(struct sink *sink);

/* Whether a failure happens now: one of those that may yet. */
bool sink_kills(struct sink *sink, enum xs_label label);

/* What happens, and what the server does about it until it would block. */
void sink_connect(struct sink *sink);
/* `bytes` are borrowed until they are read; those before have been. */
void sink_arrive(struct sink *sink, struct xs_slice bytes);
void sink_fin(struct sink *sink);
void sink_reset(struct sink *sink);
void sink_writable(struct sink *sink);
/* Somebody has called the core by himself. */
void sink_settle(struct sink *sink);
/* Time passes until the alarm; false: none is set. */
bool sink_alarm(struct sink *sink);

#endif
