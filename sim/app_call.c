/* app_call.c - a scripted application at work on one request. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/app.h"

/* Whether the connection has to end behind this answer, or must not. */
static struct xs_model_ties call_ties(const struct xs_app_call *call)
{
    const struct xs_client *client = call->conn->client;
    unsigned max = call->app->keep_alive_max;
    struct xs_model_ties ties = {
        .must_close = !call->plan->keep_alive || call->app->stopping ||
                      (max != 0 && call->conn->count >= max)};

    ties.must_keep = !ties.must_close && call->body_end &&
                     !client->half_closed && !client->broke_off;
    return ties;
}

static void call_fail(struct xs_app_call *call)
{
    struct xs_model *model = &call->conn->model;
    struct xs_model_ties ties = call_ties(call);

    call->failed = true;
    if (model->response.head_out) {
        call->conn->last = true;
        call->conn->spoilt = true;
    } else {
        xs_model_refuse(model, 500, XS_LIT("Internal Server Error"),
                        xs_app_wall(call->app), &ties);
    }
    xs_response_fail(call->req);
    xs_app_over(call);
}

/* the request body */

/* Compare what came with what was sent. */
static void call_check_body(struct xs_app_call *call, struct xs_slice bytes,
                            bool last)
{
    const struct xs_plan *plan = call->plan;

    if (bytes.len == 0 || bytes.len > plan->body_len - call->got) {
        xs_app_fault(call, XS_ORACLE_O2, "more body than was sent");
        return;
    }
    if (memcmp(plan->body + call->got, bytes.data, bytes.len) != 0) {
        xs_app_fault(call, XS_ORACLE_O2, "another body than was sent");
    }
    if (last && call->got + bytes.len != plan->body_len) {
        xs_app_fault(call, XS_ORACLE_O2, "the last of the body is not its end");
    }
}

/* What the client has to hear while we wait for its body. */
static void call_continue(struct xs_app_call *call)
{
    const struct xs_client *client = call->conn->client;

    if (call->plan->expect && !call->continued &&
        !call->conn->model.response.head_out) {
        xs_model_continue(
            &call->conn->model,
            client->sent <= call->plan->head_end && !call->app->memory_fails);
    }
    call->continued = true;
}

/* Take what is there. False if more is to come. */
static bool call_read(struct xs_app_call *call)
{
    for (;;) {
        struct xs_slice bytes;
        bool last = false;

        switch (xs_request_body(call->req, &bytes, &last)) {
            case XS_BODY_DATA:
                call_check_body(call, bytes, last);
                if (call->script.nibble && bytes.len > 1) {
                    bytes.len = bytes.len / 2;
                }
                xs_request_body_consume(call->req, bytes.len);
                call->got += bytes.len;
                if (call->script.reading == XS_APP_READS_SOME) {
                    return true;
                }
                break;
            case XS_BODY_WAIT:
                call_continue(call);
                call->wait_body = true;
                call->wait_ns = xs_sim_now(call->app->sim);
                return call->script.reading == XS_APP_READS_SOME;
            case XS_BODY_END:
                if (call->got != call->plan->body_len) {
                    xs_app_fault(call, XS_ORACLE_O2, "less body than was sent");
                }
                if (call->got > call->app->body_max) {
                    xs_app_fault(call, XS_ORACLE_O4, "a body over the limit");
                }
                call->body_end = true;
                return true;
        }
        if (call->app->verdict->oracle != XS_ORACLE_NONE) {
            return true;
        }
    }
}

/* the response */

static void call_field(struct xs_app_call *call, const char *name,
                       const char *value)
{
    int err =
        xs_response_header(call->req, xs_slice_str(name), xs_slice_str(value));

    if (err == 0) {
        xs_model_field(&call->conn->model, xs_slice_str(name),
                       xs_slice_str(value));
    } else if (err != XS_ENOMEM || !call->app->memory_fails) {
        xs_app_fault(call, XS_ORACLE_O11, "a legal field is refused");
    } else {
        call->script.fail_at = call->step;
    }
}

static bool call_start(struct xs_app_call *call, unsigned status)
{
    struct xs_slice reason = call->script.reason;
    int err = xs_response_start(call->req, status, reason);

    if (err == 0) {
        xs_model_start(&call->conn->model, status, reason);
        return true;
    }
    if (err != XS_ENOMEM || !call->app->memory_fails) {
        xs_app_fault(call, XS_ORACLE_O11, "a legal start is refused");
    }
    call->script.fail_at = call->step;
    return false;
}

/* Fields that mean something to the server as well. */
static const struct {
    const char *name;
    const char *value;
} odd_fields[] = {
    {"Date", "Thu, 01 Jan 1970 00:00:00 GMT"},
    {"SERVER", "another"},
    {"Connection", "keep-alive"},
    {"Connection", "x-odd, close"},
    {"Transfer-Encoding", "chunked"},
};

/* None of these may be taken. */
static void call_wrong_fields(struct xs_app_call *call)
{
    static const struct {
        const char *name;
        const char *value;
    } fields[] = {
        {"x-bad", "a\r\nb: c"},
        {"x-bad", "a\nb"},
        {"bad name", "x"},
        {"", "x"},
        {"content-length", "5x"},
        {"content-length", ""},
        {"transfer-encoding", "gzip"},
    };

    for (size_t i = 0; i < XS_COUNT_OF(fields); i++) {
        if (xs_response_header(call->req, xs_slice_str(fields[i].name),
                               xs_slice_str(fields[i].value)) != XS_EINVALID) {
            xs_app_fault(call, XS_ORACLE_O11, "an illegal field is taken");
        }
    }
    if (xs_response_start(call->req, 99, XS_LIT("")) != XS_EINVALID) {
        xs_app_fault(call, XS_ORACLE_O11, "an illegal status is taken");
    }
}

static void call_head(struct xs_app_call *call)
{
    const struct xs_app_script *script = &call->script;
    size_t length = script->body_len;
    char text[32];

    if (script->wrong == XS_APP_WRONG_START_TWICE) {
        if (!call_start(call, 500)) {
            return;
        }
        call_field(call, "x-dropped", "yes");
        call_field(call, "connection", "close");
    }
    if (!call_start(call, script->status)) {
        return;
    }
    if (script->wrong == XS_APP_WRONG_FIELD) {
        call_wrong_fields(call);
    }
    if (script->odd > 0) {
        /* Twice: each of them may be said twice. */
        call_field(call, odd_fields[script->odd - 1].name,
                   odd_fields[script->odd - 1].value);
        call_field(call, odd_fields[script->odd - 1].name,
                   odd_fields[script->odd - 1].value);
    }
    for (unsigned i = 0; i < script->fields; i++) {
        call_field(call, i == 1 ? "X-Powered-By" : "content-type",
                   i == 1 ? "dice" : "text/x-dice");
    }
    if (script->close) {
        call_field(call, "Connection", "close");
    }
    if (script->wrong == XS_APP_WRONG_SHORT) {
        length += 1 + length / 3;
    } else if (script->wrong == XS_APP_WRONG_LONG) {
        length /= 2;
    }
    if (script->trailing) {
        if (xs_response_expect_trailers(call->req) != 0) {
            xs_app_fault(call, XS_ORACLE_O11, "trailers are not expected");
        }
        xs_model_expect(&call->conn->model, call->plan->te);
    }
    if (script->declared) {
        (void)snprintf(text, sizeof text, "%zu", length);
        call_field(call, "Content-Length", text);
    }
}

static void call_release(void *owner)
{
    struct xs_app *app = owner;

    app->released++;
    if (app->released > app->lent) {
        xs_verdict_fail(app->verdict, XS_ORACLE_O18,
                        "released more often than lent");
    }
}

static void call_release_file(void *owner)
{
    struct xs_app_call *call = owner;

    if (call->files == 0) {
        xs_app_fault(call, XS_ORACLE_O18, "a file is released twice");
    } else {
        call->files--;
    }
    call_release(call->app);
}

/* How the piece is given: copied, lent, or as a range of the file. */
static struct xs_lent call_lent(const struct xs_app_call *call,
                                struct xs_slice piece)
{
    const struct xs_app_script *script = &call->script;
    struct xs_lent lent = {.bytes = piece};
    bool is_file = script->files == XS_APP_FILES_ALL ||
                   (script->files == XS_APP_FILES_SOME && call->step % 2 == 0);

    if (is_file && piece.len > 0) {
        lent.bytes.data = NULL;
        lent.is_file = true;
        lent.file = xs_app_file(call);
        lent.offset = XS_APP_FILE_AT + call->sent;
    }
    return lent;
}

/* What a body call should say: 0 if it depends. */
static int call_expect(const struct xs_app_call *call, size_t len, bool more,
                       bool full)
{
    if (full) {
        return XS_EAGAIN;
    }
    if (!call->conn->model.response.started) {
        return XS_ESTATE;
    }
    return xs_model_fits(&call->conn->model, len, more) ? 0 : XS_ELENGTH;
}

/* Give a piece. False if it was not taken. */
static bool call_give(struct xs_app_call *call, struct xs_slice piece,
                      bool more)
{
    struct xs_app *app = call->app;
    struct xs_lent lent = call_lent(call, piece);
    struct xs_model_ties ties = call_ties(call);
    bool full = xs_response_full(call->req);
    int expected = call_expect(call, piece.len, more, full);
    int err;

    if (lent.is_file) {
        lent.release = call_release_file;
        lent.owner = call;
        call->files++;
        app->lent++;
    } else if (call->script.lend) {
        lent.release = call_release;
        lent.owner = app;
        app->lent++;
    }
    if (expected == 0) {
        /* Before the call, for it may write. */
        xs_model_body(&call->conn->model, piece, more, xs_app_wall(app), &ties);
    }
    err = xs_response_body(call->req, &lent, more);
    if (err != 0 && lent.release != NULL) {
        app->lent--;
        call->files -= lent.is_file;
    }
    if (err == XS_EGONE) {
        call->gone = true;
        return false;
    }
    if (err == XS_ENOMEM && app->memory_fails) {
        if (expected == 0) {
            xs_model_undo(&call->conn->model);
        }
        call->script.fail_at = call->step;
        return false;
    }
    if (err != expected) {
        xs_verdict_fail(app->verdict, XS_ORACLE_O11,
                        "a body of %zu bytes, more %d, gives %d, not %d",
                        piece.len, more, err, expected);
    }
    return err == 0;
}

/* Give the next piece of the body. True if the step is done. */
static bool call_piece(struct xs_app_call *call)
{
    const struct xs_app_script *script = &call->script;
    struct xs_slice body = xs_pattern_body(call->app->pattern,
                                           script->body_seed, script->body_len);
    size_t len = body.len - call->sent;
    bool more;

    if (xs_response_full(call->req) && !script->pushy) {
        call->wait_drain = true;
        return false;
    }
    len = len < script->piece_max ? len : script->piece_max;
    if (script->empties && call->step % 2 == 1 && call->sent < body.len) {
        len = 0;
    }
    more = call->phase == XS_APP_BODY;
    if (!call_give(call, xs_slice_of(body.data + call->sent, len), more)) {
        if (xs_response_full(call->req)) {
            call->wait_drain = true;
        } else if (!call->gone) {
            call->script.fail_at = call->step; /* it does not fit: give up */
        }
        return false;
    }
    call->sent += len;
    if (!more && script->trailing) {
        call->phase = XS_APP_TRAILERS;
    } else if (!more) {
        call->finished = true;
        xs_app_over(call);
        return true;
    }
    call->was_full = call->was_full || xs_response_full(call->req);
    if (script->flush) {
        xs_response_flush(call->req);
    }
    return true;
}

/* Whether the next piece is the last. */
static bool call_at_last(const struct xs_app_call *call)
{
    const struct xs_app_script *script = &call->script;
    size_t left = script->body_len - call->sent;

    if (script->end_apart) {
        return left == 0;
    }
    return left <= script->piece_max &&
           !(script->empties && call->step % 2 == 1 && left > 0);
}

/* Rules that a careless application breaks on its way. */
static void call_break_rules(struct xs_app_call *call)
{
    struct xs_lent none = {.bytes = XS_LIT("x")};

    xs_app_hint_late(call);
    if (call->script.wrong == XS_APP_WRONG_EARLY_BODY &&
        call->phase == XS_APP_START && !call->gone &&
        !xs_response_full(call->req)) {
        int err = xs_response_body(call->req, &none, true);

        call->gone = err == XS_EGONE;
        if (err != XS_ESTATE && err != XS_EGONE) {
            xs_app_fault(call, XS_ORACLE_O11,
                         "a body before the start is taken");
        }
    }
    if (call->script.wrong == XS_APP_WRONG_LATE_FIELD &&
        call->conn->model.response.head_out &&
        xs_response_header(call->req, XS_LIT("x-late"), XS_LIT("1")) !=
            XS_ESTATE) {
        xs_app_fault(call, XS_ORACLE_O11, "a field behind the head is taken");
    }
}

/* One step of the script. False if it has to wait for something. */
static bool call_step(struct xs_app_call *call)
{
    bool late = call->script.reading == XS_APP_READS_LAST;

    call_break_rules(call);
    switch (call->phase) {
        case XS_APP_READ:
            if (!late && call->script.reading != XS_APP_READS_NOTHING &&
                !call_read(call)) {
                return false;
            }
            call->phase =
                call->script.hints_late > 0 ? XS_APP_HINT_LATE : XS_APP_START;
            return true;
        case XS_APP_HINT:
        case XS_APP_HINT_LATE:
            return xs_app_hint(call);
        case XS_APP_START:
            call_head(call);
            call->phase = XS_APP_BODY;
            return true;
        case XS_APP_BODY:
            if (call_at_last(call)) {
                call->phase = XS_APP_READ_LATE;
                return true;
            }
            return call_piece(call);
        case XS_APP_READ_LATE:
            if (late && !call_read(call)) {
                return false;
            }
            call->phase = XS_APP_END;
            return true;
        case XS_APP_END:
            return call_piece(call);
        case XS_APP_TRAILERS:
            return xs_app_trailers(call);
        case XS_APP_OVER:
            break;
    }
    XS_UNREACHABLE();
}

/* Whether the script comes to a halt at this step. */
static bool call_halts(struct xs_app_call *call)
{
    const struct xs_app_script *script = &call->script;

    if (script->fail_at != 0 && script->fail_at <= call->step) {
        call_fail(call);
        return true;
    }
    call->hangs = script->hang_at == call->step && !call->app->calm;
    return call->hangs;
}

/* As far as it goes. */
void xs_app_go_on(struct xs_app_call *call)
{
    while (call->phase != XS_APP_OVER && !call->gone && !call_halts(call) &&
           call->app->verdict->oracle == XS_ORACLE_NONE) {
        if (!call_step(call)) {
            if (call->script.fail_at == call->step) {
                continue;
            }
            return;
        }
        call->step++;
        if (call->phase != XS_APP_OVER && call->script.pace_ns > 0 &&
            !call->app->calm) {
            xs_sim_timer_set(call->app->sim, &call->timer,
                             xs_sim_now(call->app->sim) + call->script.pace_ns);
            return;
        }
    }
}
