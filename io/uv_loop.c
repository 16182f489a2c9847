/* uv_loop.c - time, the alarm, defer, and the order of things in `run`. */

#include "io/uv_loop.h"

#include <time.h>

#include "core/base/deadline.h"
#include "core/base/limits.h"
#include "io/uv.h"
#include "io/uv_errno.h"

/* How often a `run` that must not block polls again because callbacks have
 * changed what is polled. Then `next` says that another `run` is due. */
#define LOOP_ROUNDS_MAX 4

struct xs_uv *xs_uv_of_drive(struct xs_drive *drive)
{
    return xs_container_of(drive, struct xs_uv, drive);
}

/* The first callback after the wait does this, or the end of the wait. */
static void loop_woke(struct xs_uv *uv)
{
    if (!uv->blocked) {
        return;
    }
    uv->blocked = false;
    if (uv->drive.wake != NULL) {
        uv->drive.wake(uv->drive.user);
    }
}

void xs_uv_enter(struct xs_uv *uv)
{
    XS_ASSERT(!uv->inside);
    loop_woke(uv);
    uv->inside = true;
    uv->now_ns = 0;
}

void xs_uv_leave(struct xs_uv *uv)
{
    XS_ASSERT(uv->inside);
    uv->inside = false;
}

void xs_uv_changed(struct xs_uv *uv)
{
    if (uv->running || uv->kicked) {
        return;
    }
    uv->kicked = true;
    if (uv->drive.kick != NULL) {
        uv->drive.kick(uv->drive.user);
    }
}

/* The clock is read once per callback and only if somebody asks. Outside of
 * callbacks there is nothing to be the same all through. */
static uint64_t loop_now(struct xs_io *io)
{
    struct xs_uv *uv = xs_uv_of(io);

    if (!uv->inside) {
        return uv_hrtime();
    }
    if (uv->now_ns == 0) {
        uv->now_ns = uv_hrtime();
    }
    return uv->now_ns;
}

static uint64_t loop_clock(struct xs_io *io)
{
    (void)io;
    return uv_hrtime();
}

static uint64_t loop_wall(struct xs_io *io)
{
    struct timespec now;

    (void)io;
    (void)timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * XS_SECOND_NS + (uint64_t)now.tv_nsec;
}

static void loop_alarm(struct xs_io *io, uint64_t at_ns)
{
    struct xs_uv *uv = xs_uv_of(io);

    uv->alarm_ns = at_ns;
    xs_uv_changed(uv);
}

static void loop_defer(struct xs_io *io)
{
    struct xs_uv *uv = xs_uv_of(io);

    uv->deferred = true;
    xs_uv_changed(uv);
}

static void loop_random(struct xs_io *io, uint8_t *data, size_t len)
{
    int err = uv_random(NULL, NULL, data, len, 0, NULL);

    (void)io;
    XS_ASSERT(err == 0);
}

/* These two say whether they called the core. */

static bool loop_run_alarm(struct xs_uv *uv)
{
    if (uv->alarm_ns == XS_NEVER || uv_hrtime() < uv->alarm_ns) {
        return false;
    }
    uv->alarm_ns = XS_NEVER;
    xs_uv_enter(uv);
    uv->io.on_alarm(&uv->io);
    xs_uv_leave(uv);
    return true;
}

static bool loop_run_defer(struct xs_uv *uv)
{
    if (!uv->deferred) {
        return false;
    }
    uv->deferred = false;
    xs_uv_enter(uv);
    uv->io.on_defer(&uv->io);
    xs_uv_leave(uv);
    return true;
}

/* The wait is over. Old versions of libuv call this before they wait, too:
 * the stop makes sure that then they do not. */
static void on_timer(uv_timer_t *timer)
{
    struct xs_uv *uv = xs_container_of(timer, struct xs_uv, timer);

    uv->timer_ms = XS_NEVER;
    uv_stop(&uv->loop);
    (void)loop_run_alarm(uv);
}

/* End the wait at `at_ns`, rounded up to libuv's milliseconds: an alarm is
 * never early. */
static void loop_set_timer(struct xs_uv *uv, uint64_t at_ns)
{
    uint64_t ms = at_ns / XS_MS_NS + (at_ns % XS_MS_NS != 0 ? 1 : 0);
    uint64_t now_ms = uv_now(&uv->loop);
    int err;

    if (at_ns == XS_NEVER) {
        if (uv->timer_ms != XS_NEVER) {
            uv->timer_ms = XS_NEVER;
            (void)uv_timer_stop(&uv->timer);
        }
        return;
    }
    if (ms == uv->timer_ms) {
        return;
    }
    uv->timer_ms = ms;
    err =
        uv_timer_start(&uv->timer, on_timer, ms > now_ms ? ms - now_ms : 0, 0);
    XS_ASSERT(err == 0);
}

/* One poll, which waits until `until_ns` at most; 0: not at all. It does not
 * wait if a callback has run before it: that may have given the host something
 * to do. libuv does not wait while it has something to close.
 * (uv_backend_timeout cannot be asked: it says 0, too, when descriptors are
 * new to the poll.) */
static void loop_poll(struct xs_uv *uv, uint64_t until_ns)
{
    bool ran = loop_run_alarm(uv);

    ran = loop_run_defer(uv) || ran;
    xs_uv_fd_apply(uv);
    if (until_ns == 0 || ran || uv->closing != 0) {
        (void)uv_run(&uv->loop, UV_RUN_NOWAIT);
    } else {
        uv_update_time(&uv->loop); /* new versions do not before they wait */
        loop_set_timer(uv, until_ns < uv->alarm_ns ? until_ns : uv->alarm_ns);
        uv->blocked = true;
        if (uv->drive.block != NULL) {
            uv->drive.block(uv->drive.user);
        }
        (void)uv_run(&uv->loop, UV_RUN_ONCE);
        loop_woke(uv);
    }
    (void)loop_run_defer(uv);
}

/* Something waits for another poll. */
static bool loop_is_stale(const struct xs_uv *uv)
{
    return uv->deferred || uv->closing != 0 || !xs_list_empty(&uv->changed);
}

static int loop_run(struct xs_drive *drive, uint64_t timeout_ns)
{
    struct xs_uv *uv = xs_uv_of_drive(drive);
    uint64_t now_ns;

    XS_ASSERT(!uv->running);
    XS_ASSERT(!uv->inside);
    uv->running = true;
    uv->kicked = false;
    if (timeout_ns == 0) {
        unsigned rounds = LOOP_ROUNDS_MAX;
        do {
            loop_poll(uv, 0);
        } while (loop_is_stale(uv) && --rounds != 0);
    } else if (timeout_ns == XS_NEVER) {
        loop_poll(uv, XS_NEVER);
    } else {
        now_ns = uv_hrtime();
        loop_poll(uv, timeout_ns < XS_NEVER - now_ns ? now_ns + timeout_ns
                                                     : XS_NEVER);
    }
    uv->running = false;
    return 0;
}

static int loop_fd(struct xs_drive *drive)
{
    return uv_backend_fd(&xs_uv_of_drive(drive)->loop);
}

static uint64_t loop_next(struct xs_drive *drive)
{
    const struct xs_uv *uv = xs_uv_of_drive(drive);
    uint64_t now_ns;

    if (loop_is_stale(uv)) {
        return 0;
    }
    if (uv->alarm_ns == XS_NEVER) {
        return XS_NEVER;
    }
    now_ns = uv_hrtime();
    return uv->alarm_ns > now_ns ? uv->alarm_ns - now_ns : 0;
}

static void loop_free(struct xs_drive *drive)
{
    struct xs_uv *uv = xs_uv_of_drive(drive);
    struct xs_mem mem = uv->mem;
    int err;

    XS_ASSERT(!uv->running);
    XS_ASSERT(uv->open == 0);
    xs_uv_inbox_fini(uv);
    uv_close((uv_handle_t *)&uv->timer, NULL);
    (void)uv_run(&uv->loop, UV_RUN_DEFAULT);
    err = uv_loop_close(&uv->loop);
    XS_ASSERT(err == 0);
    xs_mem_free(&mem, uv);
}

static const struct xs_io_ops uv_ops = {
    .now = loop_now,
    .wall = loop_wall,
    .clock = loop_clock,
    .alarm = loop_alarm,
    .defer = loop_defer,
    .listen = xs_uv_listen,
    .accept = xs_uv_accept,
    .accept_want = xs_uv_accept_want,
    .unlisten = xs_uv_unlisten,
    .recv = xs_uv_recv,
    .writev = xs_uv_writev,
    .sendfile = xs_uv_sendfile,
    .want = xs_uv_want,
    .unacked = xs_uv_unacked,
    .shutdown_wr = xs_uv_shutdown_wr,
    .close = xs_uv_close,
    .random = loop_random,
    .post = xs_uv_post,
    .note = NULL,
};

static const struct xs_drive_ops uv_drive_ops = {
    .run = loop_run,
    .watch = xs_uv_watch,
    .fd = loop_fd,
    .next = loop_next,
    .free = loop_free,
};

struct xs_uv *xs_uv_of(struct xs_io *io)
{
    XS_ASSERT(io->ops == &uv_ops);
    return xs_container_of(io, struct xs_uv, io);
}

int xs_uv_new(struct xs_drive **out)
{
    struct xs_mem mem = xs_mem_libc();
    struct xs_uv *uv = xs_mem_new(&mem, sizeof *uv);
    int err;

    if (uv == NULL) {
        return XS_ENOMEM;
    }
    err = uv_loop_init(&uv->loop);
    if (err != 0) {
        xs_mem_free(&mem, uv);
        return xs_uv_errno_setup(err);
    }
    uv->mem = mem;
    uv->io.ops = &uv_ops;
    uv->io.mem = &uv->mem;
    uv->drive.ops = &uv_drive_ops;
    uv->drive.io = &uv->io;
    uv->alarm_ns = XS_NEVER;
    uv->timer_ms = XS_NEVER;
    xs_list_init(&uv->changed);
    err = xs_uv_inbox_init(uv);
    if (err != 0) {
        (void)uv_loop_close(&uv->loop);
        xs_mem_free(&mem, uv);
        return err;
    }
    err = uv_timer_init(&uv->loop, &uv->timer);
    XS_ASSERT(err == 0);
    *out = &uv->drive;
    return 0;
}
