/* transcript.h - what a parser makes of some bytes, as text.
 *
 *     head GET /a?b HTTP/1.1 keep-alive length=5 expect
 *       path /a
 *       query b
 *       Host: xsgi.test
 *     body hello
 *     end
 *     refuse 400 host
 *     more
 *
 * Bytes that are not printable stand as \xNN, and a long run of one byte as
 * c{count}. `path`, `query` and `authority` are there if they differ from what
 * the target says at a glance. `body` is the whole body up to the end or the
 * fault. `more` says that the parser is inside a message when the input ends;
 * `refuse` is the last line. */

#ifndef TESTS_UNIT_TRANSCRIPT_H
#define TESTS_UNIT_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/limits.h"
#include "core/base/slice.h"

/* How the bytes come to the parser. */
struct transcript_way {
    const struct xs_limits *limits; /* borrowed */
    size_t first; /* bytes in the first call; 0: all at once */
    size_t each;  /* bytes in each call after it; 0: all that are left */
    bool keep;    /* take the body only at the end of its message */
    bool move;    /* move the block while the head is not complete */
};

/* The transcript, to be freed. */
char *transcript_of(struct xs_slice input, const struct transcript_way *way);

#endif
