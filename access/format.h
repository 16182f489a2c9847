/* format.h - the format of a log: a text becomes a small program.
 *
 *     format.c   text ──▶ a program, once
 *     line.c     program, one request ──▶ one line
 *     text.c     what a client's bytes look like in it
 *     sink.c     lines ──▶ a descriptor */

#ifndef XS_ACCESS_FORMAT_H
#define XS_ACCESS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/slice.h"
#include "core/conn/access.h"

/* What may stand in %(...)s, those of gunicorn and a family of our own. */
#define ACCESS_ATOMS(X)                                         \
    X(ADDRESS, "h") /* the client's address */                  \
    X(DASH, "l")    /* "-" */                                   \
    X(USER, "u")    /* of Basic authentication */               \
    X(TIME, "t")    /* [01/Dec/2026:02:43:52 +0000] */          \
    X(LINE, "r")    /* GET /a?b HTTP/1.1 */                     \
    X(METHOD, "m")                                              \
    X(PATH, "U")  /* of the target, as sent */                  \
    X(QUERY, "q") /* likewise, without the "?" */               \
    X(PROTOCOL, "H")                                            \
    X(STATUS, "s")                                              \
    X(BYTES, "B") /* of the body */                             \
    X(BYTES_OR_DASH, "b")                                       \
    X(REFERER, "f")                                             \
    X(AGENT, "a")                                               \
    X(SECONDS, "T") /* whole ones */                            \
    X(MICROSECONDS, "D")                                        \
    X(MILLISECONDS, "M")                                        \
    X(DECIMAL, "L")        /* seconds: 0.000412 */              \
    X(PROCESS, "p")        /* <1234> */                         \
    X(CLIENT, "{client}x") /* address and port */               \
    X(TARGET, "{target}x")                                      \
    X(PHRASE, "{status}x") /* 200 OK */                         \
    X(MS, "{ms}x")         /* 0.412 */                          \
    X(ISO, "{time}x")      /* 2026-12-01T02:43:52.123Z */       \
    X(END, "{end}x")       /* "ok", or why it ended early */    \
    X(NOTE, "{note}x")     /* " [why]" if it did, or nothing */ \
    X(CONN, "{conn}x")     /* the connection's number */        \
    X(PID, "{pid}x")

enum access_atom {
    ACCESS_LITERAL,  /* text of the format itself */
    ACCESS_REQUEST,  /* a field of the request: %({name}i)s */
    ACCESS_RESPONSE, /* of the response: %({name}o)s */
#define X(name, text) ACCESS_##name,
    ACCESS_ATOMS(X)
#undef X
};

struct access_step {
    enum access_atom atom;
    unsigned field;       /* index of a field among those that are wanted */
    struct xs_slice text; /* of a literal */
};

#define ACCESS_STEPS_MAX 64u
#define ACCESS_FORMAT_MAX ((size_t)2048)

/* No line is longer. What a format could make of the longest texts is added up
 * when it is read. */
#define ACCESS_LINE_MAX ((size_t)128 * 1024)

/* Points into itself: do not copy. */
struct access_format {
    bool is_json; /* values are JSON's: quoted, numbers, null */
    unsigned step_count;
    struct access_step steps[ACCESS_STEPS_MAX];
    struct xs_access_wants wants; /* for the server */
    struct xs_slice request[XS_ACCESS_FIELDS];
    struct xs_slice response[XS_ACCESS_FIELDS];
    size_t line_max; /* of a line, with its end */
    size_t text_len;
    char text[ACCESS_FORMAT_MAX]; /* literals and names */
};

/* What is wrong with a format. */
struct access_fault {
    size_t at;      /* which character, from 1; 0: the whole */
    char text[128]; /* the sentence without it */
};

/* Read `text`: a name ("default", "common", "combined", "json"), a text with
 * %(...)s in it, or "json:" and such a text. False: see `fault`. */
bool access_format_read(struct access_format *out, struct xs_slice text,
                        struct access_fault *fault);

#endif
