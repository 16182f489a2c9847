/* bridge.h - where the core's world and Python's meet: the GIL and errors.
 *
 * The thread that runs a backend holds the GIL all the time but while it is
 * blocked: it is let go right before the poll and taken again once per
 * wake-up, not per callback. No other file takes or releases it. */

#ifndef XS_EXT_BRIDGE_H
#define XS_EXT_BRIDGE_H

#include "core/drive.h"
#include "python/ext/python.h"

/* Let go of the GIL while `drive` blocks. `*saved` is the bridge's until the
 * drive is freed. */
void ext_bridge_attach(struct xs_drive *drive, PyThreadState **saved);

/* Set the exception for an XS_E... code, `what` in front of its text. An
 * OSError but for XS_ENOMEM and XS_EINVALID. Always -1. GIL held. */
int ext_raise(int err, const char *what);

/* Let go of the GIL to wait for something that is not the backend, and take it
 * again. Each thread by itself; in pairs. */
PyThreadState *ext_gil_release(void);
void ext_gil_take(PyThreadState *thread);

/* An exception has nowhere to go: tell sys.unraisablehook, with `object` as
 * where it came from. None is set afterwards. KeyboardInterrupt goes on, too:
 * see report.h. GIL held. */
void ext_unraisable(PyObject *object);

/* Call `callable` (NULL: nobody) without arguments, from the core or from the
 * middle of anything: an exception that is set stays set, and what the call
 * raises goes to sys.unraisablehook. GIL held. */
void ext_notify(PyObject *callable);

#endif
