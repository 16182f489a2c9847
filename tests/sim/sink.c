/* sink.c - a backend for one connection, whose every answer is a choice. */

#include "tests/sim/sink.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/deadline.h"

/* Callbacks that one event can lead to. */
#define ROUNDS_MAX 200u

/* How often a failure is drawn from a seed. */
static const struct xs_ratio kill_ratio = {1, 16};

static struct sink *sink_of(struct xs_io *io)
{
    return xs_container_of(io, struct sink, base);
}

bool sink_kills(struct sink *sink, enum xs_label label)
{
    if (sink->kills == 0 || !xs_flip(sink->tape, label, kill_ratio)) {
        return false;
    }
    sink->kills--;
    return true;
}

static void *sink_resize(struct xs_mem *mem, void *ptr, size_t size)
{
    struct sink *sink = xs_container_of(mem, struct sink, mem);

    if (size == 0) {
        free(ptr);
        return NULL;
    }
    if (sink->open && sink_kills(sink, XS_LABEL_MEM_FAIL)) {
        sink->starved = true;
        return NULL;
    }
    return realloc(ptr, size);
}

/* time */

static uint64_t sink_now(struct xs_io *io)
{
    return sink_of(io)->now_ns;
}

static void sink_set_alarm(struct xs_io *io, uint64_t at_ns)
{
    sink_of(io)->alarm_ns = at_ns;
}

static void sink_defer(struct xs_io *io)
{
    sink_of(io)->deferred = true;
}

/* listening */

static int sink_listen(struct xs_io *io, struct xs_io_listener **out,
                       const struct xs_io_spec *spec)
{
    struct sink *sink = sink_of(io);
    (void)spec;

    sink->listener = (struct xs_io_listener){.io = io};
    *out = &sink->listener;
    return 0;
}

static int sink_accept(struct xs_io_listener *listener, struct xs_io_conn **out)
{
    struct sink *sink = sink_of(listener->io);

    if (!sink->waits) {
        return XS_EAGAIN;
    }
    sink->waits = false;
    sink->open = true;
    sink->conn = (struct xs_io_conn){.io = &sink->base};
    *out = &sink->conn;
    return 0;
}

static void sink_accept_want(struct xs_io_listener *listener, bool want)
{
    (void)listener;
    (void)want;
}

static void sink_unlisten(struct xs_io_listener *listener)
{
    (void)listener;
}

/* the connection */

static struct sink *sink_open(struct xs_io_conn *conn)
{
    struct sink *sink = sink_of(conn->io);

    XS_ASSERT(sink->open);
    return sink;
}

/* The first call hears of the reset itself, the later ones of its effect. */
static int64_t sink_dead(struct sink *sink, int64_t later)
{
    int64_t err = sink->told ? later : XS_ERESET;

    sink->told = true;
    return err;
}

static int64_t sink_recv(struct xs_io_conn *conn, uint8_t *data, size_t len)
{
    struct sink *sink = sink_open(conn);

    if (sink->dead) {
        return sink_dead(sink, 0);
    }
    if (sink->in.len == 0) {
        return sink->fin ? 0 : XS_EAGAIN;
    }
    len = len < sink->in.len ? len : sink->in.len;
    memcpy(data, sink->in.data, len);
    sink->in = xs_slice_of(sink->in.data + len, sink->in.len - len);
    sink->tap->received(sink->tap, len);
    return (int64_t)len;
}

/* Where a write of these slices may be cut, one offset after the other. */
struct cuts {
    size_t from; /* the least offset */
    size_t count;
    size_t pick; /* which is looked for; SIZE_MAX: count them */
    size_t at;   /* the one that was picked */
};

static void cuts_add(struct cuts *cuts, size_t begin, size_t end)
{
    begin = begin > cuts->from ? begin : cuts->from;
    if (begin >= end) {
        return;
    }
    if (cuts->pick >= cuts->count && cuts->pick - cuts->count < end - begin) {
        cuts->at = begin + (cuts->pick - cuts->count);
    }
    cuts->count += end - begin;
    cuts->from = end;
}

static void cuts_walk(struct cuts *cuts, const struct xs_slice *bytes,
                      unsigned count)
{
    size_t begin = 0;

    for (unsigned i = 0; i < count; i++) {
        size_t end = begin + bytes[i].len;

        if (bytes[i].len <= SINK_SMALL) {
            cuts_add(cuts, begin, end);
        } else {
            cuts_add(cuts, begin, begin + SINK_EDGE);
            cuts_add(cuts, end - SINK_EDGE, end);
        }
        begin = end;
    }
}

/* How many of `len` bytes it takes. */
static size_t sink_cut(struct sink *sink, const struct xs_slice *bytes,
                       unsigned count, size_t len)
{
    uint64_t before =
        sink->cut_at > sink->taken ? sink->cut_at - sink->taken : 0;
    struct cuts cuts = {.pick = SIZE_MAX};

    if (sink->full) {
        xs_verdict_fail(sink->verdict, XS_ORACLE_O19,
                        "a write after AGAIN without having been told");
        return 0;
    }
    before += sink->cut_between && before == 0;
    if (sink->cuts == 0 || before >= len ||
        xs_choose(sink->tape, XS_LABEL_WRITE_AGAIN, 2) == 0) {
        return len;
    }
    sink->cuts--;
    sink->full = true;
    if (sink->cut_far) {
        return xs_size(sink->tape, XS_LABEL_WRITE_SHORT, (uint32_t)len - 1);
    }
    cuts.from = (size_t)before;
    cuts_walk(&cuts, bytes, count);
    XS_ASSERT(cuts.count > 0);
    cuts.pick =
        xs_choose(sink->tape, XS_LABEL_WRITE_SHORT, (uint32_t)cuts.count);
    cuts.count = 0;
    cuts.from = (size_t)before;
    cuts_walk(&cuts, bytes, count);
    return cuts.at;
}

static void sink_take(struct sink *sink, struct xs_slice bytes)
{
    sink->taken += bytes.len;
    sink->tap->wrote(sink->tap, bytes.data, bytes.len);
}

static int64_t sink_writev(struct xs_io_conn *conn,
                           const struct xs_slice *bytes, unsigned count)
{
    struct sink *sink = sink_open(conn);
    size_t len = 0;
    size_t left;

    if (!sink->dead && sink_kills(sink, XS_LABEL_NET_RESET_WRITE)) {
        sink->dead = true;
    }
    if (sink->dead) {
        return sink_dead(sink, XS_EPIPE);
    }
    XS_ASSERT(!sink->ended);
    for (unsigned i = 0; i < count; i++) {
        len += bytes[i].len;
    }
    len = sink_cut(sink, bytes, count, len);
    left = len;
    for (unsigned i = 0; i < count && left > 0; i++) {
        size_t part = left < bytes[i].len ? left : bytes[i].len;

        sink_take(sink, xs_slice_of(bytes[i].data, part));
        left -= part;
    }
    return len > 0 ? (int64_t)len : XS_EAGAIN;
}

static int64_t sink_sendfile(struct xs_io_conn *conn, int file, uint64_t offset,
                             size_t len)
{
    struct sink *sink = sink_open(conn);
    struct xs_slice bytes = {NULL, len};
    uint8_t data[4096];
    size_t done = 0;

    if (sink->dead) {
        return sink_dead(sink, XS_EPIPE);
    }
    if (sink_kills(sink, XS_LABEL_FILE_FAILS)) {
        bool ends = xs_choose(sink->tape, XS_LABEL_FILE_ENDS, 2) != 0;

        sink->tap->torn(sink->tap, file);
        return ends ? 0 : XS_EIO;
    }
    len = sink_cut(sink, &bytes, 1, len);
    while (done < len) {
        size_t part = len - done < sizeof data ? len - done : sizeof data;
        int64_t got = sink->read(sink->user, file, offset + done, data, part);

        XS_ASSERT(got > 0);
        sink_take(sink, xs_slice_of(data, (size_t)got));
        done += (size_t)got;
    }
    return len > 0 ? (int64_t)len : XS_EAGAIN;
}

static void sink_want(struct xs_io_conn *conn, unsigned events)
{
    sink_open(conn)->wanted = events;
}

/* The client acknowledges what the sink takes. */
static int64_t sink_unacked(struct xs_io_conn *conn)
{
    (void)sink_open(conn);
    return 0;
}

static int sink_shutdown_wr(struct xs_io_conn *conn)
{
    struct sink *sink = sink_open(conn);

    if (sink->dead) {
        return (int)sink_dead(sink, XS_EPIPE);
    }
    XS_ASSERT(!sink->ended);
    sink->ended = true;
    sink->shut = true;
    sink->tap->ended(sink->tap);
    return 0;
}

static void sink_close(struct xs_io_conn *conn, bool abort)
{
    struct sink *sink = sink_open(conn);

    if (!abort && !sink->ended && !sink->dead) {
        sink->ended = true;
        sink->tap->ended(sink->tap);
    }
    sink->tap->closed(sink->tap, abort, sink->dead);
    sink->open = false;
}

static void sink_random(struct xs_io *io, uint8_t *data, size_t len)
{
    (void)io;
    memset(data, 0, len);
}

static void sink_post(struct xs_io *io, struct xs_io_job *job)
{
    (void)io;
    (void)job;
    XS_UNREACHABLE();
}

static void sink_note(struct xs_io *io, const char *what, uint64_t a,
                      uint64_t b)
{
    struct sink *sink = sink_of(io);
    (void)a;

    sink->on_note(sink->user, what, b);
}

static const struct xs_io_ops sink_ops = {
    .now = sink_now,
    .wall = sink_now,
    .clock = sink_now,
    .alarm = sink_set_alarm,
    .defer = sink_defer,
    .listen = sink_listen,
    .accept = sink_accept,
    .accept_want = sink_accept_want,
    .unlisten = sink_unlisten,
    .recv = sink_recv,
    .writev = sink_writev,
    .sendfile = sink_sendfile,
    .want = sink_want,
    .unacked = sink_unacked,
    .shutdown_wr = sink_shutdown_wr,
    .close = sink_close,
    .random = sink_random,
    .post = sink_post,
    .note = sink_note,
};

/* the holder's side */

void sink_init(struct sink *sink)
{
    *sink = (struct sink){
        .base = {.ops = &sink_ops},
        .mem = {.resize = sink_resize},
        .alarm_ns = XS_NEVER,
    };
    sink->base.mem = &sink->mem;
}

/* What is both true and wanted. */
static unsigned sink_events(const struct sink *sink)
{
    unsigned events = 0;

    if (!sink->open) {
        return 0;
    }
    if (sink->dead && !sink->told) {
        events = XS_IO_READ | XS_IO_WRITE | XS_IO_HANGUP;
    } else if (sink->dead) {
        events = XS_IO_READ | XS_IO_WRITE;
    } else {
        events |= sink->in.len > 0 || sink->fin ? (unsigned)XS_IO_READ : 0;
        events |= sink->fin ? (unsigned)XS_IO_HANGUP : 0;
        events |= sink->full ? 0 : (unsigned)XS_IO_WRITE;
    }
    return events & sink->wanted;
}

void sink_settle(struct sink *sink)
{
    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        unsigned events = sink_events(sink);

        if (sink->deferred) {
            sink->deferred = false;
            sink->base.on_defer(&sink->base);
        } else if (events != 0) {
            sink->conn.on_ready(&sink->conn, events);
        } else {
            return;
        }
    }
    xs_verdict_fail(sink->verdict, XS_ORACLE_O19,
                    "callbacks that lead to nothing");
}

void sink_connect(struct sink *sink)
{
    XS_ASSERT(!sink->open);
    sink->waits = true;
    sink->full = false;
    sink->ended = false;
    sink->shut = false;
    sink->fin = false;
    sink->dead = false;
    sink->told = false;
    sink->starved = false;
    sink->wanted = 0;
    sink->in = (struct xs_slice){NULL, 0};
    sink->taken = 0;
    sink->listener.on_ready(&sink->listener);
    sink_settle(sink);
}

void sink_arrive(struct sink *sink, struct xs_slice bytes)
{
    sink->in = bytes;
    sink_settle(sink);
}

void sink_fin(struct sink *sink)
{
    sink->fin = true;
    sink_settle(sink);
}

void sink_reset(struct sink *sink)
{
    sink->dead = true;
    sink_settle(sink);
}

void sink_writable(struct sink *sink)
{
    sink->full = false;
    sink_settle(sink);
}

bool sink_alarm(struct sink *sink)
{
    if (sink->alarm_ns == XS_NEVER) {
        return false;
    }
    sink->now_ns =
        sink->alarm_ns > sink->now_ns ? sink->alarm_ns : sink->now_ns;
    sink->alarm_ns = XS_NEVER;
    sink->base.on_alarm(&sink->base);
    sink_settle(sink);
    return true;
}
