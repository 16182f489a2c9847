/* io.h - what a backend must do: the contract downwards.
 *
 * The core knows no operating system. It is told that a socket is readable or
 * writable, and then calls `recv` and `writev`, which may do less than asked.
 * What is left over, how long to wait and when to give up is the core's
 * business; that is why the same core can run on a simulation.
 *
 *     backend                              core
 *     -------                              ----
 *     io->on_alarm(io)                     deadlines
 *     io->on_defer(io)                     last thing before the backend blocks
 *     listener->on_ready(listener)    -->  accept() until XS_EAGAIN
 *     conn->on_ready(conn, events)    -->  recv(), writev(), want(), close()
 *
 * The rules. Each has a test in tests/contract that runs on every backend.
 *
 *   1. One thread. Every call and every callback is on the thread that runs
 *      the backend, except `post`, which any thread may call.
 *   2. No re-entry. No call runs a callback before it returns.
 *   3. Borrowed for the call. Bytes given to `recv` and `writev`, and the spec
 *      given to `listen`, are not touched after the call returns.
 *   4. Short is normal. `writev` may take any prefix but never none, `recv`
 *      may give any prefix but none only at the end of the stream. Readiness
 *      may be spurious: after an event a call may still say XS_EAGAIN.
 *   5. Close ends it. After `close` (or `unlisten`) returns nothing arrives
 *      for that object, and its memory is gone.
 *   6. Interest is level-triggered: while it is wanted and true, `on_ready`
 *      comes again. What is not wanted is not told. A new connection wants
 *      nothing. `want` may be called in any state, with any subset, any number
 *      of times, also inside `on_ready`.
 *   7. A peer that resets is told to whoever wants any event; one that only
 *      ends its stream (FIN) to whoever wants READ or HANGUP. It is told as
 *      HANGUP, as READ (and `recv` then says 0 or an error), or both: bytes
 *      that came before the FIN are readable still.
 *   8. Time is monotonic and the same all through one callback. `clock` is
 *      not before it and goes on.
 *   9. One alarm. `alarm` replaces the one set before. It is never early, may
 *      be late, fires once.
 *  10. `defer` gives one `on_defer` after the present callback and before the
 *      backend blocks; several calls before it comes give one. A call made
 *      inside `on_defer` gives one more before the backend blocks.
 *  11. `close` without abort hands what was written to the peer, if it still
 *      lives, and then ends the stream; with abort it resets. A close with
 *      bytes of the peer's unread resets too, and output may be lost with it.
 *  12. `post` runs the job once, on the backend's thread, in the order of
 *      posting, and wakes a blocked backend for it.
 *  13. Errors are those of error.h and no others; no signal (SIGPIPE) comes.
 *  14. After XS_ERESET or XS_EPIPE from `writev`, `recv` may still give bytes
 *      that had arrived; after XS_ERESET from `recv` the connection is dead.
 *      A reset is told once, by either: then `recv` says 0, `writev` XS_EPIPE.
 *  15. Nothing is lost between the calls: bytes arrive in order, once, and
 *      what `writev` took reaches the peer in order unless it dies.
 *  16. `sendfile` is a `writev` whose bytes are in a file: it takes any prefix,
 *      and what rules 4, 14 and 15 say of `writev` holds for it. It never waits
 *      for a disk. What is not in memory is fetched meanwhile: it says
 *      XS_EAGAIN, or takes less, and WRITE is then told when the bytes have
 *      come and the socket takes some. Only a call that would take the first
 *      byte says that the file has ended or cannot be read. The descriptor is
 *      not touched after the call returns: who fetches has one of its own. */

#ifndef XS_IO_H
#define XS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/error.h"
#include "core/base/mem.h"
#include "core/base/slice.h"

struct xs_io;
struct xs_io_conn;
struct xs_io_listener;

enum xs_io_event {
    XS_IO_READ = 1,   /* `recv` would give something, an end or an error */
    XS_IO_WRITE = 2,  /* `writev`, or a `sendfile` that was to wait, would take
                       * something or give an error */
    XS_IO_HANGUP = 4, /* the peer has ended its stream or reset */
};

/* Room for the path of a unix socket and its NUL: sun_path of the systems. */
#define XS_IO_HOST_MAX 112

/* One end of a connection, in text that needs no resolver. */
struct xs_io_addr {
    char host[XS_IO_HOST_MAX]; /* "127.0.0.1", "::1", or of a unix socket: our
                                * path, "" if it has none; "" for a peer */
    uint16_t port;             /* 0 for a unix socket */
    bool is_unix;
};

/* Where to listen: a descriptor that listens already (and is the backend's
 * from then on), or a numeric address. */
struct xs_io_spec {
    int fd;           /* >= 0: this socket; -1: bind to host and port */
    const char *host; /* borrowed: numeric */
    uint16_t port;    /* 0: any free one; see xs_io_listener.local */
    int backlog;
};

/* A job for the backend's thread. */
struct xs_io_job {
    void (*run)(struct xs_io_job *job); /* called once; may free the job */
    struct xs_io_job *next;             /* the backend's */
};

struct xs_io_ops {
    /* Time: monotonic ns. */
    uint64_t (*now)(struct xs_io *io);
    /* Time of day: ns since 1970, UTC. For Date and logs only. */
    uint64_t (*wall)(struct xs_io *io);
    /* Time that goes on inside a callback, too: not before what `now` has
     * said. For durations in logs only. */
    uint64_t (*clock)(struct xs_io *io);
    /* Call `on_alarm` at `at_ns`; UINT64_MAX: do not. */
    void (*alarm)(struct xs_io *io, uint64_t at_ns);
    /* Call `on_defer` before blocking. */
    void (*defer)(struct xs_io *io);

    /* Listen. `*out` is the backend's until `unlisten`; it accepts at once.
     *
     * Errors: XS_EADDRINUSE, XS_EACCESS, XS_EINVALID, XS_EMFILE, XS_ENOMEM,
     *   XS_EIO. On an error a descriptor is still the caller's. */
    int (*listen)(struct xs_io *io, struct xs_io_listener **out,
                  const struct xs_io_spec *spec);
    /* Take a waiting connection. `*out` is the backend's until `close`; the
     * caller sets its `on_ready` and `user` before it returns.
     *
     * Errors:
     *   XS_EAGAIN    none waits
     *   XS_EABORTED  that one is gone: ask again
     *   XS_EMFILE    no descriptors: pause, ask again later
     *   XS_ENOMEM    likewise */
    int (*accept)(struct xs_io_listener *listener, struct xs_io_conn **out);
    /* Whether to be told of waiting connections; true at first. */
    void (*accept_want)(struct xs_io_listener *listener, bool want);
    /* Stop listening; connections that nobody accepted are refused. */
    void (*unlisten)(struct xs_io_listener *listener);

    /* Read up to `len` > 0 bytes. The number of bytes, 0 at the end, or
     *   XS_EAGAIN  nothing is there now
     *   XS_ERESET  the peer reset */
    int64_t (*recv)(struct xs_io_conn *conn, uint8_t *data, size_t len);
    /* Write. 1 <= count <= XS_IO_SLICES, no slice is empty. The number of
     * bytes taken, > 0, or
     *   XS_EAGAIN           nothing fits now: want WRITE and wait
     *   XS_EPIPE, XS_ERESET the peer is gone */
    int64_t (*writev)(struct xs_io_conn *conn, const struct xs_slice *bytes,
                      unsigned count);
    /* Write the `len` > 0 bytes of the regular file `file` from `offset` on
     * (rule 16). The number of bytes taken, or
     *   0                   the file ends at `offset`, or before it
     *   XS_EAGAIN           nothing fits, or is in memory, now: want WRITE and
     *                       wait
     *   XS_EIO              the file cannot be read
     *   XS_EPIPE, XS_ERESET the peer is gone */
    int64_t (*sendfile)(struct xs_io_conn *conn, int file, uint64_t offset,
                        size_t len);
    /* Be told of these events (a set of xs_io_event), and no others. */
    void (*want)(struct xs_io_conn *conn, unsigned events);
    /* Bytes written that the peer has not acknowledged, or XS_EUNKNOWN. */
    int64_t (*unacked)(struct xs_io_conn *conn);
    /* End our direction of the stream; reading goes on.
     *
     * Errors: XS_ERESET, XS_EPIPE: the peer is gone. */
    int (*shutdown_wr)(struct xs_io_conn *conn);
    /* Detach now (rule 5); `abort`: reset instead of ending (rule 11). */
    void (*close)(struct xs_io_conn *conn, bool abort);

    /* Fill `data` with random bytes. */
    void (*random)(struct xs_io *io, uint8_t *data, size_t len);
    /* Run `job` on the backend's thread. Any thread. Lends `job` until run. */
    void (*post)(struct xs_io *io, struct xs_io_job *job);
    /* An event for the trace: a static name and two numbers. May be NULL. */
    void (*note)(struct xs_io *io, const char *what, uint64_t a, uint64_t b);
};

/* The most slices that one `writev` takes. */
#define XS_IO_SLICES 64u

/* Embedded first in the backend's own struct. */
struct xs_io {
    const struct xs_io_ops *ops; /* static */
    struct xs_mem *mem;          /* borrowed: where all memory comes from */

    /* Set by the core before anything can arrive. */
    void (*on_alarm)(struct xs_io *io);
    void (*on_defer)(struct xs_io *io);
    void *user; /* borrowed: the server */
};

struct xs_io_listener {
    struct xs_io *io;        /* borrowed */
    struct xs_io_addr local; /* fixed by `listen` */

    /* Set by the core: a connection waits (rule 6). */
    void (*on_ready)(struct xs_io_listener *listener);
    void *user; /* borrowed */
};

struct xs_io_conn {
    struct xs_io *io;        /* borrowed */
    struct xs_io_addr peer;  /* fixed by `accept` */
    struct xs_io_addr local; /* fixed by `accept` */

    /* Set by the core. */
    void (*on_ready)(struct xs_io_conn *conn, unsigned events);
    void *user; /* borrowed */
};

/* A note, if the backend wants any. */
static inline void xs_io_note(struct xs_io *io, const char *what, uint64_t a,
                              uint64_t b)
{
    if (io->ops->note != NULL) {
        io->ops->note(io, what, a, b);
    }
}

#endif
