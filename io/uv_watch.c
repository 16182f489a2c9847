/* uv_watch.c - the host's descriptors in the same poll. */

#include <fcntl.h>

#include "io/uv_errno.h"
#include "io/uv_loop.h"

struct uv_watch {
    struct xs_uv_fd fd;
    struct xs_watch *watch; /* borrowed until it is ended */
};

static void on_watch_ready(struct xs_uv_fd *fd, unsigned events)
{
    struct uv_watch *self = xs_container_of(fd, struct uv_watch, fd);

    self->watch->on_ready(self->watch, events);
}

/* libuv makes what it polls non-blocking. This one is the host's, and maybe
 * shared with other processes (a terminal): it stays as it was. */
static int watch_open_fd(struct uv_watch *self, struct xs_uv *uv, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    int err;

    if (flags < 0) {
        return XS_EINVALID;
    }
    err = xs_uv_fd_open(&self->fd, uv, self, fd);
    if ((flags & O_NONBLOCK) == 0) {
        (void)fcntl(fd, F_SETFL, flags);
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
            watch->backend = NULL;
            xs_uv_fd_close(&self->fd);
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
