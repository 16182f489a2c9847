/* trial.c - one or two answers on one connection, and all that can befall them.
 */

#include "tests/sim/trial.h"

#include <string.h>

#include "sim/explore.h"

/* Alarms until a connection that nobody uses is closed: the parts of the write
 * deadline, and those of deadlines that have been moved. */
#define ALARMS_MAX 16u

/* Events of one run. */
#define EVENTS_MAX 10000u

/* Low marks: each piece is too much. */
#define TIGHT_HIGH 8
#define TIGHT_LOW 2

void trial_init(struct trial *trial)
{
    const struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1"};
    struct xs_server_config config = {
        .limits = xs_limits_default(),
        .events = {.refused = trial_on_refused, .user = trial},
    };

    *trial = (struct trial){.gateway = {.ops = &trial_app}};
    xs_pattern_init(&trial->pattern);
    trial_watch(trial);
    sink_init(&trial->sink);
    trial->sink.tap = &trial->tap;
    trial->sink.on_note = trial_on_note;
    trial->sink.read = trial_app_read;
    trial->sink.user = trial;
    trial->sink.verdict = &trial->verdict;
    xs_server_init(&trial->server, &trial->sink.base, &trial->gateway, &config);
    XS_ASSERT(xs_server_listen(&trial->server, &spec) == 0);
}

void trial_fini(struct trial *trial)
{
    xs_server_stop(&trial->server, 0);
    sink_settle(&trial->sink);
    xs_server_fini(&trial->server);
    xs_model_fini(&trial->model);
    xs_bytes_fini(&trial->heard);
    xs_pattern_fini(&trial->pattern);
}

/* what can happen next */

enum event {
    EVENT_ARRIVES, /* the next part of the requests */
    EVENT_APP,     /* the application goes on */
    EVENT_WRITABLE,
    EVENT_COUNT
};

static bool event_can(struct trial *trial, enum event event)
{
    const struct trial_call *call = trial_call(trial);
    const struct sink *sink = &trial->sink;

    switch (event) {
        case EVENT_ARRIVES:
            return sink->open && !sink->fin && sink->in.len == 0 &&
                   trial->run.segment < trial->segment_count;
        case EVENT_APP:
            return call != NULL && call->paused;
        case EVENT_WRITABLE:
            return sink->open && sink->full;
        case EVENT_COUNT:
            break;
    }
    XS_UNREACHABLE();
}

static void event_happens(struct trial *trial, enum event event)
{
    switch (event) {
        case EVENT_ARRIVES:
            trial_say(trial, "- more arrives");
            sink_arrive(&trial->sink, trial->segments[trial->run.segment++]);
            return;
        case EVENT_APP:
            trial_say(trial, "- the application goes on");
            trial_app_resume(trial);
            sink_settle(&trial->sink);
            return;
        case EVENT_WRITABLE:
            trial_say(trial, "- the sink takes more");
            sink_writable(&trial->sink);
            return;
        case EVENT_COUNT:
            break;
    }
    XS_UNREACHABLE();
}

/* Time passes until a deadline has ended, or none is left. */
static void time_passes(struct trial *trial)
{
    const struct trial_call *call = trial_call(trial);
    bool paused = call != NULL && !call->wait_body && !trial->sink.full;
    unsigned expired = trial->run.expired;

    trial_say(trial, "- time passes");
    for (unsigned i = 0; i < ALARMS_MAX && trial->run.expired == expired; i++) {
        if (!sink_alarm(&trial->sink)) {
            break;
        }
    }
    /* For all but an application there is a deadline. */
    if (!paused && trial->run.expired == expired) {
        trial_fault(trial, XS_ORACLE_O14, "a wait has no deadline");
    }
}

static void client_fails(struct trial *trial)
{
    switch (xs_choose(trial->sink.tape, XS_LABEL_PEER_END, 3)) {
        case 0:
            trial_say(trial, "- the client ends its side");
            sink_fin(&trial->sink);
            return;
        case 1:
            trial_say(trial, "- the client resets");
            sink_reset(&trial->sink);
            return;
        default:
            time_passes(trial);
            return;
    }
}

/* One event. False: nothing can happen any more. */
static bool trial_step(struct trial *trial)
{
    enum event can[EVENT_COUNT];
    unsigned count = 0;

    if (trial->sink.open && !trial->sink.fin &&
        sink_kills(&trial->sink, XS_LABEL_PEER_END)) {
        client_fails(trial);
        return true;
    }
    for (unsigned i = 0; i < EVENT_COUNT; i++) {
        if (event_can(trial, (enum event)i)) {
            can[count++] = (enum event)i;
        }
    }
    if (count == 0) {
        return false;
    }
    event_happens(trial,
                  can[count == 1 ? 0
                                 : xs_choose(trial->sink.tape,
                                             XS_LABEL_ORDER_READY, count)]);
    return true;
}

/* Nobody wants anything any more: the client ends, or time passes. */
static void trial_finish(struct trial *trial)
{
    struct sink *sink = &trial->sink;

    if (sink->open && !sink->fin &&
        xs_choose(sink->tape, XS_LABEL_PEER_END, 2) == 0) {
        trial_say(trial, "- the client has what it wants");
        sink_fin(sink);
    }
    for (unsigned i = 0; sink->open && i < ALARMS_MAX; i++) {
        if (!sink_alarm(sink)) {
            break;
        }
    }
}

static bool is_well(const struct trial *trial)
{
    return trial->verdict.oracle == XS_ORACLE_NONE;
}

/* Whatever is left of a run that has failed. */
static void trial_clean(struct trial *trial)
{
    struct sink *sink = &trial->sink;

    if (sink->open) {
        sink->kills = 0;
        sink->cuts = 0;
        sink_reset(sink);
    }
}

void trial_run(struct trial *trial, struct xs_tape *tape)
{
    struct sink *sink = &trial->sink;
    struct xs_limits *limits = &trial->server.config.limits;
    bool is_tight;

    trial->run = (struct trial_run){.pauses = trial->plan.pauses};
    trial->verdict = (struct xs_verdict){.oracle = XS_ORACLE_NONE};
    xs_model_init(&trial->model, &trial->verdict, XS_LIT(""), false);
    sink->tape = tape;
    sink->cuts = trial->plan.cuts;
    sink->cut_at = trial->plan.tail ? trial->tail_at : 0;
    sink->cut_between = trial->plan.between;
    sink->cut_far = trial->plan.cut_far;
    sink->kills = trial->plan.kills;
    is_tight = xs_choose(tape, XS_LABEL_WORLD, 2) != 0;
    limits->tx_high = is_tight ? TIGHT_HIGH : xs_limits_default().tx_high;
    limits->tx_low = is_tight ? TIGHT_LOW : xs_limits_default().tx_low;
    sink_connect(sink);
    for (unsigned i = 0; is_well(trial) && trial_step(trial); i++) {
        XS_ASSERT(i < EVENTS_MAX);
        trial_check(trial);
    }
    if (is_well(trial)) {
        trial_check_rest(trial);
        trial_finish(trial);
        trial_check_end(trial);
    }
    trial_clean(trial);
}

/* shapes */

/* Where the last head ends. */
static size_t find_tail(struct xs_slice heard)
{
    size_t at = heard.len;

    while (at > 0 && memcmp(heard.data + at - 1, "HTTP/1.", 7) != 0) {
        at--;
    }
    while (at < heard.len && memcmp(heard.data + at - 4, "\r\n\r\n", 4) != 0) {
        at++;
    }
    return at;
}

/* Once without a fault, for what the core keeps from one connection to the
 * next, and for where the last head ends. */
static void take_measure(struct trial *trial)
{
    struct xs_tape tape;

    trial->plan = (struct trial_plan){.cuts = 0};
    trial->heard.len = 0;
    trial->measures = true;
    xs_tape_init(&tape);
    xs_tape_start_zero(&tape);
    trial_run(trial, &tape);
    xs_tape_fini(&tape);
    trial->measures = false;
    /* What reads a head may read behind the end. */
    xs_bytes_add(&trial->heard, XS_LIT("\0\0\0\0\0\0\0"));
    trial->heard.len -= 7;
    trial->tail_at =
        find_tail(xs_slice_of(trial->heard.data, trial->heard.len));
}

void trial_take(struct trial *trial, const struct trial_shape *shape,
                const struct trial_plan *plan)
{
    trial_read(trial, shape);
    take_measure(trial);
    trial->plan = *plan;
}

static bool is_for(size_t max, size_t len)
{
    return max == 0 || len <= max;
}

uint64_t trial_explore(struct trial *trial, struct xs_tape *tape)
{
    struct xs_explore explore = {.runs = 0};
    uint64_t runs;

    if (!is_for(trial->plan.whole_max, trial->heard.len) ||
        !is_for(trial->plan.tail_max, trial->heard.len - trial->tail_at)) {
        return 0;
    }
    while (xs_explore_next(&explore, tape)) {
        trial_run(trial, tape);
        if (!is_well(trial)) {
            break;
        }
    }
    runs = explore.runs;
    xs_explore_fini(&explore);
    return runs;
}

void trial_run_drawn(struct trial *trial, struct xs_tape *tape)
{
    trial_draw(trial, tape);
    trial_run(trial, tape);
}
