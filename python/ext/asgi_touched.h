/* asgi_touched.h - what was done to a task that is none yet.
 *
 * By unbound methods, on the fields of asgi_fields.h: a name, callbacks,
 * cancellations. Task.__init__ forgets them, so they are done again. */

#ifndef XS_EXT_ASGI_TOUCHED_H
#define XS_EXT_ASGI_TOUCHED_H

#include <stdbool.h>

#include "python/ext/python.h"

struct asgi_touched {
    PyObject *name;      /* owned */
    PyObject *callbacks; /* owned: a list of (function, context), or None */
    PyObject *message;   /* owned: of the cancellation */
    long cancels;
    bool uncancelled; /* that often, but it will be raised */
};

/* Before __init__: see what is in `task`. -1 with an exception set. Either way
 * asgi_touched_fini follows, which accepts a zeroed one. */
int asgi_touched_save(struct asgi_touched *touched, PyObject *task);
void asgi_touched_fini(struct asgi_touched *touched);

/* After it: do the same to `task`, but for its name, which __init__ takes. -1
 * with an exception set. */
int asgi_touched_redo(const struct asgi_touched *touched, PyObject *task);

#endif
