/* trial_app.c - an application that says its words, each now or later. */

#include <stdio.h>
#include <string.h>

#include "tests/sim/trial.h"

/* Where in its file a response begins: beyond what fits in 32 bits. */
#define FILE_AT ((uint64_t)5 << 32)

/* A hint, or a trailer. */
static const struct xs_field aside = {{(const uint8_t *)"x", 1},
                                      {(const uint8_t *)"y", 1}};

static struct trial *trial_of(struct xs_gateway *gateway)
{
    return xs_container_of(gateway, struct trial, gateway);
}

struct trial_call *trial_call(struct trial *trial)
{
    struct trial_run *run = &trial->run;

    if (run->count == 0 || run->calls[run->count - 1].over) {
        return NULL;
    }
    return &run->calls[run->count - 1];
}

/* The body of the present response. */
static struct xs_slice app_body(const struct trial *trial)
{
    unsigned number = trial->run.count - 1;

    return xs_pattern_body(&trial->pattern, number,
                           trial->run.calls[number].body_len);
}

int64_t trial_app_read(void *user, int file, uint64_t offset, uint8_t *data,
                       size_t len)
{
    struct trial *trial = user;
    unsigned number = (unsigned)file - 1;
    struct xs_slice body;

    XS_ASSERT(number < trial->run.count);
    XS_ASSERT(offset >= FILE_AT);
    body = xs_pattern_body(&trial->pattern, number,
                           trial->run.calls[number].body_len);
    XS_ASSERT(offset - FILE_AT + len <= body.len);
    memcpy(data, body.data + (offset - FILE_AT), len);
    return (int64_t)len;
}

static void app_release(void *owner)
{
    struct trial *trial = owner;

    trial->run.released++;
    if (trial->run.released > trial->run.lent) {
        trial_fault(trial, XS_ORACLE_O18, "released more often than lent");
    }
}

/* Whether the connection has to end behind this answer, or must not. */
static struct xs_model_ties app_ties(const struct trial *trial,
                                     const struct trial_call *call)
{
    struct xs_model_ties ties = {.must_close = !trial->keeps};

    ties.must_keep = trial->keeps && call->body_end &&
                     trial->sink.kills == trial->plan.kills;
    return ties;
}

static void app_over(struct trial_call *call)
{
    call->over = true;
    call->paused = false;
    call->wait_drain = false;
    call->gone = false;
}

static void app_fail(struct trial *trial, struct trial_call *call)
{
    struct xs_model_ties ties = app_ties(trial, call);

    trial_say(trial, "app fails");
    if (trial->model.response.head_out) {
        trial->run.last = true;
        trial->run.spoilt = true;
    } else {
        ties.must_keep = false;
        xs_model_refuse(&trial->model, 500, XS_LIT("Internal Server Error"), 0,
                        &ties);
    }
    xs_response_fail(call->req);
    trial->run.spoilt = trial->run.spoilt || trial->sink.starved;
    app_over(call);
}

/* What a call has said. True if the word is said; it is not when it has to
 * wait, and for want of memory the application fails. */
static bool app_took(struct trial *trial, struct trial_call *call, int err)
{
    if (err == 0) {
        call->at++;
        return true;
    }
    if (err == XS_EAGAIN && xs_response_full(call->req)) {
        call->was_full = true;
        call->wait_drain = true;
    } else if (err == XS_EGONE) {
        call->gone = true;
    } else if (err == XS_ENOMEM && trial->sink.starved) {
        app_fail(trial, call);
    } else {
        trial_fault(trial, XS_ORACLE_O11, "'%c' gives %d",
                    call->words[call->at].what, err);
    }
    return false;
}

/* the words */

static bool app_read_body(struct trial *trial, struct trial_call *call)
{
    static const char body[] = TRIAL_REQUEST_BODY;

    for (;;) {
        struct xs_slice bytes;
        bool last = false;

        switch (xs_request_body(call->req, &bytes, &last)) {
            case XS_BODY_DATA:
                if (bytes.len > sizeof body - 1 - call->got ||
                    memcmp(bytes.data, body + call->got, bytes.len) != 0) {
                    trial_fault(trial, XS_ORACLE_O2, "another body than sent");
                    return false;
                }
                call->got += bytes.len;
                xs_request_body_consume(call->req, bytes.len);
                break;
            case XS_BODY_WAIT:
                if (!call->wait_body && !trial->model.response.head_out &&
                    !call->continued) {
                    call->continued = true;
                    xs_model_continue(&trial->model, trial->run.segment < 2 &&
                                                         !trial->sink.starved);
                }
                call->wait_body = true;
                return false;
            case XS_BODY_END:
                call->body_end = true;
                call->at++;
                return true;
        }
    }
}

/* What has to leave in the call has left. */
static void app_check_gone(struct trial *trial, const struct trial_call *call)
{
    const struct sink *sink = &trial->sink;

    if (!sink->full && !sink->dead && !xs_model_is_complete(&trial->model)) {
        trial_fault(trial, XS_ORACLE_O9, "'%c' is held back",
                    call->words[call->at].what);
    }
}

static bool app_hint(struct trial *trial, struct trial_call *call)
{
    bool full = xs_response_full(call->req);
    int err;

    if (!full) {
        xs_model_hint(&trial->model, &aside, 1); /* it leaves in the call */
    }
    err = xs_response_hint(call->req, &aside, 1);
    if (err == XS_ENOMEM) {
        xs_model_undo(&trial->model);
    }
    call->was_full = call->was_full || xs_response_full(call->req);
    app_check_gone(trial, call);
    return app_took(trial, call, err);
}

static bool app_start(struct trial *trial, struct trial_call *call,
                      unsigned status)
{
    int err = xs_response_start(call->req, status, XS_LIT(""));

    if (err == 0) {
        xs_model_start(&trial->model, status, XS_LIT(""));
    }
    return app_took(trial, call, err);
}

static bool app_field(struct trial *trial, struct trial_call *call,
                      const char *name, const char *value)
{
    int err =
        xs_response_header(call->req, xs_slice_str(name), xs_slice_str(value));

    if (err == 0) {
        xs_model_field(&trial->model, xs_slice_str(name), xs_slice_str(value));
    }
    return app_took(trial, call, err);
}

static bool app_length(struct trial *trial, struct trial_call *call)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%zu", call->body_len);
    return app_field(trial, call, "Content-Length", text);
}

static bool app_expect(struct trial *trial, struct trial_call *call)
{
    int err = xs_response_expect_trailers(call->req);

    if (err == 0) {
        xs_model_expect(&trial->model, trial->te);
    }
    return app_took(trial, call, err);
}

static bool app_trailer(struct trial *trial, struct trial_call *call)
{
    bool more = !call->words[call->at].last;
    int err = xs_response_trailers(call->req, &aside, 1, more);

    if (err == 0) {
        /* They are not written in the call. */
        xs_model_trailers(&trial->model, &aside, 1, more);
        call->over = !more;
    }
    return app_took(trial, call, err);
}

static bool app_piece(struct trial *trial, struct trial_call *call)
{
    const struct trial_word *word = &call->words[call->at];
    bool more = !word->last;
    struct xs_slice bytes =
        xs_slice_of(app_body(trial).data + call->sent, word->len);
    struct xs_lent lent = {
        .bytes = bytes, .release = app_release, .owner = trial};
    struct xs_model_ties ties = app_ties(trial, call);
    bool full = xs_response_full(call->req);
    int err;

    if (word->file && word->len > 0) {
        lent.bytes.data = NULL;
        lent.is_file = true;
        lent.file = (int)trial->run.count;
        lent.offset = FILE_AT + call->sent;
    }
    trial->run.lent++;
    if (!full) {
        /* Before the call, for it may write. */
        xs_model_body(&trial->model, bytes, more, 0, &ties);
    }
    err = xs_response_body(call->req, &lent, more);
    trial->run.lent -= err != 0;
    if (err == XS_ENOMEM && !full) {
        xs_model_undo(&trial->model);
    }
    if (full != (err == XS_EAGAIN) && err != XS_EGONE) {
        trial_fault(trial, XS_ORACLE_O11, "a body gives %d, full %d", err,
                    full);
    }
    if (!app_took(trial, call, err)) {
        return false;
    }
    call->sent += word->len;
    call->over = !more && !trial->model.response.trailing;
    if (!call->over) {
        call->was_full = call->was_full || xs_response_full(call->req);
    }
    return true;
}

/* Say the next word. False if it has to wait, or is over. */
static bool app_say(struct trial *trial, struct trial_call *call)
{
    char what = call->words[call->at].what;

    trial_say(trial, "app says %c of %zu", what, call->words[call->at].len);
    switch (what) {
        case 'r':
            return app_read_body(trial, call);
        case 'h':
            return app_hint(trial, call);
        case 's':
            return app_start(trial, call, 200);
        case 'n':
            return app_start(trial, call, 204);
        case 'l':
            return app_length(trial, call);
        case 'c':
            return app_field(trial, call, "Connection", "close");
        case 't':
            return app_expect(trial, call);
        case 'f':
            xs_response_flush(call->req);
            app_check_gone(trial, call);
            call->at++;
            return true;
        case 'x':
            return app_trailer(trial, call);
        case 'p':
            return app_piece(trial, call);
        default:
            break;
    }
    XS_UNREACHABLE();
}

/* As far as it goes. */
static void app_go_on(struct trial *trial, struct trial_call *call)
{
    while (!call->over && !call->gone) {
        if (call->resumed) {
            call->resumed = false;
        } else if (trial->run.pauses > 0 &&
                   xs_choose(trial->sink.tape, XS_LABEL_APP_PACE, 2) != 0) {
            trial->run.pauses--;
            call->paused = true;
            return;
        }
        if (sink_kills(&trial->sink, XS_LABEL_APP_FAIL)) {
            app_fail(trial, call);
            return;
        }
        XS_ASSERT(call->at < call->word_count);
        if (!app_say(trial, call)) {
            return;
        }
    }
}

void trial_app_resume(struct trial *trial)
{
    struct trial_call *call = trial_call(trial);

    XS_ASSERT(call->paused);
    call->paused = false;
    call->resumed = true;
    app_go_on(trial, call);
}

/* gateway.h */

static void app_on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct trial *trial = trial_of(gateway);
    struct trial_run *run = &trial->run;
    struct trial_call *call;
    unsigned number = run->count;

    trial_say(trial, "on_request");
    if (number == trial->call_count || trial_call(trial) != NULL) {
        trial_fault(trial, XS_ORACLE_O2, "a request that nobody sent");
        return;
    }
    if (run->last || trial->model.close_said) {
        trial_fault(trial, XS_ORACLE_O8, "a request behind the last one");
    }
    call = &run->calls[number];
    *call = (struct trial_call){
        .req = req,
        .words = trial->words[number],
        .word_count = trial->word_counts[number],
        .body_end = !trial->expects,
    };
    for (unsigned i = 0; i < call->word_count; i++) {
        call->body_len += call->words[i].len;
    }
    req->user = call;
    run->count++;
    xs_model_request(&trial->model, trial->minor, trial->is_head, 0);
    app_go_on(trial, call);
}

/* The call of a request that has not ended. */
static struct trial_call *app_call(struct xs_request *req, const char *what)
{
    struct trial *trial = trial_of(req->gateway);
    struct trial_call *call = trial_call(trial);

    trial_say(trial, "%s", what);
    if (call == NULL || call->req != req || req->user != call) {
        trial_fault(trial, XS_ORACLE_O11, "%s behind the end", what);
        return NULL;
    }
    return call;
}

static void app_on_body(struct xs_request *req)
{
    struct trial *trial = trial_of(req->gateway);
    struct trial_call *call = app_call(req, "on_body");

    if (call != NULL && !call->wait_body) {
        trial_fault(trial, XS_ORACLE_O11, "on_body that nobody waits for");
    } else if (call != NULL) {
        call->wait_body = false;
        app_go_on(trial, call);
    }
}

static void app_on_drain(struct xs_request *req)
{
    struct trial *trial = trial_of(req->gateway);
    struct trial_call *call = app_call(req, "on_drain");
    bool waits = call != NULL && call->wait_drain;

    if (call == NULL) {
        return;
    }
    if (!call->was_full || xs_response_full(req)) {
        trial_fault(trial, XS_ORACLE_O11, "on_drain that is not due");
    }
    call->was_full = false;
    call->wait_drain = false;
    if (waits) {
        app_go_on(trial, call);
    }
}

static void app_on_eof(struct xs_request *req)
{
    struct trial *trial = trial_of(req->gateway);
    struct trial_call *call = app_call(req, "on_eof");

    if (call != NULL &&
        (call->eof || (!trial->sink.fin && !trial->sink.dead))) {
        trial_fault(trial, XS_ORACLE_O11, "on_eof twice, or of a live client");
    }
    if (call != NULL) {
        call->eof = true;
    }
}

/* Whether `why` can be true. */
static bool app_may_abort(const struct trial *trial,
                          const struct trial_call *call, enum xs_abort why)
{
    switch (why) {
        case XS_ABORT_RESET:
            return trial->sink.dead;
        case XS_ABORT_EOF:
            return trial->sink.fin && trial->expects && !call->body_end;
        case XS_ABORT_BODY_TIMEOUT:
            return call->wait_body;
        case XS_ABORT_WRITE_TIMEOUT:
            return trial->sink.full;
        case XS_ABORT_MEMORY:
            return trial->sink.starved;
        case XS_ABORT_FILE:
            return trial->run.torn;
        case XS_ABORT_SYNTAX:
        case XS_ABORT_LIMIT:
        case XS_ABORT_BACKLOG:
        case XS_ABORT_SHUTDOWN:
            return false;
    }
    XS_UNREACHABLE();
}

static void app_on_abort(struct xs_request *req, enum xs_abort why)
{
    struct trial *trial = trial_of(req->gateway);
    struct trial_call *call = app_call(req, "on_abort");

    if (call == NULL) {
        return;
    }
    if (!app_may_abort(trial, call, why)) {
        trial_fault(trial, XS_ORACLE_O11, "%s", xs_abort_text(why));
    }
    /* The server answers in our place if the body does not come, and tells
     * how right after this. */
    trial->run.spoilt = trial->run.spoilt || trial->model.response.head_out ||
                        why != XS_ABORT_BODY_TIMEOUT;
    trial->run.last = true;
    app_over(call);
}

const struct xs_gateway_ops trial_app = {
    .on_request = app_on_request,
    .on_body = app_on_body,
    .on_drain = app_on_drain,
    .on_eof = app_on_eof,
    .on_abort = app_on_abort,
};
