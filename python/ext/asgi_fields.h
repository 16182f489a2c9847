/* asgi_fields.h - what asyncio.Task.__init__ puts into a task.
 *
 * Unbound methods, asyncio.Task.cancel(task), and other C code reach a task's
 * fields without asking it for an attribute. So that they find a pending task
 * in an object whose __init__ has not been called, it is filled with what
 * that would have put there: a reference to each of `enum asgi_field`, and
 * zeroes.
 *
 * Where they go is no API. It is read off a real task: each of them must be
 * there exactly once, and nothing else. If that isn't so, this Python's tasks
 * are different, and nothing is ever filled. */

#ifndef XS_EXT_ASGI_FIELDS_H
#define XS_EXT_ASGI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "python/ext/python.h"

enum asgi_field {
    ASGI_FIELD_LOOP,
    ASGI_FIELD_CORO,
    ASGI_FIELD_CONTEXT,
    ASGI_FIELD_NAME,
    ASGI_FIELD_COUNT,
};

/* Of a type: in words from the object's begin. */
struct asgi_fields {
    size_t at[ASGI_FIELD_COUNT];
    size_t end; /* of all that the type has */
};

/* Look at a task of `type`, asyncio.Task. 1: `fields` are found. 0: they are
 * not as we know them. -1 with an exception set. `tasks` is asyncio.tasks. */
int asgi_fields_find(struct asgi_fields *fields, PyTypeObject *type,
                     PyObject *tasks);

/* Put `values` into a task that is all zeroes; each gets a reference. */
void asgi_fields_fill(const struct asgi_fields *fields, PyObject *task,
                      PyObject *const *values);

/* Take them out again. */
void asgi_fields_empty(const struct asgi_fields *fields, PyObject *task);

/* Whether it is still as filled with `values`. */
bool asgi_fields_untouched(const struct asgi_fields *fields, PyObject *task,
                           PyObject *const *values);

/* What is in it, borrowed. */
PyObject *asgi_fields_get(const struct asgi_fields *fields, PyObject *task,
                          enum asgi_field field);

#endif
