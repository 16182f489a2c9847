/* explore.c - all runs that there are, each once. */

#include "sim/explore.h"

#include <stdlib.h>
#include <string.h>

/* What the run that has just ended has asked. */
static void explore_take(struct xs_explore *explore, const struct xs_tape *tape)
{
    XS_ASSERT(!tape->misaligned);
    XS_ASSERT(!tape->record_full);
    XS_ASSERT(tape->record_count >= explore->count);
    if (tape->record_count > explore->cap) {
        free(explore->choices);
        explore->cap = tape->record_cap;
        explore->choices = malloc(explore->cap * sizeof *explore->choices);
        XS_ASSERT(explore->choices != NULL);
    }
    if (tape->record_count > 0) {
        memcpy(explore->choices, tape->record,
               tape->record_count * sizeof *explore->choices);
    }
    explore->count = tape->record_count;
}

bool xs_explore_next(struct xs_explore *explore, struct xs_tape *tape)
{
    if (explore->runs > 0) {
        explore_take(explore, tape);
        if (!xs_tape_next(explore->choices, &explore->count)) {
            return false;
        }
    }
    xs_tape_start_replay(tape, explore->choices, explore->count);
    explore->runs++;
    return true;
}

void xs_explore_fini(struct xs_explore *explore)
{
    free(explore->choices);
    memset(explore, 0, sizeof *explore);
}
