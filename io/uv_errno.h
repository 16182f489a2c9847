/* uv_errno.h - what the system says, in the words of error.h.
 *
 * One function per kind of call, because the same errno means different
 * things, and each kind has its own set of legal answers (io.h). */

#ifndef XS_IO_UV_ERRNO_H
#define XS_IO_UV_ERRNO_H

/* From recv: XS_EAGAIN or XS_ERESET. */
int xs_uv_errno_recv(int err);

/* From send, sendmsg and shutdown: XS_EAGAIN, XS_EPIPE or XS_ERESET. */
int xs_uv_errno_send(int err);

/* From sendfile: likewise; or XS_EIO, which is of the file. */
int xs_uv_errno_sendfile(int err);

/* From accept: XS_EAGAIN, XS_EABORTED, XS_EMFILE or XS_ENOMEM. */
int xs_uv_errno_accept(int err);

/* From socket, bind and listen: those of xs_io_ops.listen. */
int xs_uv_errno_listen(int err);

/* From making the loop, where libuv gives a negative errno: XS_EMFILE,
 * XS_ENOMEM or XS_EIO. */
int xs_uv_errno_setup(int uv_err);

#endif
