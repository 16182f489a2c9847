/* parser.h - bytes of a connection become request heads and body bytes.
 *
 * llhttp does the syntax; what it leaves open is decided here and in head
 * rules (rules.h). The parser keeps no bytes: the head's slices point into the
 * caller's block, and a body is decoded in place, so both are as long-lived as
 * that block.
 *
 *     block:  | head | decoded body | (framing, gone) | not parsed yet |
 *               ^ slices  ^ body       ^                 ^ next input
 *
 * It stops at each end of a head and at each end of a message, never inside a
 * callback of llhttp's: the caller may do anything between two calls. */

#ifndef XS_HTTP1_PARSER_H
#define XS_HTTP1_PARSER_H

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/base/slice.h"
#include "core/http1/extra.h"
#include "core/http1/head.h"
#include "core/http1/refusal.h"

enum xs_parse {
    XS_PARSE_MORE,   /* all input is used; the message goes on */
    XS_PARSE_HEAD,   /* the head is complete and legal: see `head` */
    XS_PARSE_END,    /* the message is complete */
    XS_PARSE_REFUSE, /* it is not acceptable: see `refusal`; feed no more */
};

/* Where a message is:
 *
 *     IDLE   -> HEAD     its first byte
 *     HEAD   -> READY    the head is complete and legal
 *     READY  -> BODY     the next call, if there is a body
 *     READY  -> IDLE     the next call, if there is none
 *     BODY   -> IDLE     its last byte
 *     HEAD   -> REFUSED  it is not acceptable
 *     BODY   -> REFUSED  likewise */
enum xs_parser_state {
    XS_PARSER_IDLE,
    XS_PARSER_HEAD,
    XS_PARSER_READY,
    XS_PARSER_BODY,
    XS_PARSER_REFUSED,
};

struct xs_parser {
    llhttp_t ll;
    const struct xs_limits *limits; /* borrowed */

    struct xs_head head; /* slices into the caller's block */
    enum xs_refusal refusal;
    enum xs_parser_state state;

    /* Decoded body bytes that the caller has not taken. Only ever points into
     * input that was given, at or before its end. */
    uint8_t *body; /* borrowed */
    size_t body_len;

    uint64_t body_total;   /* body bytes decoded of this message */
    struct xs_extra extra; /* of a chunked body */
    unsigned empty;        /* bytes of empty lines before the message */
    unsigned fields_cap;   /* room in head.fields */
    bool began;            /* a byte of the message has been seen */
    bool has_version;      /* the version has begun */
    bool in_name;          /* in the last field's name, before its value */
};

/* `limits` is borrowed for good. There is no table of fields yet: call
 * `xs_parser_fields` before the first `xs_parser_feed`. */
void xs_parser_init(struct xs_parser *parser, const struct xs_limits *limits);

/* Use this table of `cap` entries for the fields of the next messages;
 * borrowed until another is given. Between messages only. */
void xs_parser_fields(struct xs_parser *parser, struct xs_field *fields,
                      unsigned cap);

/* Parse `len` bytes at `data`, which directly follow what was given before.
 * `*used` of them are done with. In a head, "directly follow" is meant of the
 * memory too. Body bytes among them are moved down to the end of `body` (which
 * must then lie before `data` in the same block), or `body` is set to them if
 * it is empty. Stops at the first end or fault.
 *
 * At XS_PARSE_HEAD `*used` bytes end with the head; call again with the rest
 * (may be no bytes: a message without a body then says XS_PARSE_END). After
 * XS_PARSE_END the next call begins a new message; `head` stays until then,
 * and body bytes that were not taken are forgotten. A few empty lines before a
 * request are skipped. */
enum xs_parse xs_parser_feed(struct xs_parser *parser, uint8_t *data,
                             size_t len, size_t *used);

/* The block's bytes were moved by `delta` (to lower addresses if negative)
 * before the head is complete: let the slices follow. */
void xs_parser_rebase(struct xs_parser *parser, ptrdiff_t delta);

/* The message that has begun is a HEAD request; known from the first byte of
 * its target on, also if it is refused. */
bool xs_parser_is_head(const struct xs_parser *parser);

/* The first `len` body bytes are taken. */
static inline void xs_parser_take(struct xs_parser *parser, size_t len)
{
    XS_ASSERT(len <= parser->body_len);
    if (len > 0) { /* else there may be no body at all */
        parser->body += len;
        parser->body_len -= len;
    }
}

#endif
