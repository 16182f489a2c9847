/* sim_wait.c - the real world at the edge of the simulation: descriptors that
 * the host watches, and jobs that other threads post. */

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "sim/sim_types.h"

int sim_inbox_init(struct sim_inbox *inbox)
{
    inbox->wake_fds[0] = -1;
    inbox->wake_fds[1] = -1;
    return pthread_mutex_init(&inbox->lock, NULL) == 0 ? 0 : XS_ENOMEM;
}

void sim_inbox_fini(struct sim_inbox *inbox)
{
    if (inbox->wake_fds[0] >= 0) {
        (void)close(inbox->wake_fds[0]);
        (void)close(inbox->wake_fds[1]);
    }
    (void)pthread_mutex_destroy(&inbox->lock);
}

void sim_post(struct xs_io *io, struct xs_io_job *job)
{
    struct xs_sim *sim = sim_of_io(io);
    struct sim_inbox *inbox = &sim->inbox;

    job->next = NULL;
    (void)pthread_mutex_lock(&inbox->lock);
    if (inbox->last == NULL) {
        inbox->first = job;
    } else {
        inbox->last->next = job;
    }
    inbox->last = job;
    if (inbox->wake_fds[1] >= 0) {
        /* A full pipe wakes as well. */
        ssize_t ignored = write(inbox->wake_fds[1], "", 1);

        (void)ignored;
    }
    (void)pthread_mutex_unlock(&inbox->lock);
}

bool sim_jobs(struct xs_sim *sim)
{
    struct sim_inbox *inbox = &sim->inbox;
    struct xs_io_job *job;
    bool did = false;

    (void)pthread_mutex_lock(&inbox->lock);
    job = inbox->first;
    inbox->first = NULL;
    inbox->last = NULL;
    (void)pthread_mutex_unlock(&inbox->lock);
    while (job != NULL) {
        struct xs_io_job *next = job->next; /* `run` may free the job */

        sim_enter(sim);
        sim_event(sim, 0, "job", 0, 0);
        job->run(job);
        sim_leave(sim);
        job = next;
        did = true;
    }
    return did;
}

static bool inbox_has_job(struct sim_inbox *inbox)
{
    bool has;

    (void)pthread_mutex_lock(&inbox->lock);
    has = inbox->first != NULL;
    (void)pthread_mutex_unlock(&inbox->lock);
    return has;
}

/* The descriptor that `post` makes readable. -1: wait without one. */
static int inbox_wake_fd(struct sim_inbox *inbox)
{
    if (inbox->wake_fds[0] < 0) {
        int fds[2];

        if (pipe(fds) != 0) {
            return -1;
        }
        for (int i = 0; i < 2; i++) {
            (void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
            (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        }
        (void)pthread_mutex_lock(&inbox->lock);
        inbox->wake_fds[0] = fds[0];
        inbox->wake_fds[1] = fds[1];
        (void)pthread_mutex_unlock(&inbox->lock);
    }
    return inbox->wake_fds[0];
}

static unsigned watch_find(const struct xs_sim *sim,
                           const struct xs_watch *watch)
{
    unsigned i = 0;

    while (i < sim->watch_count && sim->watches[i] != watch) {
        i++;
    }
    return i;
}

int sim_watch(struct xs_drive *drive, struct xs_watch *watch, unsigned events)
{
    struct xs_sim *sim = xs_sim_of_drive(drive);
    unsigned at = watch_find(sim, watch);

    XS_ASSERT((events & ~(unsigned)(XS_IO_READ | XS_IO_WRITE)) == 0);
    if (events == 0) {
        if (at < sim->watch_count) {
            sim->watch_count--;
            sim->watches[at] = sim->watches[sim->watch_count];
            sim->watch_events[at] = sim->watch_events[sim->watch_count];
            watch->backend = NULL;
        }
        return 0;
    }
    if (watch->fd < 0 || fcntl(watch->fd, F_GETFD) < 0) {
        return XS_EINVALID;
    }
    if (at == SIM_WATCHES_MAX) {
        return XS_ENOMEM;
    }
    if (at == sim->watch_count) {
        sim->watch_count++;
    }
    sim->watches[at] = watch;
    sim->watch_events[at] = events;
    watch->backend = sim;
    return 0;
}

/* What poll said about one watch, in our words. */
static unsigned poll_events(short revents, unsigned wanted)
{
    unsigned events = 0;

    if ((revents & (POLLIN | POLLHUP | POLLERR | POLLPRI)) != 0) {
        events |= XS_IO_READ;
    }
    if ((revents & (POLLOUT | POLLHUP | POLLERR)) != 0) {
        events |= XS_IO_WRITE;
    }
    return events & wanted;
}

/* Ask the system about the watched descriptors and, if we wait, about posted
 * jobs. True if something is ready. */
static bool poll_ask(struct xs_sim *sim, struct pollfd *fds, int wait_ms)
{
    unsigned count = sim->watch_count;
    uint8_t scratch[64];

    for (unsigned i = 0; i < count; i++) {
        unsigned want = sim->watch_events[i];

        fds[i].fd = sim->watches[i]->fd;
        fds[i].events = (short)(((want & XS_IO_READ) != 0 ? POLLIN : 0) |
                                ((want & XS_IO_WRITE) != 0 ? POLLOUT : 0));
        fds[i].revents = 0;
    }
    fds[count] = (struct pollfd){.fd = -1};
    if (wait_ms > 0) {
        fds[count] =
            (struct pollfd){.fd = inbox_wake_fd(&sim->inbox), .events = POLLIN};
        if (inbox_has_job(&sim->inbox)) {
            wait_ms = 0; /* it was posted before there was a wake-up */
        }
    }
    if (poll(fds, count + 1, wait_ms) <= 0) {
        return false;
    }
    while (fds[count].revents != 0 &&
           read(fds[count].fd, scratch, sizeof scratch) > 0) {
    }
    return true;
}

void sim_wait(struct xs_sim *sim)
{
    struct pollfd fds[SIM_WATCHES_MAX + 1];

    (void)poll_ask(sim, fds, XS_SIM_REAL_WAIT_MS);
}

bool sim_poll(struct xs_sim *sim)
{
    struct pollfd fds[SIM_WATCHES_MAX + 1];
    struct xs_watch *told[SIM_WATCHES_MAX];
    unsigned count = sim->watch_count;
    bool did = false;

    for (unsigned i = 0; i < count; i++) {
        told[i] = sim->watches[i];
    }
    if (count == 0 || !poll_ask(sim, fds, 0)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        /* A callback may end any watch, or ask for other events. */
        unsigned at = watch_find(sim, told[i]);
        unsigned events;

        if (at == sim->watch_count) {
            continue;
        }
        events = poll_events(fds[i].revents, sim->watch_events[at]);
        if (events != 0) {
            told[i]->on_ready(told[i], events);
            did = true;
        }
    }
    return did;
}
