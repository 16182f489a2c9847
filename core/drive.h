/* drive.h - what a backend offers to whoever runs it.
 *
 * io.h is what the core asks of a backend; this is what the host program asks:
 * run once, tell when you would block, watch a descriptor of mine. The core
 * itself never includes it.
 *
 * A host either drives (`run` with a timeout, for ever again) or is a guest in
 * a loop of somebody else (`fd` is watched there; when it is readable, when
 * `next` has passed, and after each `kick`, `run` with 0).
 *
 * The rules:
 *   1. `run` waits at most `timeout_ns` (rounded up to what the system can
 *      wait: 1 ms) for something to happen, runs the callbacks that are due,
 *      and returns; with 0 it never blocks. It may return early. It returns
 *      soon after a callback has run, and does not wait in between.
 *   2. `on_defer` (io.h) runs inside `run`, before it would block or return.
 *   3. `block` is called right before the thread blocks and `wake` before
 *      anything else is called afterwards, always in pairs; not at all when
 *      nothing would block.
 *   4. `kick` is called when something outside `run` (a `want`, `alarm`,
 *      `defer`, `close`) needs a `run` soon; once until the next `run`. */

#ifndef XS_DRIVE_H
#define XS_DRIVE_H

#include <stdint.h>

#include "core/base/base.h"
#include "core/io.h"

struct xs_drive;

/* A descriptor of the host's, watched in the same poll. */
struct xs_watch {
    int fd;
    /* A set of XS_IO_READ and XS_IO_WRITE; level-triggered. */
    void (*on_ready)(struct xs_watch *watch, unsigned events);
    void *user;    /* the host's */
    void *backend; /* the backend's; NULL while not watched */
};

struct xs_drive_ops {
    /* 0, or XS_EIO if the system's poll failed. */
    int (*run)(struct xs_drive *drive, uint64_t timeout_ns);
    /* Watch for `events`, or for others than before; 0 ends it, at once.
     * Lends `watch` until then. End it before the descriptor is closed.
     *
     * Errors: XS_EINVALID the descriptor cannot be polled; XS_EMFILE,
     *   XS_ENOMEM */
    int (*watch)(struct xs_drive *drive, struct xs_watch *watch,
                 unsigned events);
    /* A descriptor that is readable when `run` has work, or -1: cannot. */
    int (*fd)(struct xs_drive *drive);
    /* ns from now until `run` wants to be called; XS_NEVER: not by time. */
    uint64_t (*next)(struct xs_drive *drive);
    /* All connections, listeners and watches are closed. */
    void (*free)(struct xs_drive *drive);
};

/* Embedded in the backend's own struct. */
struct xs_drive {
    const struct xs_drive_ops *ops; /* static */
    struct xs_io *io;               /* owned: part of the backend */

    /* Set by the host; any may be NULL. */
    void (*block)(void *user);
    void (*wake)(void *user);
    void (*kick)(void *user);
    void *user; /* borrowed */
};

#endif
