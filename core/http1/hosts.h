/* hosts.h - which hosts are served here. */

#ifndef XS_HTTP1_HOSTS_H
#define XS_HTTP1_HOSTS_H

#include <stdbool.h>

#include "core/base/slice.h"

/* Whether `authority`, a legal host and perhaps a port, or nothing, is one of
 * `list`: names in lower case with commas between them.
 *
 *     a.test      that name
 *     .a.test     that name, and all below it
 *     *.a.test    all below it
 *     [::1]       that address, however it is spelled
 *
 * A list with nothing in it has all. A dot behind a name means nothing. */
bool xs_hosts_have(struct xs_slice list, struct xs_slice authority);

#endif
