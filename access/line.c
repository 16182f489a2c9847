/* line.c - one request becomes one line of the access log.
 *
 * A value that is not there is "-", or null in JSON. */

#define _POSIX_C_SOURCE 200809L

#include "access/line.h"

#include <string.h>
#include <time.h>

#include "access/text.h"
#include "core/base/base.h"
#include "core/base/limits.h"
#include "core/http1/status.h"

/* Where the line is. */
struct line {
    char *out;
    const struct access_format *format;
    const struct xs_access *entry;
    uint64_t wall_ns;
    struct access_clock *clock;
    const struct access_step *step; /* the present one */
};

static const struct xs_slice nothing = {NULL, 0};

/* ---- values ---- */

/* A client's bytes; no data: there are none. */
static void line_value(struct line *line, struct xs_slice bytes)
{
    if (bytes.data == NULL) {
        line->out =
            access_put_text(line->out, line->format->is_json ? "null" : "-");
    } else if (line->format->is_json) {
        line->out = access_put_json(line->out, bytes);
    } else {
        line->out += access_escape(line->out, bytes);
    }
}

/* Our own text. */
static void line_text(struct line *line, struct xs_slice text)
{
    if (line->format->is_json) {
        line->out = access_put_json(line->out, text);
    } else {
        line->out = access_put(line->out, text);
    }
}

static void line_number(struct line *line, uint64_t number)
{
    line->out = access_put_number(line->out, number);
}

/* `whole` and `part`, of which a whole has 10^digits. */
static void line_decimal(struct line *line, uint64_t value, unsigned digits)
{
    uint64_t one = 1;

    for (unsigned i = 0; i < digits; i++) {
        one *= 10;
    }
    line->out = access_put_number(line->out, value / one);
    *line->out++ = '.';
    line->out = access_put_padded(line->out, value % one, digits);
}

/* "GET /a HTTP/1.1", in pieces: it is one value. */
static void line_request(struct line *line)
{
    const struct xs_access *entry = line->entry;
    uint8_t text[XS_ACCESS_VALUE + XS_ACCESS_TEXT + 16];
    char *out = (char *)text;

    if (entry->method.data == NULL) {
        line_value(line, entry->method);
        return;
    }
    out = access_put(out, entry->method);
    *out++ = ' ';
    out = access_put(out, entry->target);
    out = access_put_text(out, entry->minor == 0 ? " HTTP/1.0" : " HTTP/1.1");
    line_value(line, xs_slice_of(text, (size_t)((uint8_t *)out - text)));
}

/* The target up to its first "?"; `*query` is what follows that. */
static struct xs_slice target_cut(struct xs_slice target,
                                  struct xs_slice *query)
{
    const uint8_t *mark =
        target.len == 0 ? NULL : memchr(target.data, '?', target.len);
    size_t len = mark == NULL ? target.len : (size_t)(mark - target.data);

    *query =
        mark == NULL ? XS_LIT("") : xs_slice_of(mark + 1, target.len - len - 1);
    return xs_slice_of(target.data, len);
}

static void line_path(struct line *line)
{
    struct xs_slice query;

    line_value(line, target_cut(line->entry->target, &query));
}

static void line_query(struct line *line)
{
    struct xs_slice query;

    (void)target_cut(line->entry->target, &query);
    line_value(line, query);
}

size_t access_client(char out[ACCESS_CLIENT_MAX], const struct xs_io_addr *addr)
{
    bool is_v6 = strchr(addr->host, ':') != NULL;
    char *begin = out;

    if (addr->is_unix) {
        out = access_put_text(out, "unix");
    } else {
        out = access_put_text(out, is_v6 ? "[" : "");
        out = access_put_text(out, addr->host);
        out = access_put_text(out, is_v6 ? "]" : "");
    }
    if (addr->port != 0) {
        *out++ = ':';
        out = access_put_number(out, addr->port);
    }
    *out = '\0';
    return (size_t)(out - begin);
}

static void line_client(struct line *line)
{
    char text[ACCESS_CLIENT_MAX];
    size_t len = access_client(text, line->entry->peer);

    line_value(line, xs_slice_of(text, len));
}

/* The name is not in quotes: a blank would begin another field. */
static void line_user(struct line *line)
{
    uint8_t user[ACCESS_USER_MAX];
    struct xs_slice name =
        access_basic_user(line->entry->request_values[line->step->field], user);

    if (line->format->is_json || name.data == NULL) {
        line_value(line, name);
        return;
    }
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == ' ') {
            line->out = access_put_text(line->out, "\\x20");
        } else {
            line->out +=
                access_escape(line->out, xs_slice_of(name.data + i, 1));
        }
    }
}

/* "200 OK" */
static void line_phrase(struct line *line)
{
    struct xs_slice phrase = xs_status_phrase(line->entry->status);
    char text[64];
    char *out = access_put_number(text, line->entry->status);

    if (line->entry->status == 0) {
        line_value(line, nothing);
        return;
    }
    if (phrase.len > 0 && phrase.len < 40) {
        *out++ = ' ';
        out = access_put(out, phrase);
    }
    line_text(line, xs_slice_of(text, (size_t)(out - text)));
}

static void line_note(struct line *line)
{
    const char *why = line->entry->why;
    char text[64];
    char *out = text;

    if (strcmp(why, "ok") != 0 && strlen(why) < 48) {
        out = access_put_text(out, " [");
        out = access_put_text(out, why);
        *out++ = ']';
    }
    line_text(line, xs_slice_of(text, (size_t)(out - text)));
}

/* ---- time ---- */

static void clock_set(struct access_clock *clock, int64_t second)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t at = (time_t)second;
    struct tm tm;
    char *out = clock->local;

    if (clock->local_len > 0 && clock->second == second) {
        return;
    }
    clock->second = second;
    clock->utc_len =
        gmtime_r(&at, &tm) == NULL
            ? 0
            : strftime(clock->utc, sizeof clock->utc, "%Y-%m-%dT%H:%M:%S", &tm);
    if (localtime_r(&at, &tm) == NULL) {
        memset(&tm, 0, sizeof tm);
    }
    /* Not by strftime: the month's name must not depend on the locale. */
    *out++ = '[';
    out = access_put_padded(out, (unsigned)tm.tm_mday, 2);
    *out++ = '/';
    out = access_put(out, xs_slice_of(&months[tm.tm_mon % 12 * 3], 3));
    out += strftime(out, sizeof clock->local - 8, "/%Y:%H:%M:%S %z]", &tm);
    clock->local_len = (size_t)(out - clock->local);
}

static void line_time(struct line *line)
{
    struct access_clock *clock = line->clock;

    clock_set(clock, (int64_t)(line->wall_ns / XS_SECOND_NS));
    line_text(line, xs_slice_of(clock->local, clock->local_len));
}

static void line_iso(struct line *line)
{
    struct access_clock *clock = line->clock;
    char text[40];
    char *out = text;

    clock_set(clock, (int64_t)(line->wall_ns / XS_SECOND_NS));
    out = access_put(out, xs_slice_of(clock->utc, clock->utc_len));
    *out++ = '.';
    out = access_put_padded(out, line->wall_ns % XS_SECOND_NS / XS_MS_NS, 3);
    *out++ = 'Z';
    line_text(line, xs_slice_of(text, (size_t)(out - text)));
}

static uint64_t lasted_ns(const struct line *line)
{
    return line->entry->end_ns - line->entry->start_ns;
}

static void line_seconds(struct line *line)
{
    line_number(line, lasted_ns(line) / XS_SECOND_NS);
}

static void line_milliseconds(struct line *line)
{
    line_number(line, lasted_ns(line) / XS_MS_NS);
}

static void line_microseconds(struct line *line)
{
    line_number(line, lasted_ns(line) / 1000);
}

static void line_decimal_seconds(struct line *line)
{
    line_decimal(line, lasted_ns(line) / 1000, 6);
}

static void line_decimal_ms(struct line *line)
{
    line_decimal(line, lasted_ns(line) / 1000, 3);
}

/* ---- what is said as it is ---- */

static void line_literal(struct line *line)
{
    line->out = access_put(line->out, line->step->text);
}

static void line_request_field(struct line *line)
{
    line_value(line, line->entry->request_values[line->step->field]);
}

static void line_response_field(struct line *line)
{
    line_value(line, line->entry->response_values[line->step->field]);
}

static void line_dash(struct line *line)
{
    line_value(line, nothing);
}

static void line_address(struct line *line)
{
    const struct xs_io_addr *peer = line->entry->peer;

    line_text(line, peer->is_unix ? XS_LIT("unix") : xs_slice_str(peer->host));
}

static void line_method(struct line *line)
{
    line_value(line, line->entry->method);
}

static void line_target(struct line *line)
{
    line_value(line, line->entry->target);
}

static void line_protocol(struct line *line)
{
    line_text(line, line->entry->minor == 0 ? XS_LIT("HTTP/1.0")
                                            : XS_LIT("HTTP/1.1"));
}

static void line_status(struct line *line)
{
    if (line->entry->status == 0) {
        line_value(line, nothing);
    } else {
        line_number(line, line->entry->status);
    }
}

static void line_bytes(struct line *line)
{
    line_number(line, line->entry->body_bytes);
}

static void line_bytes_or_dash(struct line *line)
{
    if (line->entry->body_bytes == 0 && !line->format->is_json) {
        line_value(line, nothing);
    } else {
        line_number(line, line->entry->body_bytes);
    }
}

static void line_end(struct line *line)
{
    line_text(line, xs_slice_str(line->entry->why));
}

static void line_conn(struct line *line)
{
    line_number(line, line->entry->conn_id);
}

static void line_pid(struct line *line)
{
    line_number(line, line->clock->process);
}

static void line_process(struct line *line)
{
    char text[24];
    char *out = text;

    *out++ = '<';
    out = access_put_number(out, line->clock->process);
    *out++ = '>';
    line_text(line, xs_slice_of(text, (size_t)(out - text)));
}

/* ---- the whole ---- */

static void (*const line_steps[])(struct line *line) = {
    [ACCESS_LITERAL] = line_literal,
    [ACCESS_REQUEST] = line_request_field,
    [ACCESS_RESPONSE] = line_response_field,
    [ACCESS_ADDRESS] = line_address,
    [ACCESS_DASH] = line_dash,
    [ACCESS_USER] = line_user,
    [ACCESS_TIME] = line_time,
    [ACCESS_LINE] = line_request,
    [ACCESS_METHOD] = line_method,
    [ACCESS_PATH] = line_path,
    [ACCESS_QUERY] = line_query,
    [ACCESS_PROTOCOL] = line_protocol,
    [ACCESS_STATUS] = line_status,
    [ACCESS_BYTES] = line_bytes,
    [ACCESS_BYTES_OR_DASH] = line_bytes_or_dash,
    [ACCESS_REFERER] = line_request_field,
    [ACCESS_AGENT] = line_request_field,
    [ACCESS_SECONDS] = line_seconds,
    [ACCESS_MICROSECONDS] = line_microseconds,
    [ACCESS_MILLISECONDS] = line_milliseconds,
    [ACCESS_DECIMAL] = line_decimal_seconds,
    [ACCESS_PROCESS] = line_process,
    [ACCESS_CLIENT] = line_client,
    [ACCESS_TARGET] = line_target,
    [ACCESS_PHRASE] = line_phrase,
    [ACCESS_MS] = line_decimal_ms,
    [ACCESS_ISO] = line_iso,
    [ACCESS_END] = line_end,
    [ACCESS_NOTE] = line_note,
    [ACCESS_CONN] = line_conn,
    [ACCESS_PID] = line_pid,
};

size_t access_line(char *out, const struct access_format *format,
                   const struct xs_access *entry, uint64_t wall_ns,
                   struct access_clock *clock)
{
    struct line line = {
        .out = out,
        .format = format,
        .entry = entry,
        .wall_ns = wall_ns,
        .clock = clock,
    };

    for (unsigned i = 0; i < format->step_count; i++) {
        line.step = &format->steps[i];
        line_steps[line.step->atom](&line);
    }
    *line.out++ = '\n';
    XS_ASSERT((size_t)(line.out - out) <= format->line_max);
    return (size_t)(line.out - out);
}
