/* uv_listen.c - listening, and taking connections. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/sys.h"
#include "io/uv_addr.h"
#include "io/uv_errno.h"
#include "io/uv_loop.h"

struct uv_listener {
    struct xs_io_listener base;
    struct xs_uv_fd fd;
    bool any_address; /* each connection has a local address of its own */
};

static struct uv_listener *listener_of(struct xs_io_listener *base)
{
    (void)xs_uv_of(base->io);
    return xs_container_of(base, struct uv_listener, base);
}

static void on_listener_ready(struct xs_uv_fd *fd, unsigned events)
{
    struct uv_listener *listener = xs_container_of(fd, struct uv_listener, fd);

    (void)events;
    listener->base.on_ready(&listener->base);
}

/* A socket bound to `spec`, or one of listen's errors. */
static int listen_bind(const struct xs_io_spec *spec)
{
    struct sockaddr_storage addr;
    socklen_t len;
    int on = 1;
    int fd;
    int err = xs_uv_addr_parse(&addr, &len, spec->host, spec->port);

    if (err != 0) {
        return err;
    }
    fd = xs_sys_socket(addr.ss_family);
    if (fd < 0) {
        return xs_uv_errno_listen(errno);
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (addr.ss_family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    if (bind(fd, (struct sockaddr *)&addr, len) != 0) {
        err = xs_uv_errno_listen(errno);
        (void)close(fd);
        return err;
    }
    return fd;
}

/* Let `fd` listen if it does not yet. Only stream sockets can. */
static int listen_start(int fd, int backlog)
{
    int listens = 0;
    socklen_t len = sizeof listens;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 &&
        listens != 0) {
        return 0;
    }
    if (listen(fd, backlog > 0 ? backlog : SOMAXCONN) != 0) {
        return xs_uv_errno_listen(errno);
    }
    return 0;
}

static int listener_new(struct xs_uv *uv, struct xs_io_listener **out, int fd)
{
    struct uv_listener *listener = xs_mem_new(&uv->mem, sizeof *listener);
    int err;

    if (listener == NULL) {
        return XS_ENOMEM;
    }
    err = xs_uv_fd_open(&listener->fd, uv, listener, fd);
    if (err != 0) {
        xs_mem_free(&uv->mem, listener);
        return err;
    }
    listener->base.io = &uv->io;
    listener->any_address = xs_uv_addr_local(&listener->base.local, fd);
    listener->fd.on_ready = on_listener_ready;
    if (!listener->base.local.is_unix) {
        xs_sys_tune_listener(fd);
    }
    /* Programs that the application starts do not inherit it. */
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    xs_uv_fd_want(&listener->fd, XS_IO_READ);
    *out = &listener->base;
    return 0;
}

int xs_uv_listen(struct xs_io *io, struct xs_io_listener **out,
                 const struct xs_io_spec *spec)
{
    int fd = spec->fd >= 0 ? spec->fd : listen_bind(spec);
    int err;

    if (fd < 0) {
        return fd;
    }
    err = listen_start(fd, spec->backlog);
    if (err == 0) {
        err = listener_new(xs_uv_of(io), out, fd);
    }
    if (err != 0 && fd != spec->fd) {
        (void)close(fd);
    }
    return err;
}

/* The memory comes first: a connection that was taken cannot be put back. */
int xs_uv_accept(struct xs_io_listener *base, struct xs_io_conn **out)
{
    struct uv_listener *listener = listener_of(base);
    struct xs_uv *uv = listener->fd.uv;
    struct xs_io_conn *conn = xs_uv_conn_new(uv);
    struct sockaddr_storage addr;
    socklen_t len = sizeof addr;
    int err;
    int fd;

    if (conn == NULL) {
        return XS_ENOMEM;
    }
    addr.ss_family = AF_UNSPEC;
    fd = xs_sys_accept(listener->fd.fd, &addr, &len);
    if (fd < 0) {
        err = xs_uv_errno_accept(errno);
        xs_uv_conn_free(uv, conn);
        return err;
    }
    err = xs_uv_conn_open(uv, conn, fd);
    if (err != 0) {
        xs_uv_conn_free(uv, conn);
        (void)close(fd);
        return err;
    }
    conn->local = base->local;
    if (base->local.is_unix) {
        conn->peer.is_unix = true;
    } else {
        xs_uv_addr_format(&conn->peer, &addr);
    }
    if (listener->any_address) {
        (void)xs_uv_addr_local(&conn->local, fd);
    }
    if (!base->local.is_unix) {
        xs_sys_tune_conn(fd);
    }
    *out = conn;
    return 0;
}

void xs_uv_accept_want(struct xs_io_listener *base, bool want)
{
    xs_uv_fd_want(&listener_of(base)->fd, want ? XS_IO_READ : 0u);
}

void xs_uv_unlisten(struct xs_io_listener *base)
{
    struct uv_listener *listener = listener_of(base);
    int fd = listener->fd.fd;

    xs_uv_fd_close(&listener->fd);
    (void)close(fd);
}
