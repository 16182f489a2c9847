/* deadline.c - many deadlines, few durations, one alarm. */

#include "core/base/deadline.h"

#include "core/base/base.h"

void xs_deadlines_init(struct xs_deadlines *all)
{
    for (unsigned i = 0; i < XS_DEADLINE_LISTS_MAX; i++) {
        xs_list_init(&all->lists[i]);
        all->lasts_ns[i] = XS_NEVER;
    }
}

void xs_deadline_init(struct xs_deadline *deadline)
{
    xs_list_init(&deadline->link);
    deadline->at_ns = XS_NEVER;
}

void xs_deadline_arm(struct xs_deadlines *all, struct xs_deadline *deadline,
                     unsigned kind, uint64_t now_ns)
{
    XS_ASSERT(kind < XS_DEADLINE_LISTS_MAX);
    xs_list_remove(&deadline->link);
    deadline->at_ns = XS_NEVER;
    if (all->lasts_ns[kind] == XS_NEVER) {
        return;
    }
    deadline->at_ns = now_ns + all->lasts_ns[kind];
    xs_list_append(&all->lists[kind], &deadline->link);
}

void xs_deadline_disarm(struct xs_deadline *deadline)
{
    xs_list_remove(&deadline->link);
    deadline->at_ns = XS_NEVER;
}

static struct xs_deadline *deadline_first(const struct xs_deadlines *all,
                                          unsigned kind)
{
    const struct xs_list *list = &all->lists[kind];

    if (xs_list_empty(list)) {
        return NULL;
    }
    return xs_container_of(list->next, struct xs_deadline, link);
}

uint64_t xs_deadlines_next(const struct xs_deadlines *all)
{
    uint64_t next = XS_NEVER;

    for (unsigned i = 0; i < XS_DEADLINE_LISTS_MAX; i++) {
        const struct xs_deadline *first = deadline_first(all, i);
        if (first != NULL && first->at_ns < next) {
            next = first->at_ns;
        }
    }
    return next;
}

struct xs_deadline *xs_deadlines_due(struct xs_deadlines *all, uint64_t now_ns,
                                     unsigned *kind)
{
    for (unsigned i = 0; i < XS_DEADLINE_LISTS_MAX; i++) {
        struct xs_deadline *first = deadline_first(all, i);
        if (first != NULL && first->at_ns <= now_ns) {
            xs_deadline_disarm(first);
            *kind = i;
            return first;
        }
    }
    return NULL;
}
