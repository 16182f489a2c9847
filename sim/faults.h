/* faults.h - which faults a run has, and how often.
 *
 * Faults are data. A test that wants one fault writes its chance here; a
 * campaign draws all of them for each run ("swarm"): every fault is off in
 * half of the runs, for a fault that is always on hides the bugs behind it,
 * and those that end connections early are all off in at least half. */

#ifndef XS_SIM_FAULTS_H
#define XS_SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/label.h"
#include "sim/tape.h"

/* Per fault the chance in 100 that it happens when it could. */
struct xs_faults {
    uint8_t percent[XS_LABEL_COUNT];
};

/* No fault ever. */
void xs_faults_none(struct xs_faults *faults);

/* Draw the faults of a run. Memory does not fail. */
void xs_faults_draw(struct xs_faults *faults, struct xs_tape *tape);

/* Whether the fault `label` happens now. */
static inline bool xs_fault(const struct xs_faults *faults,
                            struct xs_tape *tape, enum xs_label label)
{
    uint8_t percent = faults->percent[label];

    return percent != 0 &&
           xs_flip(tape, label, (struct xs_ratio){percent, 100});
}

#endif
