/* check_conn.c - the rules about listeners and connections. */

#include "io/check_inside.h"

#define CHECK_EVENTS ((unsigned)(XS_IO_READ | XS_IO_WRITE | XS_IO_HANGUP))

struct check_listener {
    struct xs_check_part part;
    struct xs_io_listener base;
    struct xs_io_listener *inner; /* the backend's until unlisten */
    bool wanted;
};

struct check_conn {
    struct xs_check_part part;
    struct xs_io_conn base;
    struct xs_io_conn *inner; /* the backend's until close */
    unsigned wanted;
    bool is_shut; /* shutdown_wr was called */
    bool is_end;  /* recv has said 0 */
    bool is_dead; /* recv has said XS_ERESET */
};

static struct check_listener *listener_of(struct xs_io_listener *base)
{
    struct check_listener *listener =
        xs_container_of(base, struct check_listener, base);

    (void)xs_check_of(base->io);
    XS_ASSERT(!listener->part.is_closed); /* io.h, rule 5 */
    return listener;
}

static struct check_conn *conn_of(struct xs_io_conn *base)
{
    struct check_conn *conn = xs_container_of(base, struct check_conn, base);

    (void)xs_check_of(base->io);
    XS_ASSERT(!conn->part.is_closed); /* io.h, rule 5 */
    return conn;
}

/* Called for a listener or connection that the core may have closed in it. */
static void on_listener(struct xs_io_listener *inner)
{
    struct check_listener *listener = inner->user;
    struct xs_check *check = xs_check_of(listener->base.io);

    XS_ASSERT(!listener->part.is_closed); /* io.h, rule 5 */
    XS_ASSERT(listener->wanted);          /* io.h, rule 6 */
    xs_check_enter(check);
    listener->base.on_ready(&listener->base);
    xs_check_leave(check);
}

static void on_conn(struct xs_io_conn *inner, unsigned events)
{
    struct check_conn *conn = inner->user;
    struct xs_check *check = xs_check_of(conn->base.io);

    XS_ASSERT(!conn->part.is_closed); /* io.h, rule 5 */
    XS_ASSERT(events != 0);           /* io.h, rule 6 */
    XS_ASSERT((events & ~conn->wanted) == 0);
    xs_check_enter(check);
    conn->base.on_ready(&conn->base, events);
    xs_check_leave(check);
}

static bool listen_is_legal(int err)
{
    return err == 0 || err == XS_EADDRINUSE || err == XS_EACCESS ||
           err == XS_EINVALID || err == XS_EMFILE || err == XS_ENOMEM ||
           err == XS_EIO;
}

int xs_check_listen(struct xs_io *io, struct xs_io_listener **out,
                    const struct xs_io_spec *spec)
{
    struct xs_check *check = xs_check_of(io);
    struct check_listener *listener = xs_mem_new(&check->mem, sizeof *listener);
    int err;

    XS_ASSERT(listener != NULL);
    xs_check_call(check);
    err =
        check->inner->io->ops->listen(check->inner->io, &listener->inner, spec);
    xs_check_called(check);
    XS_ASSERT(listen_is_legal(err));
    if (err != 0) {
        xs_mem_free(&check->mem, listener);
        return err;
    }
    listener->inner->on_ready = on_listener;
    listener->inner->user = listener;
    listener->base.io = io;
    listener->base.local = listener->inner->local;
    listener->wanted = true;
    xs_check_open(check, &listener->part);
    *out = &listener->base;
    return 0;
}

static bool accept_is_legal(int err)
{
    return err == 0 || err == XS_EAGAIN || err == XS_EABORTED ||
           err == XS_EMFILE || err == XS_ENOMEM;
}

int xs_check_accept(struct xs_io_listener *base, struct xs_io_conn **out)
{
    struct check_listener *listener = listener_of(base);
    struct xs_check *check = xs_check_of(base->io);
    struct check_conn *conn = xs_mem_new(&check->mem, sizeof *conn);
    int err;

    XS_ASSERT(conn != NULL);
    xs_check_call(check);
    err = check->inner->io->ops->accept(listener->inner, &conn->inner);
    xs_check_called(check);
    XS_ASSERT(accept_is_legal(err));
    if (err != 0) {
        xs_mem_free(&check->mem, conn);
        return err;
    }
    XS_ASSERT(conn->inner->io == check->inner->io);
    conn->inner->on_ready = on_conn;
    conn->inner->user = conn;
    conn->base.io = base->io;
    conn->base.peer = conn->inner->peer;
    conn->base.local = conn->inner->local;
    xs_check_open(check, &conn->part);
    *out = &conn->base;
    return 0;
}

void xs_check_accept_want(struct xs_io_listener *base, bool want)
{
    struct check_listener *listener = listener_of(base);
    struct xs_check *check = xs_check_of(base->io);

    xs_check_call(check);
    listener->wanted = want;
    check->inner->io->ops->accept_want(listener->inner, want);
    xs_check_called(check);
}

void xs_check_unlisten(struct xs_io_listener *base)
{
    struct check_listener *listener = listener_of(base);
    struct xs_check *check = xs_check_of(base->io);

    xs_check_call(check);
    check->inner->io->ops->unlisten(listener->inner);
    xs_check_called(check);
    xs_check_close(check, &listener->part);
}

int64_t xs_check_recv(struct xs_io_conn *base, uint8_t *data, size_t len)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);
    int64_t n;

    XS_ASSERT(data != NULL);
    XS_ASSERT(len > 0);
    xs_check_call(check);
    n = check->inner->io->ops->recv(conn->inner, data, len);
    xs_check_called(check);
    if (n < 0) {
        XS_ASSERT(n == XS_EAGAIN || n == XS_ERESET);
    }
    XS_ASSERT(n <= (int64_t)len);
    XS_ASSERT(n <= 0 || !conn->is_end);
    XS_ASSERT(n <= 0 || !conn->is_dead); /* io.h, rule 14 */
    XS_ASSERT(n != XS_EAGAIN || !conn->is_end);
    conn->is_end = conn->is_end || n == 0;
    conn->is_dead = conn->is_dead || n == XS_ERESET;
    return n;
}

int64_t xs_check_writev(struct xs_io_conn *base, const struct xs_slice *bytes,
                        unsigned count)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);
    size_t total = 0;
    int64_t n;

    XS_ASSERT(count >= 1);
    XS_ASSERT(count <= XS_IO_SLICES);
    XS_ASSERT(!conn->is_shut);
    for (unsigned i = 0; i < count; i++) {
        XS_ASSERT(bytes[i].data != NULL);
        XS_ASSERT(bytes[i].len > 0);
        total += bytes[i].len;
    }
    xs_check_call(check);
    n = check->inner->io->ops->writev(conn->inner, bytes, count);
    xs_check_called(check);
    if (n < 0) {
        XS_ASSERT(n == XS_EAGAIN || n == XS_EPIPE || n == XS_ERESET);
    }
    XS_ASSERT(n != 0); /* io.h, rule 4 */
    XS_ASSERT(n <= (int64_t)total);
    return n;
}

int64_t xs_check_sendfile(struct xs_io_conn *base, int file, uint64_t offset,
                          size_t len)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);
    int64_t n;

    XS_ASSERT(file >= 0);
    XS_ASSERT(len > 0);
    XS_ASSERT(offset <= INT64_MAX - len);
    XS_ASSERT(!conn->is_shut);
    xs_check_call(check);
    n = check->inner->io->ops->sendfile(conn->inner, file, offset, len);
    xs_check_called(check);
    if (n < 0) {
        XS_ASSERT(n == XS_EAGAIN || n == XS_EPIPE || n == XS_ERESET ||
                  n == XS_EIO);
    }
    XS_ASSERT(n <= (int64_t)len); /* io.h, rule 16 */
    return n;
}

void xs_check_want(struct xs_io_conn *base, unsigned events)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);

    XS_ASSERT((events & ~CHECK_EVENTS) == 0);
    xs_check_call(check);
    conn->wanted = events;
    check->inner->io->ops->want(conn->inner, events);
    xs_check_called(check);
}

int64_t xs_check_unacked(struct xs_io_conn *base)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);
    int64_t n;

    xs_check_call(check);
    n = check->inner->io->ops->unacked(conn->inner);
    xs_check_called(check);
    XS_ASSERT(n >= 0 || n == XS_EUNKNOWN);
    return n;
}

int xs_check_shutdown_wr(struct xs_io_conn *base)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);
    int err;

    xs_check_call(check);
    err = check->inner->io->ops->shutdown_wr(conn->inner);
    xs_check_called(check);
    XS_ASSERT(err == 0 || err == XS_ERESET || err == XS_EPIPE);
    conn->is_shut = true;
    return err;
}

void xs_check_close_conn(struct xs_io_conn *base, bool abort)
{
    struct check_conn *conn = conn_of(base);
    struct xs_check *check = xs_check_of(base->io);

    xs_check_call(check);
    check->inner->io->ops->close(conn->inner, abort);
    xs_check_called(check);
    xs_check_close(check, &conn->part);
}
