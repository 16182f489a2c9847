/* extra.h - what a chunked body has besides its data, and how much of it.
 *
 *     | size;ext CRLF | data | CRLF size CRLF | data | CRLF 0 CRLF | trailer |
 *       ^ no data       ^      ^ no data        ^      ^ no data     ^ counted
 *                                                                      apart
 *
 * A client may make us read and throw away a little for each byte of data, and
 * no more (RFC 9112 7.1.1). Plain framing is free; what is longer counts
 * against xs_limits.chunk_extra_max, and each byte of data gives a part of a
 * byte back. */

#ifndef XS_HTTP1_EXTRA_H
#define XS_HTTP1_EXTRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/limits.h"
#include "core/base/slice.h"
#include "core/http1/refusal.h"

/* All zero at the begin of a message. */
struct xs_extra {
    uint8_t *mark;   /* borrowed until the input ends: behind the last data */
    size_t framing;  /* bytes before `mark` and behind the last data */
    size_t owed;     /* in sixteenths of a byte (XS_CHUNK_EXTRA_SHARE) */
    size_t word;     /* bytes of an extension's name or value so far */
    bool quoted;     /* it begins with a quote */
    bool in_trailer; /* `framing` counts the trailer */
};

/* More input begins at `data`. */
static inline void xs_extra_input(struct xs_extra *extra, uint8_t *data)
{
    extra->mark = data;
}

/* `len` bytes of data begin at `at` of the input. */
XS_MUST_CHECK enum xs_refusal xs_extra_data(struct xs_extra *extra,
                                            const struct xs_limits *limits,
                                            const uint8_t *at, size_t len);

/* The name or value of an extension, or a part of it. RFC 9112 7.1.1 has
 * tokens and quoted strings: no empty ones, and none that are both. llhttp
 * takes those. */
XS_MUST_CHECK enum xs_refusal xs_extra_word(struct xs_extra *extra,
                                            struct xs_slice part);
XS_MUST_CHECK enum xs_refusal xs_extra_word_end(struct xs_extra *extra);

/* A field of the trailer is at `at` of the input. */
XS_MUST_CHECK enum xs_refusal xs_extra_trailer(struct xs_extra *extra,
                                               const struct xs_limits *limits,
                                               const uint8_t *at);

/* The input, or the message in it, ends at `end`. */
XS_MUST_CHECK enum xs_refusal xs_extra_end(struct xs_extra *extra,
                                           const struct xs_limits *limits,
                                           const uint8_t *end);

#endif
