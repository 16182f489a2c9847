/* oracle_client.h - a strict reader of responses.
 *
 * Written from RFC 9112 alone and not from anything in core/: where the two
 * disagree, one of them is wrong. It takes bytes in any cut and keeps counts,
 * not bytes; a body is compared with what it should be by a hash. */

#ifndef XS_SIM_ORACLE_CLIENT_H
#define XS_SIM_ORACLE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "sim/oracle.h"

#define XS_RESPONSES_MAX 16u
#define XS_READER_LINE_MAX 1024u

enum xs_reader_state {
    XS_READER_LINE,      /* the status line */
    XS_READER_FIELD,     /* a field line, or the empty one */
    XS_READER_BODY,      /* so many bytes */
    XS_READER_SIZE,      /* a chunk-size line */
    XS_READER_CHUNK,     /* bytes of a chunk */
    XS_READER_CHUNK_END, /* its CRLF */
    XS_READER_TRAILER,   /* a trailer line, or the empty one */
    XS_READER_UNTIL_END, /* bytes until the stream ends */
    XS_READER_CLOSED,    /* nothing may follow */
};

struct xs_response {
    unsigned status;
    bool complete;
    bool close; /* it says that the connection ends */
    bool has_length;
    bool chunked;
    uint64_t length;   /* Content-Length */
    uint64_t body_len; /* bytes that came */
    uint32_t body_hash;
};

struct xs_reader {
    struct xs_verdict *verdict; /* borrowed */
    enum xs_reader_state state;

    /* What was asked, in order; set by the client before the answer comes. */
    bool asked_head[XS_RESPONSES_MAX];
    bool asked_trailers[XS_RESPONSES_MAX];
    unsigned asked;

    struct xs_response responses[XS_RESPONSES_MAX];
    unsigned count;     /* final responses begun */
    unsigned complete;  /* final responses complete */
    unsigned continues; /* "100 Continue" seen, ever */
    unsigned hints;     /* "103 Early Hints" seen, ever */
    bool interim;       /* the present head is a 1xx */

    uint64_t left; /* of the body or chunk */
    size_t line_len;
    char line[XS_READER_LINE_MAX];
};

void xs_reader_init(struct xs_reader *reader, struct xs_verdict *verdict);

/* One more request was sent. */
void xs_reader_ask(struct xs_reader *reader, bool is_head);

/* And it takes trailers. */
void xs_reader_ask_trailers(struct xs_reader *reader);

/* Bytes have come. A fault goes to the verdict. */
void xs_reader_feed(struct xs_reader *reader, struct xs_slice bytes);

/* The stream has ended in order. True if that was at a place where it may. */
bool xs_reader_end(struct xs_reader *reader);

/* Fold bytes, the first of which is number `at`, into a body's hash; begin
 * with 0. The cut makes no difference. */
uint32_t xs_reader_hash(uint32_t hash, uint64_t at, struct xs_slice bytes);

#endif
