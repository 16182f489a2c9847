/* app_script.c - what a scripted application will do, drawn beforehand. */

#include "core/base/limits.h"
#include "sim/app.h"

/* However small its pieces, an answer has no more than about this many. */
#define APP_PIECES 64u

static void app_draw_head(struct xs_app_script *script, struct xs_tape *tape)
{
    static const unsigned statuses[] = {200, 200, 200, 200, 205, 404, 204, 304};

    script->status =
        statuses[xs_choose(tape, XS_LABEL_APP_HEAD, XS_COUNT_OF(statuses))];
    script->declared = xs_choose(tape, XS_LABEL_APP_HEAD, 2) == 1;
    script->fields = xs_choose(tape, XS_LABEL_APP_FIELD, 4);
    script->close = xs_choose(tape, XS_LABEL_APP_FIELD, 16) == 15;
    switch (xs_choose(tape, XS_LABEL_APP_FIELD, 8)) {
        case 6:
            script->odd = 1 + xs_choose(tape, XS_LABEL_APP_FIELD, 5);
            break;
        case 7:
            script->status = 299;
            script->reason = XS_LIT("Quite Odd");
            break;
        default:
            break;
    }
}

static void app_draw_body(struct xs_app_script *script, struct xs_tape *tape)
{
    script->body_len = xs_plan_size(tape, XS_LABEL_APP_PIECE, XS_BODY_USUAL);
    script->piece_max = XS_BODY_MAX;
    if (xs_choose(tape, XS_LABEL_APP_PIECE, 2) == 1) {
        script->piece_max =
            script->body_len / APP_PIECES + 1 +
            xs_size(tape, XS_LABEL_APP_PIECE, (uint32_t)script->body_len);
    }
    switch (xs_choose(tape, XS_LABEL_APP_PIECE, 8)) {
        case 4:
            script->end_apart = true;
            break;
        case 5:
            script->empties = true;
            break;
        case 6:
            script->pushy = true;
            break;
        case 7:
            script->end_apart = true;
            script->empties = true;
            script->pushy = true;
            break;
        default:
            break;
    }
    script->lend = xs_choose(tape, XS_LABEL_APP_PIECE, 2) == 1;
    switch (xs_choose(tape, XS_LABEL_APP_FILE, 4)) {
        case 2:
            script->files = XS_APP_FILES_SOME;
            break;
        case 3:
            script->files = XS_APP_FILES_ALL;
            break;
        default:
            break;
    }
    script->flush = xs_choose(tape, XS_LABEL_APP_FLUSH, 8) == 7;
    if (xs_choose(tape, XS_LABEL_APP_PACE, 4) == 3) {
        static const uint32_t pauses_ms[] = {0, 1, 50, 1000, 10000, 70000};

        script->pace_ns =
            XS_MS_NS * pauses_ms[xs_choose(tape, XS_LABEL_APP_PACE,
                                           XS_COUNT_OF(pauses_ms))];
    }
}

static void app_draw_trouble(struct xs_app_script *script, struct xs_tape *tape)
{
    if (xs_choose(tape, XS_LABEL_APP_FAIL, 12) == 11) {
        script->fail_at = 1 + xs_choose(tape, XS_LABEL_APP_FAIL, 8);
    }
    if (xs_choose(tape, XS_LABEL_APP_HANG, 24) == 23) {
        script->hang_at = 1 + xs_choose(tape, XS_LABEL_APP_HANG, 8);
    }
    if (xs_choose(tape, XS_LABEL_APP_WRONG, 12) == 11) {
        script->wrong = (enum xs_app_wrong)xs_choose(tape, XS_LABEL_APP_WRONG,
                                                     XS_APP_WRONG_COUNT);
    }
    if (script->wrong == XS_APP_WRONG_SHORT ||
        script->wrong == XS_APP_WRONG_LONG) {
        script->declared = true;
    }
}

static void app_draw_asides(struct xs_app_script *script, struct xs_tape *tape)
{
    uint32_t what = xs_choose(tape, XS_LABEL_APP_HINT, 8);

    if (what == 3 || what == 7) {
        script->hints_early = xs_choose(tape, XS_LABEL_APP_HINT, 3);
        script->hints_late = xs_choose(tape, XS_LABEL_APP_HINT, 3);
        script->hint_fields = 1 + xs_choose(tape, XS_LABEL_APP_HINT, 3);
    }
    if (what >= 6) {
        script->trailing = true;
        script->trailers = xs_choose(tape, XS_LABEL_APP_HINT, 3);
    }
}

void xs_app_draw(struct xs_app_script *script, struct xs_tape *tape,
                 unsigned number)
{
    static const enum xs_app_reading readings[] = {
        XS_APP_READS_FIRST, XS_APP_READS_FIRST,  XS_APP_READS_FIRST,
        XS_APP_READS_LAST,  XS_APP_READS_LAST,   XS_APP_READS_LAST,
        XS_APP_READS_SOME,  XS_APP_READS_NOTHING};

    *script = (struct xs_app_script){.body_seed = number * 307 + 41};
    script->reading =
        readings[xs_choose(tape, XS_LABEL_APP_BODY, XS_COUNT_OF(readings))];
    script->nibble = xs_choose(tape, XS_LABEL_APP_BODY, 4) == 3;
    app_draw_head(script, tape);
    app_draw_body(script, tape);
    app_draw_trouble(script, tape);
    app_draw_asides(script, tape);
}
