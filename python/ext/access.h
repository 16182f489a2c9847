/* access.h - the access log: a format, its lines, and where they go.
 *
 *     access_format.c   text ──▶ a small program, once
 *     access_line.c     program, one request ──▶ one line
 *     access_text.c     what a client's bytes look like in it
 *     access_sink.c     lines ──▶ a descriptor
 *
 * Nothing here knows Python. No byte of a client's can end a line, leave its
 * quotes or reach a terminal as a control character. */

#ifndef XS_EXT_ACCESS_H
#define XS_EXT_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/conn/server.h"

/* ---- the format ---- */

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

/* ---- a line ---- */

/* The present second as text, kept while it lasts. */
struct access_clock {
    uint64_t process; /* our number; set by the owner */
    int64_t second;   /* since 1970 */
    size_t local_len;
    char local[32]; /* "[01/Dec/2026:02:43:52 +0000]" */
    size_t utc_len;
    char utc[24]; /* "2026-12-01T02:43:52" */
};

/* Put the line of `entry`, with its end, to `out`, where there is room for
 * `line_max` bytes; its length. */
size_t access_line(char *out, const struct access_format *format,
                   const struct xs_access *entry, uint64_t wall_ns,
                   struct access_clock *clock);

/* "127.0.0.1:80", "[::1]:80" or "unix", a string, without a port that nobody
 * knows. */
#define ACCESS_CLIENT_MAX ((size_t)XS_IO_HOST_MAX + 16)
size_t access_client(char out[ACCESS_CLIENT_MAX],
                     const struct xs_io_addr *addr);

/* ---- the sink ---- */

/* Lines that wait for a reader who is slow: some ten thousand. */
#define ACCESS_SINK_BYTES ((size_t)1024 * 1024)

struct access_sink {
    int fd;
    bool is_file;  /* takes everything at once: there is nothing to wait for */
    bool inside;   /* a line was begun and is not written to its end */
    size_t from;   /* in buffer: the first byte that waits */
    size_t to;     /* one past the last */
    uint64_t lost; /* lines that found no room, or no descriptor */
    int error;     /* errno of the last write that failed; 0: none did */
    char *buffer;  /* owned */
};

/* False if there is no memory. `fd` is borrowed. */
bool access_sink_init(struct access_sink *sink, int fd);
void access_sink_fini(struct access_sink *sink);

/* Room for `len` <= ACCESS_LINE_MAX bytes of a line; NULL: there is none, the
 * line is counted as lost. May write. */
char *access_sink_room(struct access_sink *sink, size_t len);

/* A whole line of `len` bytes was put there. */
void access_sink_add(struct access_sink *sink, size_t len);

/* Write what the descriptor takes without waiting. Whole lines together, in
 * pieces that a pipe does not mix with those of other processes. */
void access_sink_flush(struct access_sink *sink);

/* Likewise, and wait for a reader up to `wait_ms`. What it does not take then
 * is lost, and counted. */
void access_sink_drain(struct access_sink *sink, int wait_ms);

static inline bool access_sink_waits(const struct access_sink *sink)
{
    return sink->from < sink->to;
}

#endif
