/* trial_check.c - what must hold at every step of a trial, and at its end. */

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/conn/conn.h"
#include "tests/sim/trial.h"

static bool has_expired(const struct trial *trial, enum xs_deadline_kind kind)
{
    return (trial->run.expired & (1u << kind)) != 0;
}

void trial_fault(struct trial *trial, enum xs_oracle oracle, const char *format,
                 ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    trial_say(trial, "FAULT %s", text);
    xs_verdict_fail(&trial->verdict, oracle, "%s", text);
}

void trial_say(struct trial *trial, const char *format, ...)
{
    va_list args;

    if (trial->trace == NULL) {
        return;
    }
    va_start(args, format);
    (void)fputs("    ", trial->trace);
    (void)vfprintf(trial->trace, format, args);
    (void)fputc('\n', trial->trace);
    va_end(args);
}

/* the server's end of the connection */

static struct trial *trial_of(struct xs_sim_tap *tap)
{
    return xs_container_of(tap, struct trial, tap);
}

static void on_received(struct xs_sim_tap *tap, size_t len)
{
    trial_say(trial_of(tap), "recv %zu", len);
}

static void on_wrote(struct xs_sim_tap *tap, const uint8_t *data, size_t len)
{
    struct trial *trial = trial_of(tap);

    trial_say(trial, "took %zu: %.*s", len, (int)(len < 100 ? len : 100),
              (const char *)data);
    if (trial->measures) {
        xs_bytes_add(&trial->heard, xs_slice_of(data, len));
    }
    xs_model_wrote(&trial->model, xs_slice_of(data, len));
}

static void on_torn(struct xs_sim_tap *tap, int file)
{
    struct trial *trial = trial_of(tap);

    trial_say(trial, "file %d is torn", file);
    trial->run.torn = true;
    trial->run.spoilt = true;
    trial->run.last = true;
    xs_model_cut(&trial->model);
}

/* O7, and the end of the stream may not look like that of a body. */
static void on_ended(struct xs_sim_tap *tap)
{
    struct trial *trial = trial_of(tap);

    trial_say(trial, "ends");
    if (!xs_model_is_complete(&trial->model)) {
        trial_fault(trial, XS_ORACLE_O7, "ended before all was written");
    }
    if (trial->run.spoilt && trial->model.response.until_close) {
        trial_fault(trial, XS_ORACLE_O3, "what was broken off looks whole");
    }
}

/* Who has not said that he is done may be sending, and a close would become a
 * reset that takes the answer along. */
static void check_lingered(struct trial *trial)
{
    const struct sink *sink = &trial->sink;

    if (sink->in.len > 0) {
        trial_fault(trial, XS_ORACLE_O10, "closed with unread input: a reset");
    }
    if (!sink->shut && !sink->fin && trial->run.expired == 0) {
        trial_fault(trial, XS_ORACLE_O10, "closed over who may be sending");
    }
}

static void on_closed(struct xs_sim_tap *tap, bool abort, bool dead)
{
    struct trial *trial = trial_of(tap);
    const struct trial_run *run = &trial->run;

    trial_say(trial, abort ? "closes with a reset" : "closes");
    trial->run.closes++;
    if (trial_call(trial) != NULL) {
        trial_fault(trial, XS_ORACLE_O11,
                    "closed without a word to the application");
    }
    if (dead) {
        return;
    }
    if (abort && !run->spoilt && !trial->sink.starved &&
        !has_expired(trial, XS_DEADLINE_WRITE)) {
        trial_fault(trial, XS_ORACLE_O7, "reset without a reason");
    }
    if (!abort && trial->keeps) {
        check_lingered(trial);
    }
}

void trial_watch(struct trial *trial)
{
    trial->tap = (struct xs_sim_tap){
        .received = on_received,
        .wrote = on_wrote,
        .torn = on_torn,
        .ended = on_ended,
        .closed = on_closed,
    };
}

/* Whether that deadline can be what is waited for. */
static bool may_expire(struct trial *trial, enum xs_deadline_kind kind)
{
    const struct trial_call *call = trial_call(trial);
    bool rests = call == NULL && xs_model_is_complete(&trial->model) &&
                 trial->sink.in.len == 0;

    switch (kind) {
        case XS_DEADLINE_HEAD:
            return rests && trial->run.count == 0;
        case XS_DEADLINE_KEEP_ALIVE:
            return rests && trial->run.count > 0;
        case XS_DEADLINE_BODY:
            return call != NULL ? call->wait_body : trial->expects;
        case XS_DEADLINE_WRITE:
            return trial->sink.full && !xs_model_is_complete(&trial->model);
        case XS_DEADLINE_LINGER:
            return trial->sink.ended;
        case XS_DEADLINE_KINDS:
            break;
    }
    XS_UNREACHABLE();
}

void trial_on_note(void *user, const char *what, uint64_t b)
{
    struct trial *trial = user;

    if (strcmp(what, "conn.expire") != 0) {
        return;
    }
    trial_say(trial, "deadline %" PRIu64, b);
    if (!may_expire(trial, (enum xs_deadline_kind)b)) {
        trial_fault(
            trial, b == XS_DEADLINE_WRITE ? XS_ORACLE_O13 : XS_ORACLE_O14,
            "deadline %" PRIu64 " ends, and is not what is waited for", b);
    }
    trial->run.expired |= 1u << b;
}

void trial_on_refused(void *user, const struct xs_io_addr *peer,
                      enum xs_refusal why, bool answered)
{
    const struct xs_model_ties ties = {.must_close = true};
    struct trial *trial = user;
    (void)peer;

    trial_say(trial, "refused, answered %d", answered);
    if (why != XS_REFUSE_BODY_TIMEOUT ||
        !has_expired(trial, XS_DEADLINE_BODY)) {
        trial_fault(trial, XS_ORACLE_O4, "refused: %s", xs_refusal_rule(why));
        return;
    }
    if (answered) {
        xs_model_refuse(&trial->model, xs_refusal_status(why),
                        xs_slice_str(xs_refusal_text(why)), 0, &ties);
    }
}

/* at every step */

/* What is said and may go has gone, as far as the sink takes it. */
static void check_stranded(struct trial *trial, const struct xs_conn *conn)
{
    const struct sink *sink = &trial->sink;
    bool waits = xs_queue_ready(&conn->tx.queue) > 0 ||
                 !xs_model_is_complete(&trial->model);

    if (waits && !sink->full) {
        trial_fault(trial, XS_ORACLE_O9, "bytes wait, and the sink takes some");
    }
    if (waits && (sink->wanted & XS_IO_WRITE) == 0) {
        trial_fault(trial, XS_ORACLE_O9, "bytes wait for nothing");
    }
    if (!sink->full && (sink->wanted & XS_IO_WRITE) != 0) {
        trial_fault(trial, XS_ORACLE_O19, "waits for a sink that takes all");
    }
    if ((xs_queue_ready(&conn->tx.queue) > 0) !=
        xs_deadline_armed(&conn->writing)) {
        trial_fault(
            trial, XS_ORACLE_O13, "the write deadline runs %d, %zu wait",
            xs_deadline_armed(&conn->writing), xs_queue_ready(&conn->tx.queue));
    }
}

/* The application is told what it waits for. */
static void check_told(struct trial *trial)
{
    const struct trial_call *call = trial_call(trial);
    const struct sink *sink = &trial->sink;

    if (call == NULL) {
        return;
    }
    if (call->gone) {
        trial_fault(trial, XS_ORACLE_O12, "XS_EGONE, and no on_abort");
    }
    if (call->wait_drain && !sink->full) {
        trial_fault(trial, XS_ORACLE_O11, "on_drain does not come");
    }
    if (call->wait_body && trial->run.segment == trial->segment_count) {
        trial_fault(trial, XS_ORACLE_O11, "on_body does not come");
    }
    if (sink->fin && !call->eof) {
        trial_fault(trial, XS_ORACLE_O12, "the client's end is not told");
    }
}

void trial_check(struct trial *trial)
{
    const struct sink *sink = &trial->sink;
    const struct xs_server *server = &trial->server;
    const struct xs_conn *conn = sink->conn.user;

    if (!sink->open) {
        return;
    }
    if (sink->dead) {
        trial_fault(trial, XS_ORACLE_O12, "the client is gone, and no end");
        return;
    }
    xs_queue_check(&conn->tx.queue);
    if (server->stats.backlog != conn->backlog ||
        server->stats.requests != (trial_call(trial) != NULL)) {
        trial_fault(trial, XS_ORACLE_O20, "another number is counted");
    }
    check_stranded(trial, conn);
    check_told(trial);
}

/* Whether the connection ends behind its last answer, or has to. */
static bool rest_ends(const struct trial *trial)
{
    return trial->run.last || trial->model.close_said || trial->sink.fin;
}

void trial_check_rest(struct trial *trial)
{
    const struct sink *sink = &trial->sink;

    if (trial_call(trial) != NULL) {
        trial_fault(trial, XS_ORACLE_O9, "the application waits for ever");
    }
    if (!sink->open) {
        return;
    }
    if (rest_ends(trial) && !sink->ended) {
        trial_fault(trial, XS_ORACLE_O8, "it lives on behind its last answer");
    }
    if (!rest_ends(trial) && sink->ended && trial->run.expired == 0) {
        trial_fault(trial, XS_ORACLE_O8, "it ends, and nobody has said so");
    }
    if (!rest_ends(trial) && !sink->ended &&
        trial->run.count != trial->call_count) {
        trial_fault(trial, XS_ORACLE_O9, "%u of %u requests were heard",
                    trial->run.count, trial->call_count);
    }
}

void trial_check_end(struct trial *trial)
{
    const struct trial_run *run = &trial->run;
    const struct xs_server *server = &trial->server;

    if (trial->sink.open || run->closes != 1) {
        trial_fault(trial, XS_ORACLE_O17, "it was closed %u times",
                    run->closes);
        return;
    }
    if (run->released != run->lent) {
        trial_fault(trial, XS_ORACLE_O18, "%u pieces were lent, %u released",
                    run->lent, run->released);
    }
    if (server->stats.connections != 0 || server->stats.requests != 0 ||
        server->stats.backlog != 0) {
        trial_fault(trial, XS_ORACLE_O17, "something of it is still counted");
    }
    if (xs_deadlines_next(&server->deadlines) != XS_NEVER) {
        trial_fault(trial, XS_ORACLE_O17, "a deadline outlives it");
    }
    if (!trial->sink.dead && !run->spoilt && run->expired == 0 &&
        !trial->sink.starved && !xs_model_is_complete(&trial->model)) {
        trial_fault(trial, XS_ORACLE_O7, "closed before all was written");
    }
}
