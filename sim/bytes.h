/* bytes.h - bytes that grow, and a pattern to fill bodies with.
 *
 * Simulations may not run out of memory of their own: growing asserts. */

#ifndef XS_SIM_BYTES_H
#define XS_SIM_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"

struct xs_bytes {
    uint8_t *data; /* owned; NULL until the first byte */
    size_t len;
    size_t cap;
};

/* Accepts a zeroed one. */
void xs_bytes_fini(struct xs_bytes *bytes);
void xs_bytes_add(struct xs_bytes *bytes, struct xs_slice more);
/* At most 1024 bytes at a time. */
__attribute__((format(printf, 2, 3))) void xs_bytes_print(
    struct xs_bytes *bytes, const char *format, ...);

/* The longest body: longer than what a server reads only to throw it away.
 * And the longest of those that are not rare. */
#define XS_BODY_MAX ((size_t)1300 * 1000)
#define XS_BODY_USUAL ((size_t)300 * 1000)

/* Bytes without order, of which every body of a simulation is a part: so none
 * is copied, and a shift by one byte shows. */
struct xs_pattern {
    uint8_t *data; /* owned */
};

/* Accepts a zeroed one. */
void xs_pattern_init(struct xs_pattern *pattern);
void xs_pattern_fini(struct xs_pattern *pattern);
/* The body number `seed` of `len` bytes. Borrowed from the pattern. */
struct xs_slice xs_pattern_body(const struct xs_pattern *pattern, uint32_t seed,
                                size_t len);

#endif
