/* faults.c - which faults a run has, and how often. */

#include "sim/faults.h"

#include <string.h>

/* In 100: roughly equal steps on a logarithmic scale. */
static const uint8_t faults_ratios[] = {1, 2, 4, 8, 15, 30, 60};

void xs_faults_none(struct xs_faults *faults)
{
    memset(faults, 0, sizeof *faults);
}

/* Faults that are drawn by name, not for whole runs. */
static bool faults_can_draw(enum xs_label label)
{
    enum xs_label_class class = xs_label_class(label);

    return label != XS_LABEL_MEM_FAIL && class != XS_CLASS_PLAN;
}

void xs_faults_draw(struct xs_faults *faults, struct xs_tape *tape)
{
    const struct xs_ratio half = {1, 2};
    bool may_kill;

    xs_faults_none(faults);
    if (!xs_flip(tape, XS_LABEL_SWARM_ON, (struct xs_ratio){15, 16})) {
        return; /* a run in nice weather, now and then */
    }
    may_kill = xs_flip(tape, XS_LABEL_SWARM_KILL, (struct xs_ratio){2, 5});
    for (unsigned i = 0; i < XS_LABEL_COUNT; i++) {
        enum xs_label label = (enum xs_label)i;
        bool kills = xs_label_class(label) == XS_CLASS_KILL;
        uint32_t ratio;
        bool on;

        if (!faults_can_draw(label)) {
            continue;
        }
        /* Both are always drawn, so that a fault can be taken out of a tape
         * without moving all that follows. A run with many kills would be a
         * run with nothing else. */
        on = xs_flip(tape, XS_LABEL_SWARM_ON, half);
        ratio = xs_choose(tape, XS_LABEL_SWARM_RATIO,
                          kills ? 4 : (uint32_t)sizeof faults_ratios);
        if (on && (may_kill || !kills)) {
            faults->percent[label] = faults_ratios[ratio];
        }
    }
}
