/* rules.h - what a request head means, and whether it may mean it.
 *
 * The syntax is llhttp's; these are the rules across fields (RFC 9112 3, 6, 9;
 * RFC 9110 7.2, 10.1.1). Where two readings of a request are possible, it is
 * refused: the other reading is somebody's proxy. */

#ifndef XS_HTTP1_RULES_H
#define XS_HTTP1_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/limits.h"
#include "core/http1/head.h"
#include "core/http1/refusal.h"

/* What was found while the syntax was read. */
struct xs_rules_seen {
    uint64_t length; /* with has_length */
    unsigned major;  /* of the version */
    unsigned minor;  /* of the version */
    bool has_length; /* one legal Content-Length */
    bool has_coding; /* a Transfer-Encoding */
    bool is_chunked; /* whose last coding is "chunked" */
};

/* `head` has method, target and fields; trim the values and fill in the rest.
 * In an absolute-form request the Host field's value becomes the target's
 * authority (RFC 9112 3.2.2). XS_REFUSE_NOT, or why it is not served. */
XS_MUST_CHECK enum xs_refusal xs_rules_apply(struct xs_head *head,
                                             const struct xs_rules_seen *seen,
                                             const struct xs_limits *limits);

#endif
