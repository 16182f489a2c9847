/* extra.c - what a chunked body has besides its data, and how much of it. */

#include "core/http1/extra.h"

#include <string.h>

/* What the bytes behind the last data, up to `at`, add to what is owed. */
static size_t extra_owes(const struct xs_extra *extra, const uint8_t *at)
{
    size_t framing = extra->framing + (size_t)(at - extra->mark);

    if (framing <= XS_CHUNK_FRAMING) {
        return 0;
    }
    return (framing - XS_CHUNK_FRAMING) * XS_CHUNK_EXTRA_SHARE;
}

static bool extra_is_legal(const struct xs_extra *extra,
                           const struct xs_limits *limits, size_t owes)
{
    return extra->owed + owes <= limits->chunk_extra_max * XS_CHUNK_EXTRA_SHARE;
}

enum xs_refusal xs_extra_data(struct xs_extra *extra,
                              const struct xs_limits *limits, const uint8_t *at,
                              size_t len)
{
    size_t owes = extra_owes(extra, at);

    XS_ASSERT(!extra->in_trailer);
    if (!extra_is_legal(extra, limits, owes)) {
        return XS_REFUSE_CHUNK_EXTRA;
    }
    extra->owed += owes;
    extra->owed -= extra->owed < len ? extra->owed : len;
    extra->framing = 0;
    extra->mark += at - extra->mark + (ptrdiff_t)len;
    return XS_REFUSE_NOT;
}

enum xs_refusal xs_extra_word(struct xs_extra *extra, struct xs_slice part)
{
    if (part.len == 0) {
        return XS_REFUSE_NOT;
    }
    if (extra->word == 0) {
        extra->quoted = part.data[0] == '"';
    }
    extra->word += part.len;
    return !extra->quoted && memchr(part.data, '"', part.len) != NULL
               ? XS_REFUSE_CHUNK
               : XS_REFUSE_NOT;
}

enum xs_refusal xs_extra_word_end(struct xs_extra *extra)
{
    bool empty = extra->word == 0;

    extra->word = 0;
    return empty ? XS_REFUSE_CHUNK : XS_REFUSE_NOT;
}

enum xs_refusal xs_extra_trailer(struct xs_extra *extra,
                                 const struct xs_limits *limits,
                                 const uint8_t *at)
{
    if (extra->in_trailer) {
        return XS_REFUSE_NOT;
    }
    if (!extra_is_legal(extra, limits, extra_owes(extra, at))) {
        return XS_REFUSE_CHUNK_EXTRA;
    }
    extra->in_trailer = true;
    extra->framing = 0;
    extra->mark += at - extra->mark;
    return XS_REFUSE_NOT;
}

enum xs_refusal xs_extra_end(struct xs_extra *extra,
                             const struct xs_limits *limits, const uint8_t *end)
{
    size_t len = (size_t)(end - extra->mark);

    if (extra->in_trailer) {
        if (extra->framing + len > limits->request_trailer_max) {
            return XS_REFUSE_TRAILER_SIZE;
        }
    } else if (!extra_is_legal(extra, limits, extra_owes(extra, end))) {
        return XS_REFUSE_CHUNK_EXTRA;
    }
    extra->framing += len;
    return XS_REFUSE_NOT;
}
