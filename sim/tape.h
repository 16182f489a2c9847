/* tape.h - one labelled tape of choices for everything that may vary.
 *
 * Whatever in a simulation could be otherwise (a short read, a delay, what a
 * client sends) is a choice: a number below a bound, made under a label. The
 * choices in their order are the tape, and the tape is the run: the same tape
 * gives the same run, to the byte.
 *
 *     source                     choice               record
 *     ------                     ------               ------
 *     seed, bytes, a record  --> 0 <= value < bound --> (label, bound, value)
 *
 * Zero is always the benign choice, and a source that has ended gives zeros:
 * a short tape, a shrunk tape and an empty one are all runs that end. With a
 * seed, the n-th choice under a label depends on nothing but the seed, the
 * label and n, so one more choice here does not reshuffle all others.
 *
 * A record is replayed, dumped, cut, shrunk, or turned into its successor for
 * an exhaustive search (`xs_tape_next`). */

#ifndef XS_SIM_TAPE_H
#define XS_SIM_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/slice.h"
#include "sim/label.h"

/* A run that makes more choices than this gets zeros from there on. */
#define XS_TAPE_MAX ((size_t)1 << 20)

/* A chance of num in den. */
struct xs_ratio {
    uint32_t num;
    uint32_t den;
};

struct xs_choice {
    uint32_t value;
    uint32_t bound;
    enum xs_label label;
};

enum xs_tape_source {
    XS_TAPE_ZERO,   /* nice weather */
    XS_TAPE_SEED,   /* pseudo-random */
    XS_TAPE_BYTES,  /* a fuzzer's bytes */
    XS_TAPE_REPLAY, /* a record */
};

struct xs_tape {
    /* Fixed when the tape is started. */
    enum xs_tape_source source;
    uint64_t seed;
    struct xs_slice lanes[XS_LANE_COUNT]; /* borrowed */
    const struct xs_choice *replay;       /* borrowed */
    size_t replay_count;

    /* Written only by tape.c. */
    size_t at;                     /* choices replayed */
    size_t lane_at[XS_LANE_COUNT]; /* bytes used */
    bool misaligned;  /* a replayed choice had another label or bound */
    size_t misfit_at; /* the first one that had */
    uint64_t drawn[XS_LABEL_COUNT]; /* choices drawn from the seed */

    /* What was chosen so far. */
    struct xs_choice *record; /* owned */
    size_t record_count;
    size_t record_cap;
    bool record_full; /* XS_TAPE_MAX, or out of memory: zeros follow */

    /* Over all runs since `init`: how often asked, how often not zero. */
    uint64_t asked[XS_LABEL_COUNT];
    uint64_t fired[XS_LABEL_COUNT];
};

/* A tape of zeros. */
void xs_tape_init(struct xs_tape *tape);
/* Accepts a zeroed tape. */
void xs_tape_fini(struct xs_tape *tape);

/* Begin another run with this source. Forgets the record, keeps its memory
 * and the counts. */
void xs_tape_start_zero(struct xs_tape *tape);
void xs_tape_start_seed(struct xs_tape *tape, uint64_t seed);
/* Borrows the bytes of the lanes until the next start. */
void xs_tape_start_bytes(struct xs_tape *tape,
                         const struct xs_slice lanes[XS_LANE_COUNT]);
/* Borrows `choices`, which is not `tape->record`, until the next start. */
void xs_tape_start_replay(struct xs_tape *tape, const struct xs_choice *choices,
                          size_t count);

/* A number below `bound` > 0. */
uint32_t xs_choose(struct xs_tape *tape, enum xs_label label, uint32_t bound);

/* True with the chance `ratio`. Records 0 or 1, not the roll. */
bool xs_flip(struct xs_tape *tape, enum xs_label label, struct xs_ratio ratio);

/* A size from 0 to `max`, most often a small one, `max`, or close to it. */
uint32_t xs_size(struct xs_tape *tape, enum xs_label label, uint32_t max);

/* How many bytes make a choice below `bound`, low byte first: the value, or
 * for a flip 0 never and 255 always. */
unsigned xs_tape_width(uint32_t bound);

/* Copy the record; owned by the caller, to be freed with `free`. NULL if there
 * is no memory or nothing was chosen. */
struct xs_choice *xs_tape_dump(const struct xs_tape *tape, size_t *count);

/* Make of the `*count` choices of a finished run the ones to replay next in an
 * exhaustive search; false when there are none left. */
bool xs_tape_next(struct xs_choice *choices, size_t *count);

/* The next number of a pseudo-random sequence (splitmix64). For what is no
 * choice, as the bytes of `random`. */
uint64_t xs_rng_next(uint64_t *state);

#endif
