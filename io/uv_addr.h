/* uv_addr.h - addresses between the system's form and text. */

#ifndef XS_IO_UV_ADDR_H
#define XS_IO_UV_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/base.h"
#include "core/io.h"

/* `host`, numeric, and `port`. Errors: XS_EINVALID */
XS_MUST_CHECK int xs_uv_addr_parse(struct sockaddr_storage *out, socklen_t *len,
                                   const char *host, uint16_t port);

/* As text; an address of no known family is "" with port 0. */
void xs_uv_addr_format(struct xs_io_addr *out,
                       const struct sockaddr_storage *addr);

/* The local address of socket `fd`; true if it stands for all addresses of
 * the machine, so that each connection has one of its own. */
bool xs_uv_addr_local(struct xs_io_addr *out, int fd);

#endif
