/* plan.h - what a scripted client will ask for, and what that means.
 *
 * The meaning is fixed before a byte is sent, so it owes nothing to whoever
 * parses the bytes later. */

#ifndef XS_SIM_PLAN_H
#define XS_SIM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "sim/bytes.h"
#include "sim/tape.h"

/* The most requests of one client. */
#define XS_PLANS_MAX 8u

/* What is wrong with a request. */
enum xs_plan_bad {
    XS_PLAN_LEGAL,
    XS_PLAN_BAD_HEAD, /* it must be refused, and never reach the gateway */
    XS_PLAN_BAD_BODY, /* a chunk that is none: the head may get through */
};

struct xs_plan {
    struct xs_slice method; /* static, or borrowed from who says it */
    unsigned minor;         /* HTTP/1.x */
    bool is_head;
    bool keep_alive; /* by version and Connection field */
    bool chunked;    /* the body is; else it has a length, or there is none */
    bool te;         /* TE: trailers */
    bool expect;     /* Expect: 100-continue */
    bool has_body;   /* it says Content-Length or chunked */
    struct xs_slice host; /* static, or likewise; its Host, or empty */
    unsigned field_count;
    size_t target_len;
    const uint8_t *body; /* borrowed: the body, decoded */
    size_t body_len;
    enum xs_plan_bad bad;

    /* Where it is in the client's stream. */
    size_t begin;
    size_t target_at;
    size_t head_end;
    size_t end;
};

/* Draw a request and put its bytes at the end of `stream`. `number` is its
 * place among the client's. */
void xs_plan_draw(struct xs_plan *plan, struct xs_tape *tape,
                  const struct xs_pattern *pattern, struct xs_bytes *stream,
                  unsigned number);

/* Draw one that has to be refused. */
void xs_plan_draw_bad(struct xs_plan *plan, struct xs_tape *tape,
                      struct xs_bytes *stream);

/* Between the two ends of a large scale: mostly small, at most `max`. */
size_t xs_plan_size(struct xs_tape *tape, enum xs_label label, size_t max);

#endif
