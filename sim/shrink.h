/* shrink.h - a failing run with fewer choices that are not benign.
 *
 * A run is its choices, and zero is the benign one. So to shrink is to set
 * choices to zero, many at a time and then few, and to lower what is left, as
 * long as the run still fails in the same way. Choices that a shorter run no
 * longer asks for fall off its end. */

#ifndef XS_SIM_SHRINK_H
#define XS_SIM_SHRINK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"
#include "sim/tape.h"

struct xs_shrink {
    struct xs_choice *choices; /* owned by the caller; changed in place */
    size_t count;
    /* Whether a run with these still fails in the same way. */
    bool (*fails)(void *user, const struct xs_choice *choices, size_t count);
    void *user;    /* borrowed */
    unsigned runs; /* made so far */
    unsigned runs_max;
};

/* Shrink as far as it goes within `runs_max` runs. */
void xs_shrink(struct xs_shrink *shrink);

/* How many choices are not benign. */
size_t xs_shrink_weight(const struct xs_choice *choices, size_t count);

#endif
