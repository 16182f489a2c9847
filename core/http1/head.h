/* head.h - a request head as it is understood. */

#ifndef XS_HTTP1_HEAD_H
#define XS_HTTP1_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"

/* A field: its name as sent, its value trimmed. */
struct xs_field {
    struct xs_slice name;
    struct xs_slice value;
};

/* How the end of a message body is known (RFC 9112 6). */
enum xs_framing {
    XS_FRAMING_NONE,    /* there is no body */
    XS_FRAMING_LENGTH,  /* Content-Length */
    XS_FRAMING_CHUNKED, /* Transfer-Encoding: chunked */
    XS_FRAMING_CLOSE,   /* ends with the connection: responses only */
};

struct xs_head {
    struct xs_slice method;    /* as sent */
    struct xs_slice target;    /* as sent */
    struct xs_slice path;      /* of target, before "?"; "*" for asterisk-form;
                             * of an absolute-form target its path or "/" */
    struct xs_slice query;     /* of target, after "?"; may be empty */
    struct xs_slice authority; /* of an absolute-form target; else empty */
    unsigned minor;            /* of HTTP/1.x: 0 or 1 */

    struct xs_slice host; /* host and port that are asked: of the target, else
                           * of Host; empty if HTTP/1.0 has neither */

    struct xs_field *fields; /* borrowed from the parser's table */
    unsigned field_count;

    enum xs_framing framing;
    uint64_t length;      /* with XS_FRAMING_LENGTH */
    bool keep_alive;      /* the client lets the connection live on */
    bool trailers;        /* it takes fields behind a body (TE) */
    bool expect_continue; /* it waits for "100 Continue" */
    bool upgrade;         /* it offers another protocol, in vain */
    bool forwarded;       /* there is a field that forwarded.h reads */
    bool is_head;         /* the method is HEAD */
};

#endif
