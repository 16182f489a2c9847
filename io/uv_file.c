/* uv_file.c - a range of a file on its way into a socket.
 *
 *     what is in memory     ──▶ sendfile, on the loop's thread
 *     what may not be       ──▶ read once by a thread of libuv's, which leaves
 *                               it in memory; then WRITE is told
 *
 * Nothing says for certain that sendfile will not wait for a disk. The system
 * is asked for a few bytes of each part, and what was just read counts as
 * there. A part that is thrown out of memory in between is waited for: rare,
 * and short.
 *
 * A fetch has a descriptor of its own and outlives its connection. */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/sys.h"
#include "io/uv_errno.h"
#include "io/uv_loop.h"

/* What is asked for, and fetched, at a time: what a network of 1 Gbit/s takes
 * in 2 ms. */
#define FILE_PART ((size_t)256 * 1024)

/* What is read at a time. */
#define FILE_READ ((size_t)32 * 1024)

/* While it runs the other thread has all but `file`, which is the loop's. */
struct uv_fetch {
    uv_work_t work;
    struct xs_uv *uv;         /* borrowed */
    struct xs_uv_file *file;  /* borrowed; NULL: nobody waits any more */
    struct xs_uv_range range; /* `file` of it is owned */
    int error;                /* XS_EIO, or 0 */
};

static void on_fetch(uv_work_t *work)
{
    struct uv_fetch *fetch = xs_container_of(work, struct uv_fetch, work);
    const struct xs_uv_range *range = &fetch->range;
    uint8_t data[FILE_READ];
    size_t done = 0;

    while (done < range->len) {
        size_t len = range->len - done;
        ssize_t n = pread(range->file, data, len < FILE_READ ? len : FILE_READ,
                          (off_t)(range->offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            fetch->error = n < 0 ? XS_EIO : 0;
            return;
        }
        done += (size_t)n;
    }
}

static void on_fetched(uv_work_t *work, int status)
{
    struct uv_fetch *fetch = xs_container_of(work, struct uv_fetch, work);
    struct xs_uv_file *file = fetch->file;

    (void)status; /* it is cancelled only for those who do not wait */
    (void)close(fetch->range.file);
    if (file != NULL) {
        file->fetch = NULL;
        file->from = fetch->range.offset;
        file->to = fetch->range.offset + fetch->range.len;
        file->error = fetch->error;
        file->on_fetched(file);
    }
    xs_mem_free(&fetch->uv->mem, fetch);
}

/* False if it cannot be. */
static bool file_fetch(struct xs_uv_file *self, struct xs_uv *uv,
                       const struct xs_uv_range *range)
{
    struct uv_fetch *fetch = xs_mem_new(&uv->mem, sizeof *fetch);
    int err;

    if (fetch == NULL) {
        return false;
    }
    fetch->uv = uv;
    fetch->file = self;
    fetch->range = *range;
    fetch->range.file = fcntl(range->file, F_DUPFD_CLOEXEC, 0);
    if (fetch->range.file < 0) {
        xs_mem_free(&uv->mem, fetch);
        return false;
    }
    err = uv_queue_work(&uv->loop, &fetch->work, on_fetch, on_fetched);
    XS_ASSERT(err == 0);
    self->fetch = fetch;
    return true;
}

/* How much of the range can be sent without waiting. */
static size_t file_resident(const struct xs_uv_file *self,
                            const struct xs_uv_range *range)
{
    if (range->offset == self->from && self->from < self->to) {
        uint64_t known = self->to - range->offset;
        return known < range->len ? (size_t)known : range->len;
    }
    return xs_sys_resident(range->file, range->offset, range->len);
}

/* For files that the system cannot send by itself. */
static ssize_t file_copy(int fd, const struct xs_uv_range *range)
{
    uint8_t data[FILE_READ];
    size_t len = range->len < FILE_READ ? range->len : FILE_READ;
    ssize_t n = pread(range->file, data, len, (off_t)range->offset);

    return n <= 0 ? n : send(fd, data, (size_t)n, xs_sys_send_flags);
}

static int64_t file_write(int fd, const struct xs_uv_range *range)
{
    ssize_t n;

    do {
        n = xs_sys_sendfile(fd, range->file, range->offset, range->len);
        if (n < 0 &&
            (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
            n = file_copy(fd, range);
        }
    } while (n < 0 && errno == EINTR);
    return n >= 0 ? (int64_t)n : xs_uv_errno_sendfile(errno);
}

/* One part. Fewer bytes than asked for: there is no use in another one. */
static int64_t file_send_part(struct xs_uv_file *self, struct xs_uv *uv, int fd,
                              struct xs_uv_range range)
{
    size_t ready = file_resident(self, &range);
    int64_t n;

    if (ready == 0 && file_fetch(self, uv, &range)) {
        return XS_EAGAIN;
    }
    if (ready > 0) {
        range.len = ready;
    } /* else it comes late, for want of memory or descriptors */
    n = file_write(fd, &range);
    if (n > 0 && range.offset == self->from) {
        self->from += (uint64_t)n; /* known once: the next file is another */
    }
    return n;
}

int64_t xs_uv_file_send(struct xs_uv_file *self, struct xs_uv *uv, int fd,
                        const struct xs_uv_range *range)
{
    struct xs_uv_range part = *range;
    size_t done = 0;

    if (self->fetch != NULL) {
        return XS_EAGAIN;
    }
    if (self->error != 0 && self->from == range->offset) {
        return self->error;
    }
    while (done < range->len) {
        int64_t n;
        part.offset = range->offset + done;
        part.len = range->len - done;
        part.len = part.len < FILE_PART ? part.len : FILE_PART;
        n = file_send_part(self, uv, fd, part);
        if (n <= 0) {
            return done > 0 ? (int64_t)done : n;
        }
        done += (size_t)n;
    }
    return (int64_t)done;
}

void xs_uv_file_close(struct xs_uv_file *self)
{
    if (self->fetch != NULL) {
        self->fetch->file = NULL;
        (void)uv_cancel((uv_req_t *)&self->fetch->work);
        self->fetch = NULL;
    }
}
