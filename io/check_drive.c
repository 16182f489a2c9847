/* check_drive.c - the rules of drive.h, and the order of posted jobs. */

#include "core/base/deadline.h"
#include "io/check_inside.h"

struct check_watch {
    struct xs_check_part part;
    struct xs_check *check;
    struct xs_watch inner;
    struct xs_watch *outer; /* borrowed until it is ended */
    unsigned wanted;
};

/* A job of the caller's in a box that knows its turn. */
struct check_job {
    struct xs_io_job base;
    struct xs_check *check;
    struct xs_io_job *outer; /* borrowed until run */
    uint64_t turn;
};

static void on_job(struct xs_io_job *base)
{
    struct check_job *job = xs_container_of(base, struct check_job, base);
    struct xs_check *check = job->check;
    struct xs_io_job *outer = job->outer;

    xs_check_enter(check);
    (void)pthread_mutex_lock(&check->posts.lock);
    XS_ASSERT(job->turn == check->posts.run); /* io.h, rule 12 */
    check->posts.run++;
    (void)pthread_mutex_unlock(&check->posts.lock);
    xs_mem_free(&check->mem, job);
    outer->run(outer);
    xs_check_leave(check);
}

/* Any thread. Numbering and posting are one step, or the numbers would not be
 * the order. */
void xs_check_post(struct xs_io *io, struct xs_io_job *outer)
{
    struct xs_check *check = xs_check_of(io);
    struct check_job *job = xs_mem_new(&check->mem, sizeof *job);

    XS_ASSERT(job != NULL);
    XS_ASSERT(outer->run != NULL);
    job->base.run = on_job;
    job->check = check;
    job->outer = outer;
    (void)pthread_mutex_lock(&check->posts.lock);
    job->turn = check->posts.posted++;
    check->inner->io->ops->post(check->inner->io, &job->base);
    (void)pthread_mutex_unlock(&check->posts.lock);
}

static void on_block(void *user)
{
    struct xs_check *check = user;

    XS_ASSERT(check->running);
    XS_ASSERT(check->timeout_ns != 0); /* drive.h, rule 1 */
    XS_ASSERT(!check->inside);
    XS_ASSERT(!check->blocked);
    XS_ASSERT(!check->deferred); /* io.h, rule 10 */
    if (check->drive.block != NULL) {
        check->drive.block(check->drive.user);
    }
    check->blocked = true;
}

static void on_wake(void *user)
{
    struct xs_check *check = user;

    XS_ASSERT(check->running);
    XS_ASSERT(!check->inside);
    XS_ASSERT(check->blocked);
    check->blocked = false;
    if (check->drive.wake != NULL) {
        check->drive.wake(check->drive.user);
    }
}

static void on_kick(void *user)
{
    struct xs_check *check = user;

    XS_ASSERT(!check->running); /* drive.h, rule 4 */
    XS_ASSERT(!check->kicked);
    check->kicked = true;
    if (check->drive.kick != NULL) {
        check->drive.kick(check->drive.user);
    }
}

void xs_check_hook(struct xs_check *check)
{
    check->inner->user = check;
    check->inner->block = on_block;
    check->inner->wake = on_wake;
    check->inner->kick = on_kick;
}

int xs_check_run(struct xs_drive *drive, uint64_t timeout_ns)
{
    struct xs_check *check = xs_check_of_drive(drive);
    int err;

    XS_ASSERT(!check->running);
    XS_ASSERT(!check->inside);
    XS_ASSERT(!check->calling);
    check->running = true;
    check->kicked = false;
    check->timeout_ns = timeout_ns;
    err = check->inner->ops->run(check->inner, timeout_ns);
    check->running = false;
    XS_ASSERT(!check->inside);
    XS_ASSERT(!check->blocked);
    XS_ASSERT(err == 0 || err == XS_EIO);
    return err;
}

static void on_watch(struct xs_watch *inner, unsigned events)
{
    struct check_watch *watch = inner->user;
    struct xs_check *check = watch->check;

    xs_check_enter(check);
    XS_ASSERT(!watch->part.is_closed);
    XS_ASSERT(events != 0);
    XS_ASSERT((events & ~watch->wanted) == 0);
    watch->outer->on_ready(watch->outer, events);
    xs_check_leave(check);
}

static struct check_watch *watch_new(struct xs_check *check,
                                     struct xs_watch *outer)
{
    struct check_watch *watch = xs_mem_new(&check->mem, sizeof *watch);

    XS_ASSERT(watch != NULL);
    watch->check = check;
    watch->outer = outer;
    watch->inner.fd = outer->fd;
    watch->inner.on_ready = on_watch;
    watch->inner.user = watch;
    xs_check_open(check, &watch->part);
    return watch;
}

int xs_check_watch(struct xs_drive *drive, struct xs_watch *outer,
                   unsigned events)
{
    struct xs_check *check = xs_check_of_drive(drive);
    struct check_watch *watch = outer->backend;
    unsigned before;
    int err;

    XS_ASSERT((events & ~((unsigned)XS_IO_READ | XS_IO_WRITE)) == 0);
    if (watch == NULL) {
        if (events == 0) {
            return 0;
        }
        watch = watch_new(check, outer);
    }
    XS_ASSERT(!watch->part.is_closed);
    before = watch->wanted;
    xs_check_call(check);
    err = check->inner->ops->watch(check->inner, &watch->inner, events);
    xs_check_called(check);
    XS_ASSERT(err == 0 || err == XS_EINVALID || err == XS_ENOMEM);
    XS_ASSERT(err == 0 || events != 0);
    watch->wanted = err == 0 ? events : before;
    outer->backend = watch;
    if (watch->wanted == 0) {
        outer->backend = NULL;
        XS_ASSERT(watch->inner.backend == NULL);
        xs_check_close(check, &watch->part);
    }
    return err;
}

int xs_check_fd(struct xs_drive *drive)
{
    struct xs_check *check = xs_check_of_drive(drive);

    return check->inner->ops->fd(check->inner);
}

uint64_t xs_check_next(struct xs_drive *drive)
{
    struct xs_check *check = xs_check_of_drive(drive);
    uint64_t next_ns = check->inner->ops->next(check->inner);

    XS_ASSERT(!check->deferred || next_ns == 0);
    XS_ASSERT(check->alarm_ns == XS_NEVER || next_ns != XS_NEVER);
    return next_ns;
}
