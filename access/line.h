/* line.h - one request as one line of the log.
 *
 * No byte of a client's can end a line, leave its quotes or reach a terminal
 * as a control character. */

#ifndef XS_ACCESS_LINE_H
#define XS_ACCESS_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "access/format.h"
#include "core/conn/access.h"
#include "core/io.h"

/* The present second as text, kept while it lasts. */
struct access_clock {
    uint64_t process; /* our number; set by the owner */
    int64_t second;   /* since 1970 */
    size_t local_len;
    char local[32]; /* "[01/Dec/2026:02:43:52 +0000]" */
    size_t utc_len;
    char utc[24]; /* "2026-12-01T02:43:52" */
};

/* Put the line of `entry`, with its end, to `out`, where there is room for
 * `line_max` bytes; its length. */
size_t access_line(char *out, const struct access_format *format,
                   const struct xs_access *entry, uint64_t wall_ns,
                   struct access_clock *clock);

/* "127.0.0.1:80", "[::1]:80" or "unix", a string, without a port that nobody
 * knows. */
#define ACCESS_CLIENT_MAX ((size_t)XS_IO_HOST_MAX + 16)
size_t access_client(char out[ACCESS_CLIENT_MAX],
                     const struct xs_io_addr *addr);

#endif
