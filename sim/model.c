/* model.c - the reference serialisation: putting the parts down. */

#include "sim/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"

void xs_model_init(struct xs_model *model, struct xs_verdict *verdict,
                   struct xs_slice server_name, bool date)
{
    struct xs_bytes text = model->text;
    struct xs_bytes fields = model->response.fields;
    struct xs_part *parts = model->parts;
    size_t part_cap = model->part_cap;

    text.len = 0;
    fields.len = 0;
    memset(model, 0, sizeof *model);
    model->verdict = verdict;
    model->server_name = server_name;
    model->date = date;
    model->text = text;
    model->parts = parts;
    model->part_cap = part_cap;
    model->response.fields = fields;
}

void xs_model_fini(struct xs_model *model)
{
    xs_bytes_fini(&model->text);
    xs_bytes_fini(&model->response.fields);
    free(model->parts);
    memset(model, 0, sizeof *model);
}

/* When all is matched the memory begins again. */
static void model_restart(struct xs_model *model)
{
    if (model->part == model->part_count) {
        model->part = 0;
        model->part_count = 0;
        model->text.len = 0;
    }
}

static struct xs_part *model_part(struct xs_model *model,
                                  enum xs_part_kind kind)
{
    struct xs_part *part;

    model_restart(model);
    if (model->part_count == model->part_cap) {
        model->part_cap = model->part_cap == 0 ? 64 : model->part_cap * 2;
        model->parts =
            realloc(model->parts, model->part_cap * sizeof *model->parts);
        XS_ASSERT(model->parts != NULL);
    }
    part = &model->parts[model->part_count++];
    *part = (struct xs_part){.kind = kind};
    return part;
}

static void model_text(struct xs_model *model, struct xs_slice text)
{
    struct xs_part *last = NULL;

    if (text.len == 0) {
        return;
    }
    if (model->part < model->part_count) {
        last = &model->parts[model->part_count - 1];
    }
    if (last == NULL || last->kind != XS_PART_TEXT) {
        last = model_part(model, XS_PART_TEXT);
        last->at = model->text.len;
    }
    xs_bytes_add(&model->text, text);
    last->len += text.len;
}

/* `number` between two texts. */
static void model_number(struct xs_model *model, const char *before,
                         uint64_t number, bool hex)
{
    char text[24];
    int len = hex ? snprintf(text, sizeof text, "%" PRIx64, number)
                  : snprintf(text, sizeof text, "%" PRIu64, number);

    model_text(model, xs_slice_str(before));
    model_text(model, xs_slice_of(text, (size_t)len));
}

/* The registry of status codes; RFC 9110 where it says it otherwise. */
static const struct {
    unsigned status;
    const char *phrase;
} model_phrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {418, "I'm a Teapot"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
};

static struct xs_slice model_phrase(unsigned status)
{
    for (size_t i = 0; i < XS_COUNT_OF(model_phrases); i++) {
        if (model_phrases[i].status == status) {
            return xs_slice_str(model_phrases[i].phrase);
        }
    }
    return XS_LIT("");
}

void xs_model_date(char out[30], uint64_t wall_s)
{
    time_t seconds = (time_t)wall_s;
    struct tm tm;

    XS_ASSERT(gmtime_r(&seconds, &tm) != NULL);
    XS_ASSERT(strftime(out, 30, "%a, %d %b %Y %H:%M:%S GMT", &tm) == 29);
}

void xs_model_request(struct xs_model *model, unsigned minor, bool is_head,
                      uint64_t wall_s)
{
    struct xs_bytes fields = model->response.fields;

    fields.len = 0;
    model->response = (struct xs_model_response){
        .minor = minor,
        .is_head = is_head,
        .begin_s = wall_s,
        .fields = fields,
    };
}

void xs_model_start(struct xs_model *model, unsigned status,
                    struct xs_slice reason)
{
    struct xs_model_response *response = &model->response;

    XS_ASSERT(!response->head_out);
    xs_model_request(model, response->minor, response->is_head,
                     response->begin_s);
    response->started = true;
    response->status = status;
    response->reason = reason;
    response->bodiless = status == 204 || status == 205 || status == 304;
}

static bool name_is(struct xs_slice name, const char *lower)
{
    return xs_slice_eq_lower(name, xs_slice_str(lower));
}

/* "close" and "keep-alive" are the server's to say; a field that says more
 * goes out as it is. True if it does. */
static bool model_connection(struct xs_model_response *response,
                             struct xs_slice value)
{
    bool other = false;
    size_t at = 0;

    while (at <= value.len) {
        size_t begin = at;
        struct xs_slice option;

        while (at < value.len && value.data[at] != ',') {
            at++;
        }
        option = xs_slice_trim(xs_slice_of(value.data + begin, at - begin));
        response->app_close = response->app_close || name_is(option, "close");
        other = other || (option.len > 0 && !name_is(option, "close") &&
                          !name_is(option, "keep-alive"));
        at++;
    }
    return other;
}

static uint64_t model_length(struct xs_slice value)
{
    uint64_t length = 0;

    for (size_t i = 0; i < value.len; i++) {
        length = length * 10 + (uint64_t)(value.data[i] - '0');
    }
    return length;
}

void xs_model_field(struct xs_model *model, struct xs_slice name,
                    struct xs_slice value)
{
    struct xs_model_response *response = &model->response;

    XS_ASSERT(response->started);
    XS_ASSERT(!response->head_out);
    if (name_is(name, "transfer-encoding")) {
        return; /* the server's own business */
    }
    if (name_is(name, "connection") && !model_connection(response, value)) {
        return;
    }
    if ((name_is(name, "date") && response->has_date) ||
        (name_is(name, "server") && response->has_server)) {
        return; /* the first one is the only one */
    }
    response->has_date = response->has_date || name_is(name, "date");
    response->has_server = response->has_server || name_is(name, "server");
    if (name_is(name, "content-length")) {
        value = xs_slice_trim(value);
        response->has_length = true;
        response->left = model_length(value);
        if (response->status == 204 || response->status == 205) {
            return; /* RFC 9110 8.6, 15.3.6 */
        }
    }
    xs_bytes_add(&response->fields, name);
    xs_bytes_add(&response->fields, XS_LIT(": "));
    xs_bytes_add(&response->fields, value);
    xs_bytes_add(&response->fields, XS_LIT("\r\n"));
}

void xs_model_continue(struct xs_model *model, bool must)
{
    if (must) {
        model_text(model, XS_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
    } else {
        (void)model_part(model, XS_PART_CONTINUE);
    }
}

bool xs_model_fits(const struct xs_model *model, size_t len, bool more)
{
    const struct xs_model_response *response = &model->response;

    if (!response->has_length || response->is_head || response->bodiless) {
        return true;
    }
    return more ? len <= response->left : len == response->left;
}

/* RFC 9112 6.3, for the side that sends. */
static void model_framing(struct xs_model_response *response, bool more)
{
    bool no_body = response->is_head || response->bodiless;

    if (!no_body && (more || response->sends_trailers) &&
        !response->has_length) {
        response->chunked = response->minor > 0;
        response->until_close = response->minor == 0;
    }
}

static void model_head(struct xs_model *model, size_t len, bool more,
                       uint64_t wall_s, const struct xs_model_ties *ties)
{
    struct xs_model_response *response = &model->response;
    struct xs_part *part;

    model_framing(response, more);
    model_number(model, "HTTP/1.1 ", response->status, false);
    model_text(model, XS_LIT(" "));
    model_text(model, response->reason.len > 0
                          ? response->reason
                          : model_phrase(response->status));
    model_text(model, XS_LIT("\r\n"));
    model_text(model, xs_slice_of(response->fields.data, response->fields.len));
    if (model->date && !response->has_date) {
        model_text(model, XS_LIT("date: "));
        part = model_part(model, XS_PART_DATE);
        part->len = 29;
        part->from_s = response->begin_s;
        part->to_s = wall_s;
        model_text(model, XS_LIT("\r\n"));
    }
    if (model->server_name.len > 0 && !response->has_server) {
        model_text(model, XS_LIT("server: "));
        model_text(model, model->server_name);
        model_text(model, XS_LIT("\r\n"));
    }
    if (response->status == 205) {
        model_text(model, XS_LIT("content-length: 0\r\n"));
    } else if (response->chunked) {
        model_text(model, XS_LIT("transfer-encoding: chunked\r\n"));
    } else if (!more && !response->has_length && !response->bodiless &&
               (!response->is_head || len > 0)) {
        model_number(model, "content-length: ", len, false);
        model_text(model, XS_LIT("\r\n"));
    }
    part = model_part(model, XS_PART_LIVES_ON);
    part->minor = response->minor;
    part->must_close =
        ties->must_close || response->app_close || response->until_close;
    part->must_keep = ties->must_keep && !part->must_close;
    response->head_out = true;
}

static void model_data(struct xs_model *model, struct xs_slice body)
{
    struct xs_part *part = model_part(model, XS_PART_BODY);

    part->data = body.data;
    part->len = body.len;
}

static void model_remember(struct xs_model *model)
{
    model_restart(model);
    model->before.part_count = model->part_count;
    model->before.text_len = model->text.len;
    model->before.response = model->response;
    if (model->part_count > 0) {
        model->before.last = model->parts[model->part_count - 1];
    }
}

void xs_model_undo(struct xs_model *model)
{
    XS_ASSERT(model->part <= model->before.part_count);
    model->part_count = model->before.part_count;
    model->text.len = model->before.text_len;
    model->response = model->before.response;
    if (model->part_count > 0) {
        model->parts[model->part_count - 1] = model->before.last;
    }
}

void xs_model_hint(struct xs_model *model, const struct xs_field *fields,
                   unsigned count)
{
    XS_ASSERT(!model->response.started);
    model_remember(model);
    if (model->response.minor == 0 || count == 0) {
        return; /* RFC 9110 15.2 */
    }
    model_text(model, XS_LIT("HTTP/1.1 103 Early Hints\r\n"));
    for (unsigned i = 0; i < count; i++) {
        model_text(model, fields[i].name);
        model_text(model, XS_LIT(": "));
        model_text(model, fields[i].value);
        model_text(model, XS_LIT("\r\n"));
    }
    model_text(model, XS_LIT("\r\n"));
}

void xs_model_body(struct xs_model *model, struct xs_slice body, bool more,
                   uint64_t wall_s, const struct xs_model_ties *ties)
{
    struct xs_model_response *response = &model->response;

    XS_ASSERT(response->started);
    XS_ASSERT(!response->done);
    XS_ASSERT(xs_model_fits(model, body.len, more));
    model_remember(model);
    if (!response->head_out) {
        model_head(model, body.len, more, wall_s, ties);
    }
    response->done = !more && !response->trailing;
    if (response->is_head || response->bodiless) {
        return;
    }
    response->left -= response->has_length ? body.len : 0;
    if (body.len > 0 && response->chunked) {
        model_number(model, "", body.len, true);
        model_text(model, XS_LIT("\r\n"));
        model_data(model, body);
        model_text(model, XS_LIT("\r\n"));
    } else if (body.len > 0) {
        model_data(model, body);
    }
    if (response->done && response->chunked) {
        model_text(model, XS_LIT("0\r\n\r\n"));
    }
}

void xs_model_expect(struct xs_model *model, bool wanted)
{
    struct xs_model_response *response = &model->response;

    response->trailing = true;
    response->sends_trailers = wanted && response->minor > 0 &&
                               !response->is_head && !response->bodiless;
}

/* The fields of the head are out: their place is free. */
void xs_model_trailers(struct xs_model *model, const struct xs_field *fields,
                       unsigned count, bool more)
{
    struct xs_model_response *response = &model->response;

    XS_ASSERT(response->head_out && response->trailing && !response->done);
    if (!response->in_trailers) {
        response->in_trailers = true;
        response->fields.len = 0;
    }
    for (unsigned i = 0; i < count && response->sends_trailers; i++) {
        xs_bytes_add(&response->fields, fields[i].name);
        xs_bytes_add(&response->fields, XS_LIT(": "));
        xs_bytes_add(&response->fields, fields[i].value);
        xs_bytes_add(&response->fields, XS_LIT("\r\n"));
    }
    response->done = !more;
    if (response->done && response->chunked) {
        model_text(model, XS_LIT("0\r\n"));
        model_text(model,
                   xs_slice_of(response->fields.data, response->fields.len));
        model_text(model, XS_LIT("\r\n"));
    }
}

void xs_model_refuse(struct xs_model *model, unsigned status,
                     struct xs_slice text, uint64_t wall_s,
                     const struct xs_model_ties *ties)
{
    xs_model_start(model, status, XS_LIT(""));
    xs_model_field(model, XS_LIT("content-type"),
                   XS_LIT("text/plain; charset=utf-8"));
    if (status == 503) {
        xs_model_field(model, XS_LIT("retry-after"), XS_LIT("1"));
    }
    xs_model_body(model, text, false, wall_s, ties);
}
