/* sim_loop.c - time, timers and callbacks: the simulated drive.h.
 *
 * One turn, all at the same moment of virtual time:
 *
 *     posted jobs, watched descriptors      sim_wait.c
 *     timers that are due, the alarm too
 *     listeners, then ready connections     in an order that the tape chooses
 *     peers that something changed for
 *     on_defer                              once: others come in between
 *
 * `run` makes a turn; if there was nothing to do it moves time to the next
 * timer and makes another. */

#include <stdlib.h>

#include "core/base/deadline.h"
#include "sim/sim_types.h"

/* timers */

static bool timer_before(const struct xs_sim_timer *a,
                         const struct xs_sim_timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void timer_put(struct xs_sim *sim, size_t slot,
                      struct xs_sim_timer *timer)
{
    sim->heap[slot] = timer;
    timer->slot = slot;
}

/* Let `timer` find its place, beginning at `slot`. */
static void timer_sift(struct xs_sim *sim, size_t slot,
                       struct xs_sim_timer *timer)
{
    while (slot > 1 && timer_before(timer, sim->heap[slot / 2])) {
        timer_put(sim, slot, sim->heap[slot / 2]);
        slot /= 2;
    }
    for (;;) {
        size_t child = slot * 2;

        if (child > sim->heap_count) {
            break;
        }
        if (child < sim->heap_count &&
            timer_before(sim->heap[child + 1], sim->heap[child])) {
            child++;
        }
        if (!timer_before(sim->heap[child], timer)) {
            break;
        }
        timer_put(sim, slot, sim->heap[child]);
        slot = child;
    }
    timer_put(sim, slot, timer);
}

void xs_sim_timer_stop(struct xs_sim *sim, struct xs_sim_timer *timer)
{
    size_t slot = timer->slot;
    struct xs_sim_timer *last;

    if (slot == 0) {
        return;
    }
    XS_ASSERT(sim->heap[slot] == timer);
    timer->slot = 0;
    last = sim->heap[sim->heap_count--];
    if (last != timer) {
        timer_sift(sim, slot, last);
    }
}

void xs_sim_timer_set(struct xs_sim *sim, struct xs_sim_timer *timer,
                      uint64_t at_ns)
{
    XS_ASSERT(timer->fire != NULL);
    xs_sim_timer_stop(sim, timer);
    if (sim->heap_count + 1 >= sim->heap_cap) {
        size_t cap = sim->heap_cap == 0 ? 32 : sim->heap_cap * 2;

        sim->heap = realloc(sim->heap, cap * sizeof(struct xs_sim_timer *));
        XS_ASSERT(sim->heap != NULL);
        sim->heap_cap = cap;
    }
    timer->at_ns = at_ns > sim->now_ns ? at_ns : sim->now_ns;
    timer->order = sim->timers_set++;
    timer_sift(sim, ++sim->heap_count, timer);
    sim_kick(sim);
}

static uint64_t timer_next(const struct xs_sim *sim)
{
    return sim->heap_count > 0 ? sim->heap[1]->at_ns : XS_NEVER;
}

/* Fire what is due. What is set meanwhile has to wait for the next turn. */
static bool loop_timers(struct xs_sim *sim)
{
    uint64_t newest = sim->timers_set;
    bool did = false;

    while (sim->heap_count > 0 && sim->heap[1]->at_ns <= sim->now_ns &&
           sim->heap[1]->order < newest) {
        struct xs_sim_timer *timer = sim->heap[1];

        xs_sim_timer_stop(sim, timer);
        timer->fire(timer);
        did = true;
    }
    return did;
}

/* what the core asks for */

void sim_alarm(struct xs_io *io, uint64_t at_ns)
{
    struct xs_sim *sim = sim_of_io(io);

    sim_event(sim, 0, "alarm", at_ns, 0);
    sim->alarm_late = false;
    if (at_ns == XS_NEVER) {
        xs_sim_timer_stop(sim, &sim->alarm);
    } else {
        xs_sim_timer_set(sim, &sim->alarm, at_ns);
    }
}

void sim_on_alarm(struct xs_sim_timer *timer)
{
    struct xs_sim *sim = xs_container_of(timer, struct xs_sim, alarm);

    if (!sim->alarm_late && sim_fault(sim, XS_LABEL_TIME_ALARM)) {
        uint64_t late = sim_delay(sim, XS_LABEL_TIME_ALARM);

        sim->alarm_late = true;
        sim->stats.late_ns += late;
        xs_sim_timer_set(sim, timer, sim->now_ns + late);
        return;
    }
    sim_enter(sim);
    sim_event(sim, 0, "on_alarm", 0, 0);
    XS_ASSERT(sim->io.on_alarm != NULL);
    sim->io.on_alarm(&sim->io);
    sim_leave(sim);
}

void sim_defer(struct xs_io *io)
{
    struct xs_sim *sim = sim_of_io(io);

    sim->deferred = true;
    sim_kick(sim);
}

/* Once: who asks again meanwhile has to wait for the next turn. */
static bool loop_defer(struct xs_sim *sim)
{
    if (!sim->deferred) {
        return false;
    }
    sim->deferred = false;
    sim->stats.callbacks++;
    sim_event(sim, 0, "on_defer", 0, 0);
    XS_ASSERT(sim->io.on_defer != NULL);
    sim->io.on_defer(&sim->io);
    return true;
}

void sim_enter(struct xs_sim *sim)
{
    if (sim_fault(sim, XS_LABEL_TIME_STEP)) {
        sim->now_ns += sim_delay(sim, XS_LABEL_TIME_STEP) / 1000;
    }
    sim->stats.callbacks++;
    sim->stats.idle_calls++;
    if (sim->stats.idle_calls > sim->stats.idle_calls_most) {
        sim->stats.idle_calls_most = sim->stats.idle_calls;
    }
}

void sim_leave(struct xs_sim *sim)
{
    if (sim->deferred && sim_fault(sim, XS_LABEL_ORDER_DEFER)) {
        (void)loop_defer(sim);
    }
}

/* a turn */

static bool loop_listeners(struct xs_sim *sim)
{
    bool did = false;

    sim->listening = sim->listeners.next;
    while (sim->listening != &sim->listeners) {
        struct sim_listener *listener =
            xs_container_of(sim->listening, struct sim_listener, all);

        sim->listening = listener->all.next;
        did = sim_listener_tell(listener) || did;
    }
    sim->listening = NULL;
    return did;
}

/* Tell everybody who is ready now, each once. */
static bool loop_ready(struct xs_sim *sim)
{
    struct xs_list now;
    bool did = false;

    xs_list_init(&now);
    xs_list_splice(&now, &sim->ready);
    while (!xs_list_empty(&now)) {
        struct xs_list *link = now.next;
        unsigned skip = 0;

        if (now.next != now.prev && sim_fault(sim, XS_LABEL_ORDER_READY)) {
            skip = xs_choose(sim->tape, XS_LABEL_ORDER_READY, 8);
        }
        while (skip-- > 0) {
            link = link->next != &now ? link->next : now.next;
        }
        did =
            sim_conn_tell(xs_container_of(link, struct sim_conn, ready)) || did;
    }
    return did;
}

static bool loop_changed(struct xs_sim *sim)
{
    struct xs_list now;
    bool did = false;

    xs_list_init(&now);
    xs_list_splice(&now, &sim->changed);
    while (!xs_list_empty(&now)) {
        struct sim_link *link =
            xs_container_of(xs_list_pop(&now), struct sim_link, changed);

        if (link->peer.on_event != NULL) {
            link->peer.on_event(&link->peer);
        }
        did = true;
    }
    return did;
}

static bool loop_turn(struct xs_sim *sim)
{
    bool did = sim_jobs(sim);

    did = sim_poll(sim) || did;
    did = loop_timers(sim) || did;
    did = loop_listeners(sim) || did;
    did = loop_ready(sim) || did;
    did = loop_changed(sim) || did;
    return loop_defer(sim) || did;
}

/* Nothing is to be done now: let time pass, at most until `until_ns`. */
static void loop_advance(struct xs_sim *sim, uint64_t until_ns)
{
    uint64_t next = timer_next(sim);

    next = next < until_ns ? next : until_ns;
    if (next <= sim->now_ns) {
        return; /* a timer was set for now */
    }
    if (sim->on_idle != NULL) {
        sim->on_idle(sim->user);
    }
    if (sim->drive.block != NULL) {
        sim->drive.block(sim->drive.user);
    }
    if (next == XS_NEVER) {
        sim_wait(sim);
    } else {
        sim->now_ns = next;
        sim_progress(sim);
        if (sim_fault(sim, XS_LABEL_TIME_PAUSE)) {
            uint64_t pause = 30 * sim_delay(sim, XS_LABEL_TIME_PAUSE);

            sim->now_ns += pause;
            sim->stats.late_ns += pause;
        }
    }
    if (sim->drive.wake != NULL) {
        sim->drive.wake(sim->drive.user);
    }
}

/* drive.h */

static int drive_run(struct xs_drive *drive, uint64_t timeout_ns)
{
    struct xs_sim *sim = xs_sim_of_drive(drive);
    uint64_t until_ns = XS_NEVER;

    XS_ASSERT(!sim->running);
    if (timeout_ns < XS_NEVER - sim->now_ns) {
        until_ns = sim->now_ns + timeout_ns;
    }
    sim->running = true;
    sim->kicked = false;
    if (!loop_turn(sim) && timeout_ns > 0) {
        loop_advance(sim, until_ns);
        (void)loop_turn(sim);
    }
    sim->running = false;
    return 0;
}

static int drive_fd(struct xs_drive *drive)
{
    (void)drive;
    return -1;
}

static uint64_t drive_next(struct xs_drive *drive)
{
    struct xs_sim *sim = xs_sim_of_drive(drive);
    uint64_t next = timer_next(sim);

    if (sim_is_due(sim) || next <= sim->now_ns) {
        return 0;
    }
    return next == XS_NEVER ? XS_NEVER : next - sim->now_ns;
}

static void drive_free(struct xs_drive *drive)
{
    sim_free(xs_sim_of_drive(drive));
}

const struct xs_drive_ops sim_drive_ops = {
    .run = drive_run,
    .watch = sim_watch,
    .fd = drive_fd,
    .next = drive_next,
    .free = drive_free,
};
