/* status.h - status codes and their usual phrases (RFC 9110 15, and the codes
 * registered since). */

#ifndef XS_HTTP1_STATUS_H
#define XS_HTTP1_STATUS_H

#include "core/base/slice.h"

/* "HTTP/1.1 200 OK\r\n", static; empty if `status` has no usual phrase. */
struct xs_slice xs_status_line(unsigned status);

/* "OK", static; empty if there is none. */
struct xs_slice xs_status_phrase(unsigned status);

#endif
