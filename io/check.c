/* check.c - time, alarm, defer; and who may call whom, when. */

#include "io/check.h"

#include "core/base/deadline.h"
#include "io/check_inside.h"

/* Closed parts that are remembered. */
#define CHECK_CLOSED_MAX 1024u

/* One per thread: its address tells threads apart. */
static _Thread_local char check_thread;

static void check_on_thread(struct xs_check *check)
{
    if (check->thread == NULL) {
        check->thread = &check_thread;
    }
    XS_ASSERT(check->thread == &check_thread); /* io.h, rule 1 */
}

void xs_check_call(struct xs_check *check)
{
    check_on_thread(check);
    XS_ASSERT(!check->calling);
    XS_ASSERT(!check->blocked);
    check->calling = true;
}

void xs_check_called(struct xs_check *check)
{
    XS_ASSERT(check->calling);
    check->calling = false;
}

void xs_check_enter(struct xs_check *check)
{
    check_on_thread(check);
    XS_ASSERT(!check->calling); /* io.h, rule 2 */
    XS_ASSERT(!check->inside);
    XS_ASSERT(!check->blocked); /* drive.h, rule 3 */
    XS_ASSERT(check->running);
    check->inside = true;
    check->has_now = false;
}

void xs_check_leave(struct xs_check *check)
{
    XS_ASSERT(check->inside);
    check->inside = false;
    check->has_now = false;
}

void xs_check_open(struct xs_check *check, struct xs_check_part *part)
{
    part->is_closed = false;
    xs_list_init(&part->link);
    xs_list_append(&check->open, &part->link);
}

static void check_forget(struct xs_check *check)
{
    struct xs_list *link = xs_list_pop(&check->closed);

    XS_ASSERT(link != NULL);
    check->closed_count--;
    xs_mem_free(&check->mem, xs_container_of(link, struct xs_check_part, link));
}

void xs_check_close(struct xs_check *check, struct xs_check_part *part)
{
    XS_ASSERT(!part->is_closed);
    part->is_closed = true;
    xs_list_remove(&part->link);
    xs_list_append(&check->closed, &part->link);
    check->closed_count++;
    if (check->closed_count > CHECK_CLOSED_MAX) {
        check_forget(check);
    }
}

static uint64_t check_now(struct xs_io *io)
{
    struct xs_check *check = xs_check_of(io);
    uint64_t now_ns;

    xs_check_call(check);
    now_ns = check->inner->io->ops->now(check->inner->io);
    xs_check_called(check);
    XS_ASSERT(now_ns >= check->now_ns); /* io.h, rule 8 */
    if (check->inside && check->has_now) {
        XS_ASSERT(now_ns == check->now_ns);
    }
    check->now_ns = now_ns;
    check->has_now = check->inside;
    return now_ns;
}

static uint64_t check_wall(struct xs_io *io)
{
    struct xs_check *check = xs_check_of(io);
    uint64_t wall_ns;

    xs_check_call(check);
    wall_ns = check->inner->io->ops->wall(check->inner->io);
    xs_check_called(check);
    return wall_ns;
}

static uint64_t check_clock(struct xs_io *io)
{
    struct xs_check *check = xs_check_of(io);
    uint64_t clock_ns;

    xs_check_call(check);
    clock_ns = check->inner->io->ops->clock(check->inner->io);
    xs_check_called(check);
    XS_ASSERT(clock_ns >= check->now_ns); /* io.h, rule 8 */
    return clock_ns;
}

static void check_alarm(struct xs_io *io, uint64_t at_ns)
{
    struct xs_check *check = xs_check_of(io);

    xs_check_call(check);
    check->alarm_ns = at_ns;
    check->inner->io->ops->alarm(check->inner->io, at_ns);
    xs_check_called(check);
}

static void on_alarm(struct xs_io *inner)
{
    struct xs_check *check = inner->user;

    xs_check_enter(check);
    XS_ASSERT(check->alarm_ns != XS_NEVER); /* io.h, rule 9 */
    XS_ASSERT(check_now(&check->io) >= check->alarm_ns);
    check->alarm_ns = XS_NEVER;
    check->io.on_alarm(&check->io);
    xs_check_leave(check);
}

static void check_defer(struct xs_io *io)
{
    struct xs_check *check = xs_check_of(io);

    xs_check_call(check);
    check->deferred = true;
    check->inner->io->ops->defer(check->inner->io);
    xs_check_called(check);
}

static void on_defer(struct xs_io *inner)
{
    struct xs_check *check = inner->user;

    xs_check_enter(check);
    XS_ASSERT(check->deferred); /* io.h, rule 10 */
    check->deferred = false;
    check->io.on_defer(&check->io);
    xs_check_leave(check);
}

static void check_random(struct xs_io *io, uint8_t *data, size_t len)
{
    struct xs_check *check = xs_check_of(io);

    xs_check_call(check);
    check->inner->io->ops->random(check->inner->io, data, len);
    xs_check_called(check);
}

static void check_note(struct xs_io *io, const char *what, uint64_t a,
                       uint64_t b)
{
    xs_io_note(xs_check_of(io)->inner->io, what, a, b);
}

void xs_check_free(struct xs_drive *drive)
{
    struct xs_check *check = xs_check_of_drive(drive);
    struct xs_mem mem = check->mem;

    XS_ASSERT(!check->running);
    XS_ASSERT(xs_list_empty(&check->open));
    XS_ASSERT(check->posts.run == check->posts.posted);
    while (check->closed_count > 0) {
        check_forget(check);
    }
    check->inner->ops->free(check->inner);
    (void)pthread_mutex_destroy(&check->posts.lock);
    xs_mem_free(&mem, check);
}

static const struct xs_io_ops check_ops = {
    .now = check_now,
    .wall = check_wall,
    .clock = check_clock,
    .alarm = check_alarm,
    .defer = check_defer,
    .listen = xs_check_listen,
    .accept = xs_check_accept,
    .accept_want = xs_check_accept_want,
    .unlisten = xs_check_unlisten,
    .recv = xs_check_recv,
    .writev = xs_check_writev,
    .sendfile = xs_check_sendfile,
    .want = xs_check_want,
    .unacked = xs_check_unacked,
    .shutdown_wr = xs_check_shutdown_wr,
    .close = xs_check_close_conn,
    .random = check_random,
    .post = xs_check_post,
    .note = check_note,
};

static const struct xs_drive_ops check_drive_ops = {
    .run = xs_check_run,
    .watch = xs_check_watch,
    .fd = xs_check_fd,
    .next = xs_check_next,
    .free = xs_check_free,
};

struct xs_check *xs_check_of(struct xs_io *io)
{
    XS_ASSERT(io->ops == &check_ops);
    return xs_container_of(io, struct xs_check, io);
}

struct xs_check *xs_check_of_drive(struct xs_drive *drive)
{
    XS_ASSERT(drive->ops == &check_drive_ops);
    return xs_container_of(drive, struct xs_check, drive);
}

int xs_check_new(struct xs_drive **out, struct xs_drive *inner)
{
    struct xs_mem mem = xs_mem_libc();
    struct xs_check *check = xs_mem_new(&mem, sizeof *check);

    if (check == NULL) {
        return XS_ENOMEM;
    }
    if (pthread_mutex_init(&check->posts.lock, NULL) != 0) {
        xs_mem_free(&mem, check);
        return XS_ENOMEM;
    }
    check->mem = mem;
    check->inner = inner;
    check->alarm_ns = XS_NEVER;
    xs_list_init(&check->open);
    xs_list_init(&check->closed);
    check->io.ops = &check_ops;
    check->io.mem = inner->io->mem;
    check->drive.ops = &check_drive_ops;
    check->drive.io = &check->io;
    inner->io->user = check;
    inner->io->on_alarm = on_alarm;
    inner->io->on_defer = on_defer;
    xs_check_hook(check);
    *out = &check->drive;
    return 0;
}
