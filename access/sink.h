/* sink.h - the lines of the log on their way to a descriptor. */

#ifndef XS_ACCESS_SINK_H
#define XS_ACCESS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines that wait for a reader who is slow: some ten thousand. */
#define ACCESS_SINK_BYTES ((size_t)1024 * 1024)

struct access_sink {
    int fd;
    bool is_file;  /* takes everything at once: there is nothing to wait for */
    bool inside;   /* a line was begun and is not written to its end */
    bool mends;    /* the first byte that waits ends such a line, whose own end
                    * was lost and counted */
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
