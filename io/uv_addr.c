/* uv_addr.c - addresses between the system's form and text. */

#include "io/uv_addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <uv.h>

#include "core/base/error.h"

_Static_assert(sizeof((struct sockaddr_un *)0)->sun_path < XS_IO_HOST_MAX,
               "xs_io_addr.host is too short");

int xs_uv_addr_parse(struct sockaddr_storage *out, socklen_t *len,
                     const char *host, uint16_t port)
{
    memset(out, 0, sizeof *out);
    if (host == NULL) {
        return XS_EINVALID;
    }
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)out) == 0) {
        *len = sizeof(struct sockaddr_in);
        return 0;
    }
    if (uv_ip6_addr(host, port, (struct sockaddr_in6 *)out) == 0) {
        *len = sizeof(struct sockaddr_in6);
        return 0;
    }
    return XS_EINVALID;
}

void xs_uv_addr_format(struct xs_io_addr *out,
                       const struct sockaddr_storage *addr)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;
    const struct sockaddr_un *un = (const struct sockaddr_un *)addr;

    memset(out->host, 0, sizeof out->host);
    out->port = 0;
    out->is_unix = addr->ss_family == AF_UNIX;
    if (addr->ss_family == AF_INET) {
        (void)inet_ntop(AF_INET, &v4->sin_addr, out->host, sizeof out->host);
        out->port = ntohs(v4->sin_port);
    } else if (addr->ss_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, out->host, sizeof out->host);
        out->port = ntohs(v6->sin6_port);
    } else if (addr->ss_family == AF_UNIX) {
        /* A path of full length has no NUL. */
        memcpy(out->host, un->sun_path, sizeof un->sun_path);
    }
}

static bool addr_is_any(const struct sockaddr_storage *addr)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

    if (addr->ss_family == AF_INET) {
        return v4->sin_addr.s_addr == htonl(INADDR_ANY);
    }
    if (addr->ss_family == AF_INET6) {
        return memcmp(&v6->sin6_addr, &in6addr_any, sizeof in6addr_any) == 0;
    }
    return false;
}

bool xs_uv_addr_local(struct xs_io_addr *out, int fd)
{
    struct sockaddr_storage addr;
    socklen_t len = sizeof addr;

    memset(&addr, 0, sizeof addr);
    (void)getsockname(fd, (struct sockaddr *)&addr, &len);
    xs_uv_addr_format(out, &addr);
    return addr_is_any(&addr);
}
