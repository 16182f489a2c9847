/* app.c - a scripted application: a gateway whose behaviour is drawn. */

#include "sim/app.h"

#include <string.h>

#include "core/base/limits.h"

uint64_t xs_app_wall(const struct xs_app *app)
{
    struct xs_io *io = xs_sim_io(app->sim);

    return io->ops->wall(io) / XS_SECOND_NS;
}

void xs_app_fault(struct xs_app_call *call, enum xs_oracle oracle,
                  const char *what)
{
    xs_verdict_fail(call->app->verdict, oracle,
                    "client %u, request %u: %s (phase %d, step %u)",
                    (unsigned)(call->conn - call->app->conns),
                    (unsigned)(call - call->conn->calls), what,
                    (int)call->phase, call->step);
}

void xs_app_over(struct xs_app_call *call)
{
    call->phase = XS_APP_OVER;
    call->conn->ended_ns = xs_sim_now(call->app->sim);
    xs_sim_timer_stop(call->app->sim, &call->timer);
}

static void call_on_timer(struct xs_sim_timer *timer)
{
    xs_app_go_on(xs_container_of(timer, struct xs_app_call, timer));
}

/* files: one for each call */

int xs_app_file(const struct xs_app_call *call)
{
    unsigned conn = (unsigned)(call->conn - call->app->conns);
    unsigned number = (unsigned)(call - call->conn->calls);

    return (int)(1 + conn * XS_PLANS_MAX + number);
}

static struct xs_app_call *app_call_of(const struct xs_app *app, int file)
{
    unsigned number = (unsigned)file - 1;

    XS_ASSERT(file > 0);
    XS_ASSERT(number / XS_PLANS_MAX < app->conn_count);
    return &app->conns[number / XS_PLANS_MAX].calls[number % XS_PLANS_MAX];
}

int64_t xs_app_read(const struct xs_app *app, int file, uint64_t offset,
                    uint8_t *data, size_t len)
{
    struct xs_app_call *call = app_call_of(app, file);
    const struct xs_app_script *script = &call->script;
    struct xs_slice body =
        xs_pattern_body(app->pattern, script->body_seed, script->body_len);
    uint64_t at = offset - XS_APP_FILE_AT;

    if (call->files == 0) {
        xs_app_fault(call, XS_ORACLE_O18, "a file is read that was released");
    }
    if (offset < XS_APP_FILE_AT || at >= body.len) {
        return 0;
    }
    len = len < body.len - at ? len : body.len - (size_t)at;
    memcpy(data, body.data + at, len);
    return (int64_t)len;
}

void xs_app_tear(struct xs_app *app, int file)
{
    struct xs_app_call *call = app_call_of(app, file);
    struct xs_app_conn *conn = call->conn;

    conn->torn = true;
    conn->torn_at = (unsigned)(call - conn->calls);
    conn->spoilt = true;
    conn->last = true;
    xs_model_cut(&conn->model);
}

/* gateway.h */

static struct xs_app *app_of(struct xs_gateway *gateway)
{
    return xs_container_of(gateway, struct xs_app, base);
}

static struct xs_app_conn *app_find(struct xs_app *app,
                                    const struct xs_request *req)
{
    for (unsigned i = 0; i < app->conn_count; i++) {
        if (app->conns[i].client->port == req->peer->port) {
            return &app->conns[i];
        }
    }
    return NULL;
}

/* The head is what was sent. */
static void call_check_head(struct xs_app_call *call,
                            const struct xs_head *head)
{
    const struct xs_plan *plan = call->plan;
    const struct xs_slice target = xs_slice_of(
        call->conn->client->stream.data + plan->target_at, plan->target_len);
    enum xs_framing framing = XS_FRAMING_NONE;

    if (plan->bad == XS_PLAN_BAD_HEAD) {
        xs_app_fault(call, XS_ORACLE_O4, "a malformed request gets through");
        return;
    }
    if (plan->chunked) {
        framing = XS_FRAMING_CHUNKED;
    } else if (plan->has_body) {
        framing = XS_FRAMING_LENGTH;
    }
    if (!xs_slice_eq(head->method, plan->method) ||
        head->minor != plan->minor || head->is_head != plan->is_head ||
        head->keep_alive != plan->keep_alive || head->trailers != plan->te ||
        head->expect_continue !=
            (plan->expect && head->framing != XS_FRAMING_NONE) ||
        !xs_slice_eq(head->target, target) ||
        head->field_count != plan->field_count) {
        xs_app_fault(call, XS_ORACLE_O2, "another head than was sent");
    }
    if (head->framing != framing &&
        !(plan->body_len == 0 && head->framing == XS_FRAMING_NONE)) {
        xs_app_fault(call, XS_ORACLE_O2, "another framing than was sent");
    }
    if (head->framing == XS_FRAMING_LENGTH && head->length != plan->body_len) {
        xs_app_fault(call, XS_ORACLE_O2, "another length than was sent");
    }
}

static void app_on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct xs_app *app = app_of(gateway);
    struct xs_app_conn *conn = app_find(app, req);
    struct xs_app_call *call;

    if (conn == NULL || conn->count == conn->client->plan_count) {
        xs_verdict_fail(app->verdict, XS_ORACLE_O2,
                        "a request that nobody sent");
        return;
    }
    call = &conn->calls[conn->count];
    memset(call, 0, sizeof *call);
    call->app = app;
    call->conn = conn;
    call->req = req;
    call->plan = &conn->client->plans[conn->count];
    call->timer.fire = call_on_timer;
    call->body_end = !call->plan->has_body;
    call->step = 1;
    req->user = call;
    if (*req->conn_user != (conn->count > 0 ? conn : NULL)) {
        xs_app_fault(call, XS_ORACLE_O11, "conn_user is not kept");
    }
    *req->conn_user = conn;
    if (conn->last || conn->model.close_said) {
        xs_app_fault(call, XS_ORACLE_O8, "a request behind the last one");
    }
    if (conn->count > 0 && call[-1].phase != XS_APP_OVER) {
        xs_app_fault(call, XS_ORACLE_O11, "two requests at a time");
    }
    conn->count++;
    call_check_head(call, req->head);
    xs_app_draw(&call->script, xs_sim_tape(app->sim),
                (unsigned)(call - conn->calls));
    if (call->script.hints_early > 0) {
        call->phase = XS_APP_HINT;
    }
    xs_model_request(&conn->model, call->plan->minor, call->plan->is_head,
                     xs_app_wall(app));
    xs_app_go_on(call);
}

/* The call of a request that has not ended. */
static struct xs_app_call *app_call(struct xs_request *req, const char *what)
{
    struct xs_app_call *call = req->user;

    if (call->phase == XS_APP_OVER || call->req != req) {
        xs_app_fault(call, XS_ORACLE_O11, what);
        return NULL;
    }
    return call;
}

static void app_on_body(struct xs_request *req)
{
    struct xs_app_call *call = app_call(req, "on_body behind the end");

    if (call == NULL) {
        return;
    }
    if (!call->wait_body) {
        xs_app_fault(call, XS_ORACLE_O11, "on_body that nobody waits for");
    }
    call->wait_body = false;
    if (call->timer.slot == 0) {
        xs_app_go_on(call);
    }
}

static void app_on_drain(struct xs_request *req)
{
    struct xs_app_call *call = app_call(req, "on_drain behind the end");

    if (call == NULL) {
        return;
    }
    if (!call->was_full || xs_response_full(req)) {
        xs_app_fault(call, XS_ORACLE_O11, "on_drain that is not due");
    }
    call->was_full = false;
    call->wait_drain = false;
    if (call->timer.slot == 0) {
        xs_app_go_on(call);
    }
}

static void app_on_eof(struct xs_request *req)
{
    struct xs_app_call *call = app_call(req, "on_eof behind the end");
    const struct xs_client *client;

    if (call == NULL) {
        return;
    }
    client = call->conn->client;
    if (call->eof) {
        xs_app_fault(call, XS_ORACLE_O11, "on_eof twice");
    }
    if (!client->half_closed && !client->broke_off && !client->done &&
        !call->app->kills) {
        xs_app_fault(call, XS_ORACLE_O11, "on_eof while the client lives");
    }
    call->eof = true;
}

/* Whether `why` can be true. Deadlines are looked at elsewhere. */
static bool call_abort_is_right(const struct xs_app_call *call,
                                enum xs_abort why)
{
    const struct xs_client *client = call->conn->client;
    bool left = client->broke_off || client->done || client->was_reset;

    switch (why) {
        case XS_ABORT_RESET:
            return left || call->app->kills;
        case XS_ABORT_EOF:
            return left && client->sent < call->plan->end;
        case XS_ABORT_SYNTAX:
            return call->plan->bad != XS_PLAN_LEGAL;
        case XS_ABORT_LIMIT:
            return call->plan->body_len > call->app->body_max;
        case XS_ABORT_BODY_TIMEOUT:
            return call->wait_body;
        case XS_ABORT_WRITE_TIMEOUT:
            return true;
        case XS_ABORT_BACKLOG:
            return call->app->sheds;
        case XS_ABORT_SHUTDOWN:
            return call->app->stopping;
        case XS_ABORT_MEMORY:
            return call->app->memory_fails;
        case XS_ABORT_FILE:
            return call->conn->torn;
    }
    XS_UNREACHABLE();
}

/* The server answers in our place, if it can; it tells how right after this. */
static bool call_is_answered(const struct xs_app_call *call, enum xs_abort why)
{
    return !call->conn->model.response.head_out &&
           (why == XS_ABORT_BODY_TIMEOUT || why == XS_ABORT_LIMIT ||
            why == XS_ABORT_SYNTAX);
}

static void app_on_abort(struct xs_request *req, enum xs_abort why)
{
    struct xs_app_call *call = app_call(req, "on_abort behind the end");

    if (call == NULL) {
        return;
    }
    call->aborted = true;
    call->why = why;
    if (!call_abort_is_right(call, why)) {
        xs_app_fault(call, XS_ORACLE_O11, xs_abort_text(why));
    }
    if (!call_is_answered(call, why)) {
        call->conn->spoilt = true;
    }
    call->conn->last = true;
    xs_app_over(call);
}

static const struct xs_gateway_ops app_ops = {
    .on_request = app_on_request,
    .on_body = app_on_body,
    .on_drain = app_on_drain,
    .on_eof = app_on_eof,
    .on_abort = app_on_abort,
};

void xs_app_init(struct xs_app *app, struct xs_sim *sim,
                 const struct xs_pattern *pattern, struct xs_verdict *verdict)
{
    *app = (struct xs_app){
        .base = {.ops = &app_ops},
        .sim = sim,
        .pattern = pattern,
        .body_max = UINT64_MAX,
        .verdict = verdict,
    };
}

void xs_app_conns(struct xs_app *app, struct xs_app_conn *conns, unsigned count)
{
    app->conns = conns;
    app->conn_count = count;
}

void xs_app_calm(struct xs_app *app)
{
    app->calm = true;
    for (unsigned i = 0; i < app->conn_count; i++) {
        for (unsigned j = 0; j < app->conns[i].count; j++) {
            struct xs_app_call *call = &app->conns[i].calls[j];

            if (call->phase != XS_APP_OVER && !call->gone &&
                (call->hangs || call->timer.slot != 0)) {
                xs_sim_timer_stop(app->sim, &call->timer);
                call->hangs = false;
                xs_app_go_on(call);
            }
        }
    }
}
