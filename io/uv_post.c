/* uv_post.c - jobs from other threads, run in the order of posting. */

#include "io/uv_errno.h"
#include "io/uv_loop.h"

static struct xs_io_job *inbox_take(struct xs_uv_inbox *inbox)
{
    struct xs_io_job *first;

    uv_mutex_lock(&inbox->lock);
    first = inbox->first;
    inbox->first = NULL;
    inbox->last = &inbox->first;
    uv_mutex_unlock(&inbox->lock);
    return first;
}

/* Those that are posted by these jobs wait for the next turn. */
static void on_async(uv_async_t *async)
{
    struct xs_uv *uv = xs_container_of(async, struct xs_uv, async);
    struct xs_io_job *job = inbox_take(&uv->inbox);

    while (job != NULL) {
        struct xs_io_job *next = job->next;
        xs_uv_enter(uv);
        job->run(job); /* may free it */
        xs_uv_leave(uv);
        job = next;
    }
}

void xs_uv_post(struct xs_io *io, struct xs_io_job *job)
{
    struct xs_uv *uv = xs_uv_of(io);
    int err;

    XS_ASSERT(job->run != NULL);
    job->next = NULL;
    uv_mutex_lock(&uv->inbox.lock);
    *uv->inbox.last = job;
    uv->inbox.last = &job->next;
    uv_mutex_unlock(&uv->inbox.lock);
    err = uv_async_send(&uv->async);
    XS_ASSERT(err == 0);
}

int xs_uv_inbox_init(struct xs_uv *uv)
{
    int err = uv_mutex_init(&uv->inbox.lock);

    if (err != 0) {
        return xs_uv_errno_setup(err);
    }
    uv->inbox.first = NULL;
    uv->inbox.last = &uv->inbox.first;
    err = uv_async_init(&uv->loop, &uv->async, on_async);
    if (err != 0) {
        uv_mutex_destroy(&uv->inbox.lock);
        return xs_uv_errno_setup(err);
    }
    return 0;
}

void xs_uv_inbox_fini(struct xs_uv *uv)
{
    on_async(&uv->async); /* rule 12: the last ones, too */
    uv_close((uv_handle_t *)&uv->async, NULL);
    uv_mutex_destroy(&uv->inbox.lock);
}
