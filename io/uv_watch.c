/* uv_watch.c - the host's descriptors in the same poll. */

#include <fcntl.h>
#include <unistd.h>

#include "io/uv_errno.h"
#include "io/uv_loop.h"

struct uv_watch {
    struct xs_uv_fd fd;
    struct xs_watch *watch; /* borrowed until it is ended */
    int own;                /* owned: what is polled */
};

static void on_watch_ready(struct xs_uv_fd *fd, unsigned events)
{
    struct uv_watch *self = xs_container_of(fd, struct uv_watch, fd);

    self->watch->on_ready(self->watch, events);
}

/* A descriptor of our own for what the host watches: if the host closes its
 * one without a word, libuv does not abort, and the number is not polled under
 * two names when a connection gets it next.
 *
 * libuv makes what it polls non-blocking. This one is the host's, and maybe
 * shared with other processes (a terminal): it stays as it was. */
static int watch_open_fd(struct uv_watch *self, struct xs_uv *uv, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    int err;

    if (flags < 0) {
        return XS_EINVALID;
    }
    self->own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (self->own < 0) {
        return XS_EMFILE;
    }
    err = xs_uv_fd_open(&self->fd, uv, self, self->own);
    if ((flags & O_NONBLOCK) == 0) {
        (void)fcntl(fd, F_SETFL, flags);
    }
    if (err != 0) {
        (void)close(self->own);
    }
    return err;
}

static int watch_open(struct xs_uv *uv, struct xs_watch *watch)
{
    struct uv_watch *self = xs_mem_new(&uv->mem, sizeof *self);
    int err;

    if (self == NULL) {
        return XS_ENOMEM;
    }
    err = watch_open_fd(self, uv, watch->fd);
    if (err != 0) {
        xs_mem_free(&uv->mem, self);
        return err;
    }
    self->watch = watch;
    self->fd.on_ready = on_watch_ready;
    watch->backend = self;
    return 0;
}

int xs_uv_watch(struct xs_drive *drive, struct xs_watch *watch, unsigned events)
{
    struct uv_watch *self = watch->backend;
    int err;

    XS_ASSERT((events & ~((unsigned)XS_IO_READ | XS_IO_WRITE)) == 0);
    if (events == 0) {
        if (self != NULL) {
            int own = self->own;
            watch->backend = NULL;
            xs_uv_fd_close(&self->fd);
            (void)close(own);
        }
        return 0;
    }
    if (self == NULL) {
        err = watch_open(xs_uv_of_drive(drive), watch);
        if (err != 0) {
            return err;
        }
        self = watch->backend;
    }
    xs_uv_fd_want(&self->fd, events);
    return 0;
}
