/* reading.h - requests, read once more from the RFCs.
 *
 * What core/http1 makes of bytes is compared with what stands here. It is
 * written for bytes that are all there: line by line, one rule after the
 * other, nothing kept between two calls. Where a request is refused it does
 * not say why. */

#ifndef FUZZ_READING_H
#define FUZZ_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/limits.h"
#include "core/base/slice.h"
#include "fuzz/grammar.h"
#include "sim/bytes.h"

#define READING_FIELDS_MAX 200u

enum reading_is {
    READING_WHOLE, /* a legal request, complete */
    READING_MORE,  /* it is not complete; what there is of it may be wrong */
    READING_BAD,   /* it must be refused */
};

struct reading {
    struct xs_slice method;
    struct xs_slice target;
    struct grammar_target parts;
    unsigned minor;
    struct {
        struct xs_slice name;
        struct xs_slice value;
    } fields[READING_FIELDS_MAX];
    unsigned field_count;

    bool chunked;
    uint64_t length; /* of a body that is not chunked */
    bool keep_alive;
    bool te;
    bool expect;
    bool is_head;

    struct xs_bytes body; /* owned; kept from one reading to the next */
    size_t begin;         /* where the request line is */
    size_t head_end;      /* 0: the head is not complete, or bad */
    size_t end;

    /* It may be refused all the same: it is near a limit, or of a kind that
     * the RFCs let pass and we need not. */
    bool may_refuse;
};

/* The last value of the fields called `name`; empty if there are none. */
struct xs_slice reading_field(const struct reading *in, const char *name);

/* Read the request at input[at]; all slices are of `input`. */
enum reading_is reading_next(struct reading *out, struct xs_slice input,
                             size_t at, const struct xs_limits *limits);

#endif
