/* asides.h - fields of early hints and trailers, and the rules for them.
 *
 * The rules of gateway.h, read once more from the RFCs; no code is shared with
 * core/http1/aside.c, with which they are compared. */

#ifndef FUZZ_ASIDES_H
#define FUZZ_ASIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/slice.h"
#include "core/http1/head.h"

#define ASIDES_MAX 8u

enum asides_kind {
    ASIDES_HINT,
    ASIDES_TRAILER,
};

struct asides {
    struct xs_field all[ASIDES_MAX];
    unsigned count;
    size_t len; /* as they go out */
};

/* Names and values in turn, parted by `mark`. Borrows the text. */
struct asides asides_of(struct xs_slice text, char mark);

/* What a call with them gives, where `room` bytes may come yet. */
int asides_result(const struct asides *fields, enum asides_kind kind,
                  size_t room);

/* Values of text only, and no line of `max` bytes. */
bool asides_are_text(const struct asides *fields, size_t max);

#endif
