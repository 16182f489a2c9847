/* check.h - a backend around a backend that asserts the rules.
 *
 *     core ──▶ check ──▶ any backend
 *     core ◀── check ◀──
 *
 * Both sides are held to io.h and drive.h: what the core asks and what the
 * backend answers. A broken rule is a panic that names it. It knows nothing of
 * the backend within, so it serves the real and the simulated one alike. For
 * tests: it costs memory and time. */

#ifndef XS_IO_CHECK_H
#define XS_IO_CHECK_H

#include "core/base/base.h"
#include "core/drive.h"

/* Takes `inner`, which nobody has used yet; it is freed by
 * `(*out)->ops->free`.
 *
 * Errors: XS_ENOMEM */
XS_MUST_CHECK int xs_check_new(struct xs_drive **out, struct xs_drive *inner);

#endif
