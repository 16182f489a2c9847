/* sys.h - what the operating systems do differently.
 *
 * sys_linux.c and sys_bsd.c have all of it each; the build takes one. */

#ifndef XS_IO_SYS_H
#define XS_IO_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "core/base/base.h"

/* What of one connection may wait in the kernel and is not even sent. Small:
 * the kernel's memory for slow clients is ours, and "writable" should mean
 * that the peer takes bytes. Large enough to keep a fast network busy while
 * the process does something else for a millisecond (bench/unsent.c). */
#define XS_SYS_UNSENT_MAX (128 * 1024)

/* The descriptor of a new stream socket, or -1 and errno. Both are
 * non-blocking and closed on exec. */
int xs_sys_socket(int family);
int xs_sys_accept(int fd, struct sockaddr_storage *addr, socklen_t *len);

/* No delay and XS_SYS_UNSENT_MAX: of a listener, if its connections inherit
 * them; of a connection, if they do not. Not for unix sockets. */
void xs_sys_tune_listener(int fd);
void xs_sys_tune_conn(int fd);

/* Flags for send and sendmsg: no SIGPIPE. */
extern const int xs_sys_send_flags;

/* Reset a connection now, whoever else holds it. May do nothing: then it ends
 * with its last descriptor. */
void xs_sys_disconnect(int fd);

/* Write at most `len` bytes of `file` from `offset` on to the socket `fd`,
 * without a signal. The bytes taken, 0: the file ends there, or -1 and errno.
 * May read from the disk. */
ssize_t xs_sys_sendfile(int fd, int file, uint64_t offset, size_t len);

/* How many of these bytes, from the first one on, are in memory, as far as the
 * system tells: 0 is "perhaps none". */
size_t xs_sys_resident(int file, uint64_t offset, size_t len);

/* See xs_io_ops.unacked. */
int64_t xs_sys_unacked(int fd);

#endif
