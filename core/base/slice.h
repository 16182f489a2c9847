/* slice.h - a run of bytes that somebody else owns. */

#ifndef XS_BASE_SLICE_H
#define XS_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct xs_slice {
    const uint8_t *data; /* borrowed; may be NULL when len is 0 */
    size_t len;
};

/* The slice of a string literal. */
#define XS_LIT(text) \
    ((struct xs_slice){(const uint8_t *)("" text), sizeof(text) - 1})

/* The slice of `len` bytes at `data`. Borrows. */
static inline struct xs_slice xs_slice_of(const void *data, size_t len)
{
    return (struct xs_slice){(const uint8_t *)data, len};
}

/* The slice of a NUL-terminated string. Borrows. */
static inline struct xs_slice xs_slice_str(const char *text)
{
    return xs_slice_of(text, strlen(text));
}

static inline bool xs_slice_eq(struct xs_slice a, struct xs_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Equal but for the case of ASCII letters. `lower` is in lower case already. */
bool xs_slice_eq_lower(struct xs_slice bytes, struct xs_slice lower);

/* Make `slice` reach from its begin, or else from `at`, to the end of the
 * `len` bytes at `at`, which lie behind it. */
static inline void xs_slice_extend(struct xs_slice *slice, const uint8_t *at,
                                   size_t len)
{
    if (slice->data == NULL) {
        slice->data = at;
    }
    slice->len = (size_t)(at - slice->data) + len;
}

/* Its bytes were moved by `delta`. */
static inline void xs_slice_move(struct xs_slice *slice, ptrdiff_t delta)
{
    if (slice->data != NULL) {
        slice->data += delta;
    }
}

/* `bytes` without spaces and tabs at both ends. */
struct xs_slice xs_slice_trim(struct xs_slice bytes);

/* Cut the next element of a comma-separated list (RFC 9110 5.6.1) off `rest`
 * into `out`, trimmed; empty elements are given as they are. False at the
 * end. Quoted strings are not understood: for lists of tokens only. */
bool xs_slice_list_next(struct xs_slice *rest, struct xs_slice *out);

#endif
