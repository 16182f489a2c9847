/* uv_loop.h - the inside of the libuv backend.
 *
 * libuv polls; everything else happens in `run`, in this order:
 *
 *     the alarm, if it is due
 *     on_defer, if it was asked for
 *     changed interest is given to libuv         (uv_fd.c)
 *     block()
 *     uv_run: wait, then on_ready / jobs         (uv_fd.c, uv_post.c)
 *     wake()
 *     on_defer, if it was asked for
 *
 * libuv's one timer only ends the wait. So interest, alarm and defer are
 * fields until the moment before the wait: to set them costs nothing, and to
 * set them back costs nothing either.
 *
 * Whoever calls the core or the host does so between `xs_uv_enter` and
 * `xs_uv_leave`. */

#ifndef XS_IO_UV_LOOP_H
#define XS_IO_UV_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "core/base/base.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/drive.h"
#include "core/io.h"

/* With `lock`: the jobs that other threads have posted. */
struct xs_uv_inbox {
    uv_mutex_t lock;
    struct xs_io_job *first; /* borrowed until run */
    struct xs_io_job **last; /* where the next one goes */
};

struct xs_uv {
    struct xs_drive drive;
    struct xs_io io;
    struct xs_mem mem;
    uv_loop_t loop;
    uv_timer_t timer; /* ends the wait */
    uv_async_t async; /* ends the wait for a job */
    struct xs_uv_inbox inbox;

    /* Written by uv_fd.c. */
    struct xs_list changed; /* xs_uv_fd.link: wanted is not armed */
    unsigned open;          /* descriptors being polled, or about to be */
    unsigned closing;       /* closed ones whose memory libuv still has */

    /* Written only by uv_loop.c. */
    uint64_t now_ns;   /* of the present callback; 0: not asked for yet */
    uint64_t alarm_ns; /* XS_NEVER: none */
    uint64_t timer_ms; /* what the timer is set to; XS_NEVER: stopped */
    bool deferred;     /* on_defer is due */
    bool inside;       /* a callback is running */
    bool running;      /* `run` is */
    bool blocked;      /* between block() and wake() */
    bool kicked;       /* kick() was called since the last `run` */
};

/* A descriptor in the poll. Part of a connection, a listener or a watch. */
struct xs_uv_fd {
    uv_poll_t poll;
    struct xs_uv *uv;    /* borrowed */
    struct xs_list link; /* xs_uv.changed */
    void *block;         /* owned: what this is part of */
    int fd;
    unsigned wanted; /* a set of xs_io_event */
    unsigned armed;  /* what libuv was told */
    /* Called with some of what is wanted. */
    void (*on_ready)(struct xs_uv_fd *fd, unsigned events);
};

/* uv_loop.c */

/* Around every call of a callback. */
void xs_uv_enter(struct xs_uv *uv);
void xs_uv_leave(struct xs_uv *uv);
/* Something has changed that only `run` can make true. */
void xs_uv_changed(struct xs_uv *uv);
/* The backend behind its face. */
struct xs_uv *xs_uv_of(struct xs_io *io);
struct xs_uv *xs_uv_of_drive(struct xs_drive *drive);

/* uv_post.c */

int xs_uv_inbox_init(struct xs_uv *uv);
void xs_uv_inbox_fini(struct xs_uv *uv);
void xs_uv_post(struct xs_io *io, struct xs_io_job *job);

/* uv_fd.c: the only file that knows how libuv polls. */

/* Poll `fd`, wanting nothing yet. `block`, from uv->mem and zeroed, holds
 * `self` and is taken.
 *
 * Errors: XS_EINVALID it cannot be polled, XS_ENOMEM */
XS_MUST_CHECK int xs_uv_fd_open(struct xs_uv_fd *self, struct xs_uv *uv,
                                void *block, int fd);
/* Be told of `events`. Costs nothing until the backend waits. */
void xs_uv_fd_want(struct xs_uv_fd *self, unsigned events);
/* Poll no more; nothing is told from now on. The descriptor remains open,
 * `block` is freed when libuv lets it go. */
void xs_uv_fd_close(struct xs_uv_fd *self);
/* Give what has changed to libuv. */
void xs_uv_fd_apply(struct xs_uv *uv);

/* uv_file.c */

/* A range of a file. */
struct xs_uv_range {
    int file;
    uint64_t offset;
    size_t len;
};

struct uv_fetch;

/* What a connection knows of the file that it sends. All zero at first. */
struct xs_uv_file {
    struct uv_fetch *fetch; /* uv_file.c's; NULL: nothing is being fetched */
    uint64_t from;          /* what was fetched and not yet sent: up to `to` */
    uint64_t to;
    int error; /* XS_EIO: or it cannot be read */
    /* A fetch has ended. On the loop's thread, not in a callback. */
    void (*on_fetched)(struct xs_uv_file *file);
};

/* Send to the socket `fd`, or begin to fetch: see xs_io_ops.sendfile. */
int64_t xs_uv_file_send(struct xs_uv_file *self, struct xs_uv *uv, int fd,
                        const struct xs_uv_range *range);
/* Nothing is told any more. */
void xs_uv_file_close(struct xs_uv_file *self);

/* uv_listen.c, uv_conn.c, uv_watch.c */

int xs_uv_listen(struct xs_io *io, struct xs_io_listener **out,
                 const struct xs_io_spec *spec);
int xs_uv_accept(struct xs_io_listener *listener, struct xs_io_conn **out);
void xs_uv_accept_want(struct xs_io_listener *listener, bool want);
void xs_uv_unlisten(struct xs_io_listener *listener);

/* A connection that is not accepted yet; NULL if there is no memory. */
struct xs_io_conn *xs_uv_conn_new(struct xs_uv *uv);
void xs_uv_conn_free(struct xs_uv *uv, struct xs_io_conn *conn);
/* It is the descriptor `fd`. On an error `fd` and `conn` are the caller's
 * still. Errors: XS_ENOMEM */
XS_MUST_CHECK int xs_uv_conn_open(struct xs_uv *uv, struct xs_io_conn *conn,
                                  int fd);

int64_t xs_uv_recv(struct xs_io_conn *conn, uint8_t *data, size_t len);
int64_t xs_uv_writev(struct xs_io_conn *conn, const struct xs_slice *bytes,
                     unsigned count);
int64_t xs_uv_sendfile(struct xs_io_conn *conn, int file, uint64_t offset,
                       size_t len);
void xs_uv_want(struct xs_io_conn *conn, unsigned events);
int64_t xs_uv_unacked(struct xs_io_conn *conn);
int xs_uv_shutdown_wr(struct xs_io_conn *conn);
void xs_uv_close(struct xs_io_conn *conn, bool abort);

int xs_uv_watch(struct xs_drive *drive, struct xs_watch *watch,
                unsigned events);

#endif
