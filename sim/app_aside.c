/* app_aside.c - a scripted application says fields besides the head's. */

#include "core/base/limits.h"
#include "sim/app.h"

static const struct xs_field hint_fields[] = {
    {{(const uint8_t *)"link", 4}, {(const uint8_t *)"</a>; rel=preload", 17}},
    {{(const uint8_t *)"Link", 4}, {(const uint8_t *)"", 0}},
    {{(const uint8_t *)"x-hint", 6}, {(const uint8_t *)"1, 2", 4}},
};

/* None of these may be taken. */
static void call_wrong_hints(struct xs_app_call *call)
{
    static const struct xs_field fields[] = {
        {{(const uint8_t *)"a b", 3}, {(const uint8_t *)"", 0}},
        {{(const uint8_t *)"a", 1}, {(const uint8_t *)"b\r\nc: d", 7}},
        {{(const uint8_t *)"content-length", 14}, {(const uint8_t *)"1", 1}},
    };

    for (size_t i = 0; i < XS_COUNT_OF(fields); i++) {
        if (xs_response_hint(call->req, &fields[i], 1) == 0) {
            xs_app_fault(call, XS_ORACLE_O11, "an illegal hint is taken");
        }
    }
}

/* Say a hint. False if it has to wait. */
static bool call_hint(struct xs_app_call *call)
{
    struct xs_app *app = call->app;
    struct xs_model *model = &call->conn->model;
    /* A "100 Continue" that may be left out may also be waiting. */
    bool settled = model->part == model->part_count;
    uint64_t writes = xs_sim_stats(app->sim)->writevs;
    int err;

    if (call->script.wrong == XS_APP_WRONG_FIELD) {
        call_wrong_hints(call);
    }
    if (xs_response_full(call->req)) {
        call->wait_drain = true;
        return false;
    }
    xs_model_hint(model, hint_fields, call->script.hint_fields);
    err = xs_response_hint(call->req, hint_fields, call->script.hint_fields);
    if (err == XS_EGONE) {
        call->gone = true;
        return false;
    }
    if (err == XS_ENOMEM && app->memory_fails) {
        xs_model_undo(model);
    } else if (err != 0) {
        xs_app_fault(call, XS_ORACLE_O11, "a hint is refused");
    } else if (settled && call->plan->minor > 0 &&
               model->matched < XS_TX_TURN && /* or others come first */
               xs_sim_stats(app->sim)->writevs == writes) {
        xs_app_fault(call, XS_ORACLE_O11, "a hint waits");
    }
    call->was_full = call->was_full || xs_response_full(call->req);
    call->hints++;
    return true;
}

bool xs_app_hint(struct xs_app_call *call)
{
    bool early = call->phase == XS_APP_HINT;
    unsigned all = early ? call->script.hints_early : call->script.hints_late;

    if (call->hints < all) {
        return call_hint(call);
    }
    call->hints = 0;
    call->phase = early ? XS_APP_READ : XS_APP_START;
    return true;
}

void xs_app_hint_late(struct xs_app_call *call)
{
    if (call->script.wrong == XS_APP_WRONG_LATE_HINT &&
        call->conn->model.response.started &&
        xs_response_hint(call->req, hint_fields, 1) == 0) {
        xs_app_fault(call, XS_ORACLE_O11, "a hint behind the start is taken");
    }
}

/* None of these may be taken. */
static void call_wrong_trailers(struct xs_app_call *call)
{
    static const struct xs_field fields[] = {
        {{(const uint8_t *)"a b", 3}, {(const uint8_t *)"", 0}},
        {{(const uint8_t *)"a", 1}, {(const uint8_t *)"b\nc", 3}},
        {{(const uint8_t *)"Content-Length", 14}, {(const uint8_t *)"1", 1}},
    };

    for (size_t i = 0; i < XS_COUNT_OF(fields); i++) {
        if (xs_response_trailers(call->req, &fields[i], 1, false) == 0) {
            xs_app_fault(call, XS_ORACLE_O11, "an illegal trailer is taken");
        }
    }
}

bool xs_app_trailers(struct xs_app_call *call)
{
    bool more = call->trailers < call->script.trailers;
    unsigned count = 1 + call->trailers % XS_COUNT_OF(hint_fields);
    int err;

    if (call->script.wrong == XS_APP_WRONG_FIELD) {
        call_wrong_trailers(call);
    }
    err = xs_response_trailers(call->req, hint_fields, count, more);
    if (err == XS_EGONE) {
        call->gone = true;
        return false;
    }
    if (err == XS_ENOMEM && call->app->memory_fails) {
        call->script.fail_at = call->step;
        return false;
    }
    if (err != 0) {
        xs_app_fault(call, XS_ORACLE_O11, "trailers are refused");
    }
    /* They are not written in the call. */
    xs_model_trailers(&call->conn->model, hint_fields, count, more);
    call->trailers++;
    if (!more) {
        call->finished = true;
        xs_app_over(call);
    }
    return true;
}
