/* status.h - status codes and their usual phrases (RFC 9110 15, and the codes
 * registered since). */

#ifndef XS_HTTP1_STATUS_H
#define XS_HTTP1_STATUS_H

#include <stdbool.h>

#include "core/base/slice.h"

/* "HTTP/1.1 200 OK\r\n", static; empty if `status` has no usual phrase. */
struct xs_slice xs_status_line(unsigned status);

/* Whether a response with it has no body, whatever is given (RFC 9110 15.3.5,
 * 15.3.6, 15.4.5). */
bool xs_status_is_bodiless(unsigned status);

/* "OK", static; empty if there is none. */
struct xs_slice xs_status_phrase(unsigned status);

#endif
