/* outside_real.c - real sockets as the other end of the libuv backend. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "io/uv.h"
#include "tests/contract/contract.h"

struct peer {
    int fd;
};

/* Where the unix listener of a world is. */
struct unix_state {
    char folder[64];
    struct sockaddr_un path;
};

static int64_t real_result(ssize_t n)
{
    if (n >= 0) {
        return n;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return XS_EAGAIN;
    }
    return errno == EPIPE ? XS_EPIPE : XS_ERESET;
}

static void real_open(struct world *world)
{
    assert_int_equal(xs_uv_new(&world->inner), 0);
}

static void real_close_world(struct world *world)
{
    (void)world;
}

static int real_listen_at(struct world *world, struct xs_io_listener **out,
                          const char *host)
{
    struct xs_io_spec spec = {.fd = -1, .host = host, .backlog = 16};

    return world->io->ops->listen(world->io, out, &spec);
}

static int real_listen_tcp4(struct world *world, struct xs_io_listener **out)
{
    return real_listen_at(world, out, "127.0.0.1");
}

static int real_listen_tcp6(struct world *world, struct xs_io_listener **out)
{
    int err = real_listen_at(world, out, "::1");

    if (err == XS_EINVALID) {
        skip(); /* this machine has no IPv6 */
    }
    return err;
}

static void real_run(struct world *world, uint64_t timeout_ns)
{
    assert_int_equal(world->drive->ops->run(world->drive, timeout_ns), 0);
}

static struct peer *real_connected(int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);

    assert_non_null(peer);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    peer->fd = fd;
    return peer;
}

static struct peer *real_connect_to(const struct sockaddr *addr, socklen_t len)
{
    int fd = socket(addr->sa_family, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    if (connect(fd, addr, len) != 0) {
        (void)close(fd);
        return NULL;
    }
    return real_connected(fd);
}

static struct peer *real_connect(struct world *world,
                                 const struct xs_io_addr *to)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    (void)world;
    if (uv_ip4_addr(to->host, to->port, &v4) == 0) {
        return real_connect_to((struct sockaddr *)&v4, sizeof v4);
    }
    assert_int_equal(uv_ip6_addr(to->host, to->port, &v6), 0);
    return real_connect_to((struct sockaddr *)&v6, sizeof v6);
}

static int64_t real_peer_write(struct peer *peer, const void *data, size_t len)
{
    return real_result(send(peer->fd, data, len, MSG_NOSIGNAL));
}

static int64_t real_peer_read(struct peer *peer, void *data, size_t len)
{
    return real_result(recv(peer->fd, data, len, 0));
}

static void real_peer_shutdown(struct peer *peer)
{
    (void)shutdown(peer->fd, SHUT_WR);
}

/* A socket without a peer takes the descriptor's place: the connection is
 * closed now, the peer's struct later. */
static void real_peer_reset(struct peer *peer)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    int none = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(none >= 0);
    (void)setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    assert_true(dup2(none, peer->fd) >= 0);
    (void)close(none);
}

static void real_peer_close(struct peer *peer)
{
    (void)close(peer->fd);
    free(peer);
}

#define REAL_PEER                                             \
    .write = real_peer_write, .read = real_peer_read,         \
    .shutdown = real_peer_shutdown, .reset = real_peer_reset, \
    .close_peer = real_peer_close

const struct outside outside_tcp4 = {
    .name = "uv",
    .seeds = 1,
    .open = real_open,
    .close = real_close_world,
    .listen = real_listen_tcp4,
    .run = real_run,
    .connect = real_connect,
    REAL_PEER,
};

const struct outside outside_tcp6 = {
    .name = "uv over IPv6",
    .seeds = 1,
    .open = real_open,
    .close = real_close_world,
    .listen = real_listen_tcp6,
    .run = real_run,
    .connect = real_connect,
    REAL_PEER,
};

/* As in somebody else's loop: its poll, then a `run` that does not wait. */
static void guest_run(struct world *world, uint64_t timeout_ns)
{
    struct xs_drive *drive = world->drive;
    struct pollfd at = {.fd = drive->ops->fd(drive), .events = POLLIN};
    uint64_t next_ns = drive->ops->next(drive);
    uint64_t wait_ns = next_ns < timeout_ns ? next_ns : timeout_ns;
    uint64_t wait_ms = (wait_ns + XS_MS_NS - 1) / XS_MS_NS;

    assert_true(at.fd >= 0);
    (void)poll(&at, 1, wait_ms > 1000 ? 1000 : (int)wait_ms);
    assert_int_equal(drive->ops->run(drive, 0), 0);
}

const struct outside outside_guest = {
    .name = "uv as a guest",
    .seeds = 1,
    .open = real_open,
    .close = real_close_world,
    .listen = real_listen_tcp4,
    .run = guest_run,
    .connect = real_connect,
    REAL_PEER,
};

static void unix_open(struct world *world)
{
    struct unix_state *state = calloc(1, sizeof *state);

    assert_non_null(state);
    (void)snprintf(state->folder, sizeof state->folder, "/tmp/xsgi.XXXXXX");
    assert_non_null(mkdtemp(state->folder));
    state->path.sun_family = AF_UNIX;
    (void)snprintf(state->path.sun_path, sizeof state->path.sun_path, "%s/at",
                   state->folder);
    world->state = state;
    real_open(world);
}

static void unix_close(struct world *world)
{
    struct unix_state *state = world->state;

    (void)unlink(state->path.sun_path);
    (void)rmdir(state->folder);
    free(state);
}

/* Bound and not listening yet: the backend does that. */
static int unix_listen(struct world *world, struct xs_io_listener **out)
{
    struct unix_state *state = world->state;
    struct xs_io_spec spec = {.backlog = 16};

    (void)unlink(state->path.sun_path);
    spec.fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(spec.fd >= 0);
    assert_int_equal(
        bind(spec.fd, (struct sockaddr *)&state->path, sizeof state->path), 0);
    return world->io->ops->listen(world->io, out, &spec);
}

static struct peer *unix_connect(struct world *world,
                                 const struct xs_io_addr *to)
{
    struct unix_state *state = world->state;

    assert_true(to->is_unix);
    return real_connect_to((struct sockaddr *)&state->path, sizeof state->path);
}

const struct outside outside_unix = {
    .name = "uv over unix sockets",
    .seeds = 1,
    .is_unix = true,
    .open = unix_open,
    .close = unix_close,
    .listen = unix_listen,
    .run = real_run,
    .connect = unix_connect,
    REAL_PEER,
};
