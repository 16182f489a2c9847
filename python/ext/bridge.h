/* bridge.h - where the core's world and Python's meet: the GIL and errors.
 *
 * The thread that runs a backend holds the GIL all the time but while it is
 * blocked: it is let go right before the poll and taken again once per
 * wake-up, not per callback. Nothing else in the extension takes or releases
 * it for the core. */

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

/* An exception has nowhere to go: tell sys.unraisablehook, with `object` as
 * where it came from. None is set afterwards. GIL held. */
void ext_unraisable(PyObject *object);

#endif
