/* uv.h - the libuv backend: io.h and drive.h on real sockets. */

#ifndef XS_IO_UV_H
#define XS_IO_UV_H

#include "core/base/base.h"
#include "core/drive.h"

/* A backend with a loop of its own. `*out` is the caller's until
 * `(*out)->ops->free`.
 *
 * Errors: XS_EMFILE, XS_ENOMEM, XS_EIO */
XS_MUST_CHECK int xs_uv_new(struct xs_drive **out);

#endif
