/* sys_linux.c - what the operating systems do differently: Linux. */

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

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

int64_t xs_sys_unacked(int fd)
{
    int bytes = 0;

    if (ioctl(fd, SIOCOUTQ, &bytes) != 0 || bytes < 0) {
        return XS_EUNKNOWN;
    }
    return bytes;
}
