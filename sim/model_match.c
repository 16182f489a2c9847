/* model_match.c - the reference serialisation: comparing what was written. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "sim/model.h"

static const char line_continue[] = "HTTP/1.1 100 Continue\r\n\r\n";
static const char line_close[] = "connection: close\r\n\r\n";
static const char line_keep[] = "connection: keep-alive\r\n\r\n";
static const char line_none[] = "\r\n";

/* Printable text of what is around a difference. */
static void match_show(char *out, size_t max, struct xs_slice bytes)
{
    size_t len = 0;

    for (size_t i = 0; i < bytes.len && i < 24 && len + 5 < max; i++) {
        uint8_t c = bytes.data[i];

        if (c >= ' ' && c < 0x7f) {
            out[len++] = (char)c;
        } else {
            len += (size_t)snprintf(out + len, max - len, "\\x%02x", c);
        }
    }
    out[len] = '\0';
}

static void match_fault(struct xs_model *model, struct xs_slice written,
                        struct xs_slice expected)
{
    char was[100];
    char should[100];

    match_show(was, sizeof was, written);
    match_show(should, sizeof should, expected);
    xs_verdict_fail(model->verdict, XS_ORACLE_O1,
                    "byte %" PRIu64 ": \"%s\" was written, not \"%s\"",
                    model->matched, was, should);
}

static void match_next(struct xs_model *model)
{
    model->part++;
    model->at = 0;
}

/* Compare with the rest of `expected`, which is the whole of a part. The bytes
 * used; 0 is a fault. */
static size_t match_bytes(struct xs_model *model, struct xs_slice written,
                          struct xs_slice expected)
{
    struct xs_slice rest =
        xs_slice_of(expected.data + model->at, expected.len - model->at);
    size_t len = written.len < rest.len ? written.len : rest.len;

    if (memcmp(written.data, rest.data, len) != 0) {
        size_t same = 0;

        while (written.data[same] == rest.data[same]) {
            same++;
        }
        model->matched += same;
        match_fault(model, xs_slice_of(written.data + same, written.len - same),
                    xs_slice_of(rest.data + same, rest.len - same));
        return 0;
    }
    model->at += len;
    if (model->at == expected.len) {
        match_next(model);
    }
    return len;
}

/* Any second of the span will do, but the same one to the last byte. */
static size_t match_date(struct xs_model *model, struct xs_part *part,
                         struct xs_slice written)
{
    char date[30];

    for (; part->from_s < part->to_s; part->from_s++) {
        size_t len = part->len - model->at;

        xs_model_date(date, part->from_s);
        len = len < written.len ? len : written.len;
        if (memcmp(written.data, date + model->at, len) == 0) {
            break;
        }
    }
    xs_model_date(date, part->from_s);
    return match_bytes(model, written, xs_slice_of(date, part->len));
}

/* Said or not said, it has to be what the rules demand. */
static void match_lived_on(struct xs_model *model, const struct xs_part *part)
{
    model->close_said = model->maybe_close;
    if (part->must_close && !model->maybe_close) {
        xs_verdict_fail(model->verdict, XS_ORACLE_O8,
                        "the head does not say that the connection closes");
    }
    if (part->must_keep && model->maybe_close) {
        xs_verdict_fail(model->verdict, XS_ORACLE_O8,
                        "the connection closes without need");
    }
}

/* Byte by byte, until only one of the two lines can be meant. */
static size_t match_lives_on(struct xs_model *model, struct xs_part *part,
                             struct xs_slice written)
{
    const char *lives = part->minor > 0 ? line_none : line_keep;
    size_t used = 0;

    if (model->at == 0) {
        model->maybe_lives = true;
        model->maybe_close = true;
    }
    while (used < written.len) {
        char byte = (char)written.data[used];

        model->maybe_lives = model->maybe_lives && lives[model->at] == byte;
        model->maybe_close =
            model->maybe_close && line_close[model->at] == byte;
        if (!model->maybe_lives && !model->maybe_close) {
            match_fault(model,
                        xs_slice_of(written.data + used, written.len - used),
                        xs_slice_str(lives + model->at));
            return 0;
        }
        model->at++;
        used++;
        if ((model->maybe_lives && lives[model->at] == '\0') ||
            (model->maybe_close && line_close[model->at] == '\0')) {
            match_lived_on(model, part);
            match_next(model);
            break;
        }
    }
    return used;
}

/* Byte by byte, until it is another message that begins like it. */
static size_t match_continue(struct xs_model *model, struct xs_slice written)
{
    const struct xs_part *next = &model->parts[model->part + 1];
    size_t used = 0;

    while (used < written.len &&
           line_continue[model->at] == (char)written.data[used]) {
        model->at++;
        used++;
        if (line_continue[model->at] == '\0') {
            match_next(model);
            return used;
        }
    }
    if (used > 0) {
        return used;
    }
    if (model->part + 1 < model->part_count && next->kind == XS_PART_TEXT &&
        model->at < next->len &&
        memcmp(model->text.data + next->at, line_continue, model->at) == 0) {
        model->part++; /* it was left out; the rest is the same so far */
        return SIZE_MAX;
    }
    return match_bytes(model, written, xs_slice_str(line_continue));
}

/* The bytes used of what was written; SIZE_MAX: none, look again; 0: fault. */
static size_t match_part(struct xs_model *model, struct xs_slice written)
{
    struct xs_part *part = &model->parts[model->part];

    switch (part->kind) {
        case XS_PART_TEXT:
            return match_bytes(
                model, written,
                xs_slice_of(model->text.data + part->at, part->len));
        case XS_PART_BODY:
            return match_bytes(model, written,
                               xs_slice_of(part->data, part->len));
        case XS_PART_DATE:
            return match_date(model, part, written);
        case XS_PART_CONTINUE:
            return match_continue(model, written);
        case XS_PART_LIVES_ON:
            return match_lives_on(model, part, written);
    }
    XS_UNREACHABLE();
}

void xs_model_wrote(struct xs_model *model, struct xs_slice bytes)
{
    while (bytes.len > 0 && model->verdict->oracle == XS_ORACLE_NONE) {
        size_t used;

        if (model->cut || model->part == model->part_count) {
            match_fault(model, bytes, XS_LIT(""));
            return;
        }
        used = match_part(model, bytes);
        if (used == 0) {
            return;
        }
        if (used != SIZE_MAX) {
            model->matched += used;
            bytes = xs_slice_of(bytes.data + used, bytes.len - used);
        }
    }
}

void xs_model_cut(struct xs_model *model)
{
    model->cut = true;
}

bool xs_model_is_complete(const struct xs_model *model)
{
    size_t part = model->part;

    /* One that may be left out is not missed. */
    while (part < model->part_count && model->at == 0 &&
           model->parts[part].kind == XS_PART_CONTINUE) {
        part++;
    }
    return model->cut || part == model->part_count;
}
