/* uv_conn.c - a connection: system calls and what their errors mean. */

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/sys.h"
#include "io/uv_errno.h"
#include "io/uv_loop.h"

struct uv_conn {
    struct xs_io_conn base;
    struct xs_uv_fd fd;
    struct xs_uv_file file;
    unsigned wanted; /* by the core */
};

static struct uv_conn *conn_of(struct xs_io_conn *base)
{
    (void)xs_uv_of(base->io);
    return xs_container_of(base, struct uv_conn, base);
}

static void on_conn_ready(struct xs_uv_fd *fd, unsigned events)
{
    struct uv_conn *conn = xs_container_of(fd, struct uv_conn, fd);

    conn->base.on_ready(&conn->base, events);
}

/* What is polled: while a file is being fetched nothing can be written. */
static void conn_apply(struct uv_conn *conn)
{
    unsigned events = conn->wanted;

    if (conn->file.fetch != NULL) {
        events &= ~(unsigned)XS_IO_WRITE;
    }
    xs_uv_fd_want(&conn->fd, events);
}

static void on_conn_fetched(struct xs_uv_file *file)
{
    conn_apply(xs_container_of(file, struct uv_conn, file));
}

struct xs_io_conn *xs_uv_conn_new(struct xs_uv *uv)
{
    struct uv_conn *conn = xs_mem_new(&uv->mem, sizeof *conn);

    if (conn == NULL) {
        return NULL;
    }
    conn->base.io = &uv->io;
    return &conn->base;
}

void xs_uv_conn_free(struct xs_uv *uv, struct xs_io_conn *base)
{
    xs_mem_free(&uv->mem, conn_of(base));
}

int xs_uv_conn_open(struct xs_uv *uv, struct xs_io_conn *base, int fd)
{
    struct uv_conn *conn = conn_of(base);
    int err = xs_uv_fd_open(&conn->fd, uv, conn, fd);

    if (err != 0) {
        return XS_ENOMEM;
    }
    conn->fd.on_ready = on_conn_ready;
    conn->file.on_fetched = on_conn_fetched;
    return 0;
}

int64_t xs_uv_recv(struct xs_io_conn *base, uint8_t *data, size_t len)
{
    struct uv_conn *conn = conn_of(base);
    ssize_t n;

    XS_ASSERT(len > 0);
    do {
        n = recv(conn->fd.fd, data, len, 0);
    } while (n < 0 && errno == EINTR);
    return n >= 0 ? (int64_t)n : xs_uv_errno_recv(errno);
}

static ssize_t conn_sendmsg(int fd, const struct xs_slice *bytes,
                            unsigned count)
{
    struct iovec iov[XS_IO_SLICES];
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = count};

    for (unsigned i = 0; i < count; i++) {
        XS_ASSERT(bytes[i].len > 0);
        iov[i].iov_base = (void *)(uintptr_t)bytes[i].data;
        iov[i].iov_len = bytes[i].len;
    }
    return sendmsg(fd, &msg, xs_sys_send_flags);
}

int64_t xs_uv_writev(struct xs_io_conn *base, const struct xs_slice *bytes,
                     unsigned count)
{
    struct uv_conn *conn = conn_of(base);
    ssize_t n;

    XS_ASSERT(count >= 1);
    XS_ASSERT(count <= XS_IO_SLICES);
    do {
        if (count == 1) {
            XS_ASSERT(bytes->len > 0);
            n = send(conn->fd.fd, bytes->data, bytes->len, xs_sys_send_flags);
        } else {
            n = conn_sendmsg(conn->fd.fd, bytes, count);
        }
    } while (n < 0 && errno == EINTR);
    XS_ASSERT(n != 0);
    return n > 0 ? (int64_t)n : xs_uv_errno_send(errno);
}

int64_t xs_uv_sendfile(struct xs_io_conn *base, int file, uint64_t offset,
                       size_t len)
{
    struct uv_conn *conn = conn_of(base);
    struct xs_uv_range range = {file, offset, len};
    int64_t n;

    XS_ASSERT(len > 0);
    n = xs_uv_file_send(&conn->file, conn->fd.uv, conn->fd.fd, &range);
    conn_apply(conn);
    return n;
}

void xs_uv_want(struct xs_io_conn *base, unsigned events)
{
    struct uv_conn *conn = conn_of(base);

    conn->wanted = events;
    conn_apply(conn);
}

int64_t xs_uv_unacked(struct xs_io_conn *base)
{
    return xs_sys_unacked(conn_of(base)->fd.fd);
}

int xs_uv_shutdown_wr(struct xs_io_conn *base)
{
    if (shutdown(conn_of(base)->fd.fd, SHUT_WR) != 0) {
        return xs_uv_errno_send(errno);
    }
    return 0;
}

/* Rule 11: to close then is to reset, which a shutdown would come before. */
static bool conn_has_unread(int fd)
{
    int len = 0;

    return ioctl(fd, FIONREAD, &len) == 0 && len > 0;
}

/* Both fail for a unix socket, which knows no reset. */
static void conn_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    xs_sys_disconnect(fd);
}

void xs_uv_close(struct xs_io_conn *base, bool abort)
{
    struct uv_conn *conn = conn_of(base);
    int fd = conn->fd.fd;

    /* A process that the application has forked may hold the connection, too:
     * closing our descriptor would end nothing. */
    if (abort || conn_has_unread(fd)) {
        conn_reset(fd);
    } else {
        (void)shutdown(fd, SHUT_RDWR);
    }
    xs_uv_file_close(&conn->file);
    xs_uv_fd_close(&conn->fd);
    (void)close(fd);
}
