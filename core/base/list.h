/* list.h - a doubly linked list whose links live in what they link.
 *
 * A list is a ring with a head that holds nothing. A link that is in no list
 * points at itself, so it may be removed again. */

#ifndef XS_BASE_LIST_H
#define XS_BASE_LIST_H

#include <stdbool.h>

struct xs_list {
    struct xs_list *next; /* borrowed */
    struct xs_list *prev; /* borrowed */
};

static inline void xs_list_init(struct xs_list *list)
{
    list->next = list;
    list->prev = list;
}

/* For a list: it holds nothing. For a link: it is in no list. */
static inline bool xs_list_empty(const struct xs_list *list)
{
    return list->next == list;
}

/* Take `link` out of the list that it is in, if any. */
static inline void xs_list_remove(struct xs_list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    xs_list_init(link);
}

/* Put `link`, which is in no list, at the end. */
static inline void xs_list_append(struct xs_list *list, struct xs_list *link)
{
    link->prev = list->prev;
    link->next = list;
    list->prev->next = link;
    list->prev = link;
}

/* Take out the first link; NULL if there is none. */
static inline struct xs_list *xs_list_pop(struct xs_list *list)
{
    struct xs_list *link = list->next;

    if (link == list) {
        return (struct xs_list *)0;
    }
    xs_list_remove(link);
    return link;
}

/* Move everything in `from` to the end of `to`. `from` is empty afterwards. */
static inline void xs_list_splice(struct xs_list *to, struct xs_list *from)
{
    if (xs_list_empty(from)) {
        return;
    }
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    xs_list_init(from);
}

#endif
