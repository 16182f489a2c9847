/* sink.c - the lines of the access log on their way to a descriptor.
 *
 *     buffer:  | written | line | line | line |  room  |
 *                     from^                 to^
 *
 * The descriptor is shared with whoever else has it, so it is not made
 * non-blocking: it is asked first whether it takes something. A pipe that says
 * yes takes PIPE_BUF bytes without blocking and without mixing them with those
 * of others (POSIX, write). So pieces have at most that many, and end where a
 * line ends; only a longer line goes in several.
 *
 * When a reader is slow, lines wait here. When there is no more room, new ones
 * are lost and counted: the server does not stand still for its log. */

#define _POSIX_C_SOURCE 200809L

#include "access/sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/format.h"
#include "core/base/base.h"

#ifndef PIPE_BUF
#define PIPE_BUF _POSIX_PIPE_BUF
#endif
#define PIECE_MAX ((size_t)PIPE_BUF)

/* A file takes what there is. */
#define PIECE_FILE_MAX ((size_t)1024 * 1024)

bool access_sink_init(struct access_sink *sink, int fd)
{
    struct stat status;

    *sink = (struct access_sink){.fd = fd};
    sink->is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    sink->buffer = malloc(ACCESS_SINK_BYTES);
    return sink->buffer != NULL;
}

void access_sink_fini(struct access_sink *sink)
{
    free(sink->buffer);
    sink->buffer = NULL;
}

/* The next bytes to write: whole lines, or a part of one that is too long. */
static size_t sink_piece(const struct access_sink *sink)
{
    const char *begin = sink->buffer + sink->from;
    size_t len = sink->to - sink->from;
    size_t max = sink->is_file ? PIECE_FILE_MAX : PIECE_MAX;

    if (len <= max) {
        return len;
    }
    for (size_t i = max; i > 0; i--) {
        if (begin[i - 1] == '\n') {
            return i;
        }
    }
    return max;
}

/* The descriptor takes nothing any more: what waits is lost. */
static void sink_lose_all(struct access_sink *sink)
{
    for (size_t i = sink->from + sink->mends; i < sink->to; i++) {
        sink->lost += sink->buffer[i] == '\n';
    }
    sink->from = 0;
    sink->to = 0;
    sink->mends = false;
}

/* Wait until the descriptor takes something. False: it does not. */
static bool sink_is_ready(const struct access_sink *sink, int wait_ms)
{
    struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};

    return sink->is_file || poll(&ready, 1, wait_ms) > 0;
}

/* Write one piece. False if no more can be written now. */
static bool sink_write(struct access_sink *sink, int wait_ms)
{
    ssize_t wrote;

    if (!sink_is_ready(sink, wait_ms)) {
        return false;
    }
    wrote = write(sink->fd, sink->buffer + sink->from, sink_piece(sink));
    if (wrote > 0) {
        sink->from += (size_t)wrote;
        sink->inside = sink->buffer[sink->from - 1] != '\n';
        sink->mends = false;
        return true;
    }
    if (wrote < 0 && errno == EINTR) {
        return true;
    }
    if (wrote < 0 && errno != EAGAIN) {
        sink->error = errno;
        sink_lose_all(sink);
    }
    return false;
}

/* Write all that is taken. False if something is left. */
static bool sink_write_all(struct access_sink *sink)
{
    while (sink->from < sink->to) {
        if (!sink_write(sink, 0)) {
            break;
        }
    }
    if (sink->from == sink->to) {
        sink->from = 0;
        sink->to = 0;
        return true;
    }
    return false;
}

void access_sink_flush(struct access_sink *sink)
{
    (void)sink_write_all(sink);
}

static int64_t sink_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void access_sink_drain(struct access_sink *sink, int wait_ms)
{
    int64_t until = sink_now_ms() + wait_ms;

    while (!sink_write_all(sink)) {
        int64_t left = until - sink_now_ms();
        if (left <= 0 || !sink_is_ready(sink, (int)left)) {
            sink_lose_all(sink);
        }
    }
}

char *access_sink_room(struct access_sink *sink, size_t len)
{
    XS_ASSERT(len <= ACCESS_LINE_MAX);
    if (sink->inside && sink->from == sink->to) {
        /* Its end was lost: begin another. */
        sink->buffer[sink->to++] = '\n';
        sink->mends = true;
    }
    if (ACCESS_SINK_BYTES - sink->to >= len) {
        return sink->buffer + sink->to;
    }
    (void)sink_write_all(sink);
    if (sink->from > 0) {
        memmove(sink->buffer, sink->buffer + sink->from, sink->to - sink->from);
        sink->to -= sink->from;
        sink->from = 0;
    }
    if (ACCESS_SINK_BYTES - sink->to < len) {
        sink->lost++;
        return NULL;
    }
    return sink->buffer + sink->to;
}

void access_sink_add(struct access_sink *sink, size_t len)
{
    XS_ASSERT(len > 0 && sink->buffer[sink->to + len - 1] == '\n');
    sink->to += len;
    XS_ASSERT(sink->to <= ACCESS_SINK_BYTES);
}
