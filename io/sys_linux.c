/* sys_linux.c - what the operating systems do differently: Linux. */

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <time.h>

#include "core/base/error.h"
#include "io/sys.h"

const int xs_sys_send_flags = MSG_NOSIGNAL;

int xs_sys_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int xs_sys_accept(int fd, struct sockaddr_storage *addr, socklen_t *len)
{
    return accept4(fd, (struct sockaddr *)addr, len,
                   SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* An accepted socket is a copy of its listener: no call per connection. */
void xs_sys_tune_listener(int fd)
{
    int on = 1;
    int unsent = XS_SYS_UNSENT_MAX;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
                     sizeof unsent);
}

void xs_sys_tune_conn(int fd)
{
    (void)fd;
}

void xs_sys_disconnect(int fd)
{
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

    (void)connect(fd, &nowhere, sizeof nowhere);
}

/* sendfile has no flag that keeps the signal back, as send has. */
ssize_t xs_sys_sendfile(int fd, int file, uint64_t offset, size_t len)
{
    static const struct timespec now = {0, 0};
    off_t at = (off_t)offset;
    sigset_t pipe, before;
    ssize_t n;
    int err;

    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    n = sendfile(fd, file, &at, len);
    err = errno;
    if (n < 0 && err == EPIPE) {
        (void)sigtimedwait(&pipe, NULL, &now);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return n;
}

/* What is read ahead for one page comes in runs of about this size: one byte
 * tells of them all. */
#define SYS_RUN ((size_t)64 * 1024)

size_t xs_sys_resident(int file, uint64_t offset, size_t len)
{
    uint8_t byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    size_t done = 0;

    /* The end of the file is known, too: 0. */
    if (preadv2(file, &iov, 1, (off_t)offset, RWF_NOWAIT) < 0) {
        return 0;
    }
    while (done < len) {
        size_t run = len - done < SYS_RUN ? len - done : SYS_RUN;
        off_t last = (off_t)(offset + done + run - 1);
        if (preadv2(file, &iov, 1, last, RWF_NOWAIT) < 0) {
            break;
        }
        done += run;
    }
    return done;
}

int64_t xs_sys_unacked(int fd)
{
    int bytes = 0;

    if (ioctl(fd, SIOCOUTQ, &bytes) != 0 || bytes < 0) {
        return XS_EUNKNOWN;
    }
    return bytes;
}
