/* sys_bsd.c - what the operating systems do differently: macOS, the BSDs. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/error.h"
#include "io/sys.h"

const int xs_sys_send_flags = 0; /* see SO_NOSIGPIPE below */

/* Non-blocking, closed on exec, no SIGPIPE. Closes `fd` if that fails. */
static int sys_prepare(int fd)
{
    int on = 1;

    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0) {
        int err = errno;
        (void)close(fd);
        /* macOS says EINVAL for a connection that is gone already. */
        errno = err == EINVAL ? ECONNABORTED : err;
        return -1;
    }
    return fd;
}

int xs_sys_socket(int family)
{
    int fd = socket(family, SOCK_STREAM, 0);

    return fd < 0 ? -1 : sys_prepare(fd);
}

int xs_sys_accept(int fd, struct sockaddr_storage *addr, socklen_t *len)
{
    int conn = accept(fd, (struct sockaddr *)addr, len);

    return conn < 0 ? -1 : sys_prepare(conn);
}

void xs_sys_tune_listener(int fd)
{
    (void)fd;
}

void xs_sys_tune_conn(int fd)
{
    int on = 1;
    int unsent = XS_SYS_UNSENT_MAX;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
                     sizeof unsent);
}

/* There is no such call. */
void xs_sys_disconnect(int fd)
{
    (void)fd;
}

/* The two differ in how they say the number of bytes. Some count although there
 * is an error, too: if it only says that these are not all. After any other one
 * nothing is promised of the number, which macOS takes the length from. */
ssize_t xs_sys_sendfile(int fd, int file, uint64_t offset, size_t len)
{
#ifdef __APPLE__
    off_t taken = (off_t)len;
    int err = sendfile(file, fd, (off_t)offset, &taken, NULL, 0);
#else
    off_t taken = 0;
    int err = sendfile(file, fd, (off_t)offset, len, NULL, &taken, 0);
#endif

    if (err == 0) {
        return (ssize_t)taken;
    }
    if (errno != EAGAIN && errno != EINTR) {
        return -1;
    }
    return taken > 0 ? (ssize_t)taken : -1;
}

/* Nothing tells: all is fetched before. */
size_t xs_sys_resident(int file, uint64_t offset, size_t len)
{
    (void)file;
    (void)offset;
    (void)len;
    return 0;
}

int64_t xs_sys_unacked(int fd)
{
    (void)fd;
    return XS_EUNKNOWN;
}
