/* target.h - the request target and the authority (RFC 9112 3.2, RFC 3986).
 *
 *     origin-form      /path?query
 *     absolute-form    http://authority/path?query
 *     asterisk-form    *                          with OPTIONS only
 *     authority-form   host:port                  with CONNECT, never served */

#ifndef XS_HTTP1_TARGET_H
#define XS_HTTP1_TARGET_H

#include <stdbool.h>

#include "core/base/base.h"
#include "core/base/slice.h"
#include "core/http1/head.h"
#include "core/http1/refusal.h"

/* Fill path, query and authority of `head` from its method and target.
 * XS_REFUSE_NOT, or XS_REFUSE_TARGET if they do not go together. */
XS_MUST_CHECK enum xs_refusal xs_target_parse(struct xs_head *head);

/* `text` is uri-host [":" port], with a host that is not empty and a port that
 * is empty or below 65536. */
bool xs_target_is_authority(struct xs_slice text);

#endif
