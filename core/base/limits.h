/* limits.h - every bound and every duration of the core, with its reason.
 *
 * The constants shape the code; the struct is what a user may set. */

#ifndef XS_BASE_LIMITS_H
#define XS_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* One block of received bytes: a request head must fit into it, and it is all
 * of a request body that waits for the application. */
#define XS_RX_BLOCK ((size_t)64 * 1024)

/* The most header fields that a request may have, whatever the option says. */
#define XS_FIELDS_MAX 1000u

/* Bytes of empty lines that are skipped before a request: some clients send
 * one after a body (RFC 9112 2.2). */
#define XS_EMPTY_LINES_MAX 16u

/* Bytes of framing that each chunk of a request body has for nothing: size
 * line, and the line end behind the data. */
#define XS_CHUNK_FRAMING ((size_t)24)

/* Bytes beyond that are extensions and padding. Up to so many of them are taken
 * by default; each byte of data gives a sixteenth of a byte back, so that long
 * uploads with a signature in each chunk pass. */
#define XS_CHUNK_EXTRA_MAX ((size_t)8 * 1024)
#define XS_CHUNK_EXTRA_SHARE 16u

/* Proxies of ours between a client and us: more are not looked at. */
#define XS_HOPS_MAX 32u

/* Coalesced output is handed to the socket when it crosses this. */
#define XS_TX_FLUSH ((size_t)64 * 1024)

/* So are lent pieces, when they are this many: however short, each may hold a
 * descriptor. */
#define XS_TX_LENT 16u

/* A body piece up to this size is copied beside the head: no dearer than a
 * second slice and a reference, and it can be forgotten (bench/lent.c). */
#define XS_TX_COPY_MAX ((size_t)16 * 1024)

/* Bytes of the fields that a response may have besides its head's, at once: as
 * much goes over the queue's high mark. */
#define XS_ASIDE_MAX ((size_t)16 * 1024)

/* What an empty output queue keeps. */
#define XS_TX_KEEP ((size_t)4 * 1024)

/* Bytes that one connection may write in one turn before others get theirs. */
#define XS_TX_TURN ((size_t)1024 * 1024)

/* Connections whose answers, given one after the other, are written together:
 * the first event of a thousand need not wait for the last. */
#define XS_TX_TOGETHER 16u

/* Connections accepted in one turn. */
#define XS_ACCEPT_TURN 64u

/* How long to leave waiting connections alone when descriptors ran out. */
#define XS_ACCEPT_PAUSE_NS ((uint64_t)250000000)

/* Rounds of reading, writing and draining that one connection gets in one
 * turn. */
#define XS_TURN_ROUNDS 8u

/* Pipelined requests that one connection starts in one turn. */
#define XS_PIPELINE_TURN 64u

/* Bytes of an answered request's body that are read and thrown away so that
 * the next request can come. With more our side of the connection ends, and
 * XS_DEADLINE_LINGER bounds how long the rest is thrown away. */
#define XS_DISCARD_MAX ((size_t)1024 * 1024)

/* The same of a chunked body, whose length nobody knew when the answer said
 * that the connection goes on. A client believes that once it has sent all, so
 * this is more than Linux holds of it by default: 4 MiB on the way out, 6 MiB
 * on the way in. */
#define XS_DISCARD_CHUNKED_MAX ((size_t)16 * 1024 * 1024)

/* A server that stops looks this often whether those who linger have all that
 * was sent to them, and who is not fresh any more: nobody tells it. */
#define XS_STOP_LOOK_NS ((uint64_t)50000000)

/* A server that stops waits so long, from when it began to wait, for a head:
 * who has just connected is about to say something, and would lose it. Enough
 * for a round trip round the world and a busy client; a connection that a
 * browser has opened in advance is mostly older. */
#define XS_STOP_FRESH_NS ((uint64_t)1000000000)

/* Parts of the write deadline. In each it is looked whether the peer has
 * acknowledged anything; who has not in so many is lost, and that is at most
 * one part later than the deadline. */
#define XS_WRITE_LOOKS 4u

#define XS_SECOND_NS ((uint64_t)1000000000)
#define XS_MS_NS ((uint64_t)1000000)

/* The kinds of deadline. Each has one list; see deadline.h. */
enum xs_deadline_kind {
    XS_DEADLINE_HEAD,       /* first byte of a head until its end */
    XS_DEADLINE_BODY,       /* body progress while the application waits */
    XS_DEADLINE_KEEP_ALIVE, /* between requests */
    XS_DEADLINE_WRITE,      /* write progress while bytes wait */
    XS_DEADLINE_LINGER,     /* our side is closed, the peer still sends */
    XS_DEADLINE_KINDS
};

/* What a user may set. Durations in ns, XS_NEVER switches one off. */
struct xs_limits {
    uint64_t timeout_ns[XS_DEADLINE_KINDS];
    size_t request_line_max;     /* bytes: method, target and version */
    size_t request_field_max;    /* bytes: one field's name and value */
    unsigned request_fields_max; /* count, at most XS_FIELDS_MAX */
    size_t request_head_max;     /* bytes: the line and all fields, with their
                                  * ends; at most XS_RX_BLOCK */
    size_t request_trailer_max;  /* bytes: the fields behind a chunked body */
    size_t chunk_extra_max;      /* bytes that a chunked body may have for
                                  * neither data nor plain framing */
    uint64_t request_body_max;   /* bytes; UINT64_MAX: no limit */
    unsigned keep_alive_max;     /* requests of a connection; 0: no limit */
    unsigned connections_max;    /* open at once; 0: no limit */
    unsigned requests_max;       /* at the application at once; 0: no limit */
    size_t tx_high;              /* bytes queued at which `send` waits */
    size_t tx_low;               /* bytes queued at which it goes on */
    size_t backlog_max;          /* bytes of all responses that wait for their
                                  * clients; SIZE_MAX: no limit */
};

/* The defaults. */
struct xs_limits xs_limits_default(void);

#endif
