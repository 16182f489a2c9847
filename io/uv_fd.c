/* uv_fd.c - one descriptor in libuv's poll.
 *
 *     want ──▶ wanted, link in uv->changed
 *                  │ before the wait
 *                  ▼
 *              armed = wanted, uv_poll_start
 *                  │ the kernel says so
 *                  ▼
 *              on_poll ──▶ on_ready(events that are wanted by now)
 *
 * libuv takes a descriptor out of the poll and puts it back for every
 * uv_poll_start: two system calls. Interest that is dropped and taken up again
 * in the same turn never gets there. */

#include "io/uv_errno.h"
#include "io/uv_loop.h"

static int fd_to_uv(unsigned events)
{
    return ((events & XS_IO_READ) != 0 ? UV_READABLE : 0) |
           ((events & XS_IO_WRITE) != 0 ? UV_WRITABLE : 0) |
           ((events & XS_IO_HANGUP) != 0 ? UV_DISCONNECT : 0);
}

static unsigned fd_of_uv(int events)
{
    return ((events & UV_READABLE) != 0 ? (unsigned)XS_IO_READ : 0u) |
           ((events & UV_WRITABLE) != 0 ? (unsigned)XS_IO_WRITE : 0u) |
           ((events & UV_DISCONNECT) != 0 ? (unsigned)XS_IO_HANGUP : 0u);
}

static void fd_changed(struct xs_uv_fd *self)
{
    if (xs_list_empty(&self->link)) {
        xs_list_append(&self->uv->changed, &self->link);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct xs_uv_fd *self = xs_container_of(poll, struct xs_uv_fd, poll);
    struct xs_uv *uv = self->uv;
    unsigned told;

    if (status < 0) {
        /* An error waits in the socket, and libuv has stopped polling. Any
         * call will find it: tell all that is wanted. */
        self->armed = 0;
        fd_changed(self);
        told = self->wanted;
    } else {
        told = fd_of_uv(events) & self->wanted;
    }
    if (told == 0) {
        return;
    }
    xs_uv_enter(uv);
    self->on_ready(self, told);
    xs_uv_leave(uv);
}

int xs_uv_fd_open(struct xs_uv_fd *self, struct xs_uv *uv, void *block, int fd)
{
    int err = uv_poll_init(&uv->loop, &self->poll, fd);

    if (err != 0) {
        return err == UV_ENOMEM || err == UV_ENOSPC ? XS_ENOMEM : XS_EINVALID;
    }
    self->uv = uv;
    self->block = block;
    self->fd = fd;
    self->wanted = 0;
    self->armed = 0;
    xs_list_init(&self->link);
    uv->open++;
    return 0;
}

void xs_uv_fd_want(struct xs_uv_fd *self, unsigned events)
{
    XS_ASSERT((events & ~7u) == 0);
    if (events == self->wanted) {
        return;
    }
    self->wanted = events;
    fd_changed(self);
    xs_uv_changed(self->uv);
}

void xs_uv_fd_apply(struct xs_uv *uv)
{
    for (;;) {
        struct xs_list *link = xs_list_pop(&uv->changed);
        struct xs_uv_fd *self;
        int err;

        if (link == NULL) {
            return;
        }
        self = xs_container_of(link, struct xs_uv_fd, link);
        if (self->armed == self->wanted) {
            continue;
        }
        err = uv_poll_start(&self->poll, fd_to_uv(self->wanted), on_poll);
        XS_ASSERT(err == 0);
        self->armed = self->wanted;
    }
}

static void on_closed(uv_handle_t *handle)
{
    uv_poll_t *poll = (uv_poll_t *)handle;
    struct xs_uv_fd *self = xs_container_of(poll, struct xs_uv_fd, poll);

    XS_ASSERT(self->uv->closing > 0);
    self->uv->closing--;
    xs_mem_free(&self->uv->mem, self->block);
}

void xs_uv_fd_close(struct xs_uv_fd *self)
{
    struct xs_uv *uv = self->uv;

    XS_ASSERT(uv->open > 0);
    uv->open--;
    self->wanted = 0;
    xs_list_remove(&self->link);
    uv_close((uv_handle_t *)&self->poll, on_closed);
    uv->closing++;
    xs_uv_changed(uv);
}
