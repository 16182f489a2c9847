/* date.h - the time of day as HTTP writes it (RFC 9110 5.6.7). */

#ifndef XS_HTTP1_DATE_H
#define XS_HTTP1_DATE_H

#include <stdint.h>

#define XS_DATE_LEN 29 /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Write XS_DATE_LEN bytes for `wall_ns`, ns since 1970 UTC; the byte behind
 * them. */
uint8_t *xs_date_put(uint8_t *out, uint64_t wall_ns);

#endif
