/* aside.h - fields besides those of a head, on their way from Python to the
 * core: see core/http1/aside.h. */

#ifndef XS_EXT_ASIDE_H
#define XS_EXT_ASIDE_H

#include "core/http1/aside.h"
#include "python/ext/python.h"

/* Fields that are said at once. */
#define EXT_ASIDE_FIELDS 64u

struct ext_aside {
    unsigned count;
    struct xs_field fields[EXT_ASIDE_FIELDS]; /* borrowed from `kept` */
    PyObject *kept[2 * EXT_ASIDE_FIELDS];     /* owned; of each field two */
};

static inline void ext_aside_init(struct ext_aside *aside)
{
    aside->count = 0;
}

/* Drop what is kept. */
void ext_aside_fini(struct ext_aside *aside);

/* Whether another one fits; -1 with an exception set that begins with
 * `what`. */
int ext_aside_room(const struct ext_aside *aside, const char *what);

/* Add a field. The slices are borrowed from `name` and `value`, which are
 * kept; `name` may be NULL: it is static. */
void ext_aside_add(struct ext_aside *aside, const struct xs_field *field,
                   PyObject *name, PyObject *value);

/* The core did not take them, and says why: raise it. ValueError for what is
 * not legal, which names the first field that is not and, if it is a field,
 * `rule`. Always -1. */
int ext_aside_raise(const struct ext_aside *aside, int err, const char *what,
                    bool (*may)(struct xs_slice name), const char *rule);

#endif
