/* explore.h - all runs that there are, each once.
 *
 * What may vary in a run is what it asks the tape (tape.h), so its runs are the
 * leaves of a tree. They are visited depth first: the choices of the last run
 * again, up to the last one that can still be raised; that one raised; zeros
 * from there on.
 *
 *     struct xs_explore explore = {.runs = 0};
 *
 *     while (xs_explore_next(&explore, &tape)) {
 *         ... one run, which ends after a bounded number of choices ...
 *     }
 *     xs_explore_fini(&explore);
 *
 * The first run is that of zeros. A run may depend on nothing but the tape: one
 * that asks other things when its choices are the same stops the program. */

#ifndef XS_SIM_EXPLORE_H
#define XS_SIM_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/tape.h"

struct xs_explore {
    struct xs_choice
        *choices; /* owned: those that the present run begins with */
    size_t count;
    size_t cap;
    uint64_t runs; /* begun so far */
};

/* Start `tape` for the next run; false when there is none left. `explore` is
 * zeroed at first, and nobody else starts the tape in between. */
bool xs_explore_next(struct xs_explore *explore, struct xs_tape *tape);

/* Accepts a zeroed one. May be called before the last run. */
void xs_explore_fini(struct xs_explore *explore);

#endif
