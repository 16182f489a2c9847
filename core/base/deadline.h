/* deadline.h - many deadlines, few durations, one alarm.
 *
 * Every deadline of one kind lasts equally long, so a list in the order of
 * arming is a list in the order of firing: to arm, re-arm and disarm is to
 * move one link. No deadline has a timer of its own; the earliest of the
 * lists' first ones is what the backend is asked to wake us for. */

#ifndef XS_BASE_DEADLINE_H
#define XS_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"

#define XS_NEVER UINT64_MAX
#define XS_DEADLINE_LISTS_MAX 8

struct xs_deadline {
    struct xs_list link; /* xs_deadlines.lists[] */
    uint64_t at_ns;      /* when it fires; XS_NEVER while disarmed */
};

struct xs_deadlines {
    struct xs_list lists[XS_DEADLINE_LISTS_MAX]; /* xs_deadline.link */
    uint64_t lasts_ns[XS_DEADLINE_LISTS_MAX];    /* XS_NEVER: switched off */
};

/* No list has a duration yet: all are off. */
void xs_deadlines_init(struct xs_deadlines *all);

void xs_deadline_init(struct xs_deadline *deadline);

/* Fire `lasts_ns[kind]` after `now_ns`, whatever was armed before. If the kind
 * is off, this disarms. */
void xs_deadline_arm(struct xs_deadlines *all, struct xs_deadline *deadline,
                     unsigned kind, uint64_t now_ns);

void xs_deadline_disarm(struct xs_deadline *deadline);

static inline bool xs_deadline_armed(const struct xs_deadline *deadline)
{
    return deadline->at_ns != XS_NEVER;
}

/* When the earliest one fires; XS_NEVER if none is armed. */
uint64_t xs_deadlines_next(const struct xs_deadlines *all);

/* Take out one that is due at `now_ns` (disarmed by this), the kind in
 * `kind`; NULL if none is due. */
struct xs_deadline *xs_deadlines_due(struct xs_deadlines *all, uint64_t now_ns,
                                     unsigned *kind);

#endif
