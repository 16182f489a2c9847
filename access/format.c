/* format.c - the text of a format becomes a small program.
 *
 *     %(h)s - "%(r)s" %(s)s
 *
 *     ADDRESS, LITERAL ` - "`, LINE, LITERAL `" `, STATUS */

#include "access/format.h"

#include <stdio.h>
#include <string.h>

#include "access/line.h"
#include "core/base/base.h"
#include "core/http1/chars.h"

/* What one byte of a client's becomes at most: \xff, or \u0001 in JSON. */
#define ESCAPED_MAX ((size_t)4)
#define ESCAPED_JSON_MAX ((size_t)6)

/* Any value that is no client's text, and the quotes. */
#define SHORT_MAX ((size_t)160)

static const struct {
    const char *name;
    bool is_json;
    const char *text;
} named[] = {
    {"default", false,
     "INFO:     %({client}x)s - \"%(r)s\" %({status}x)s %(B)sB"
     " %({ms}x)sms%({note}x)s"},
    {"common", false, "%(h)s %(l)s %(u)s %(t)s \"%(r)s\" %(s)s %(b)s"},
    {"combined", false,
     "%(h)s %(l)s %(u)s %(t)s \"%(r)s\" %(s)s %(b)s \"%(f)s\" \"%(a)s\""},
    {"json", true,
     "{\"time\":%({time}x)s,\"client\":%(h)s,\"method\":%(m)s,"
     "\"target\":%({target}x)s,\"protocol\":%(H)s,\"status\":%(s)s,"
     "\"bytes\":%(B)s,\"duration\":%(L)s,\"end\":%({end}x)s,"
     "\"referer\":%(f)s,\"user_agent\":%(a)s,\"connection\":%({conn}x)s,"
     "\"process\":%({pid}x)s}"},
};

static const struct {
    const char *name;
    enum access_atom atom;
} atoms[] = {
#define X(name, text) {text, ACCESS_##name},
    ACCESS_ATOMS(X)
#undef X
};

/* Those that say a field of the request. */
static const struct {
    enum access_atom atom;
    const char *name;
} of_fields[] = {
    {ACCESS_REFERER, "referer"},
    {ACCESS_AGENT, "user-agent"},
    {ACCESS_USER, "authorization"},
};

/* Where reading is. */
struct reading {
    struct access_format *out;
    struct access_fault *fault;
    struct xs_slice text;
    size_t at; /* in text */
};

/* Say what is wrong at byte `at` of the text. False. */
static bool fault_at(struct reading *reading, size_t at, const char *text)
{
    struct access_fault *fault = reading->fault;

    fault->at = 1;
    for (size_t i = 0; i < at; i++) {
        fault->at += (reading->text.data[i] & 0xc0) != 0x80; /* UTF-8 */
    }
    (void)snprintf(fault->text, sizeof fault->text, "%s", text);
    return false;
}

/* Keep bytes of the format, in lower case if they are a name. */
static struct xs_slice keep(struct access_format *out, struct xs_slice bytes,
                            bool lower)
{
    char *begin = out->text + out->text_len;

    XS_ASSERT(out->text_len + bytes.len <= sizeof out->text);
    for (size_t i = 0; i < bytes.len; i++) {
        char c = (char)bytes.data[i];
        begin[i] = lower && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out->text_len += bytes.len;
    return xs_slice_of(begin, bytes.len);
}

/* How much room the value of a step takes at most. */
static size_t step_max(const struct access_format *format,
                       const struct access_step *step)
{
    size_t factor = format->is_json ? ESCAPED_JSON_MAX : ESCAPED_MAX;

    switch (step->atom) {
        case ACCESS_LITERAL:
            return step->text.len;
        case ACCESS_REQUEST:
        case ACCESS_RESPONSE:
        case ACCESS_REFERER:
        case ACCESS_AGENT:
        case ACCESS_USER:
        case ACCESS_METHOD:
            return factor * XS_ACCESS_VALUE + SHORT_MAX;
        case ACCESS_LINE:
            return factor * (XS_ACCESS_VALUE + XS_ACCESS_TEXT) + SHORT_MAX;
        case ACCESS_TARGET:
        case ACCESS_PATH:
        case ACCESS_QUERY:
            return factor * XS_ACCESS_TEXT + SHORT_MAX;
        case ACCESS_ADDRESS:
        case ACCESS_CLIENT:
            return factor * ACCESS_CLIENT_MAX + SHORT_MAX;
        case ACCESS_DASH:
        case ACCESS_TIME:
        case ACCESS_PROTOCOL:
        case ACCESS_STATUS:
        case ACCESS_BYTES:
        case ACCESS_BYTES_OR_DASH:
        case ACCESS_SECONDS:
        case ACCESS_MICROSECONDS:
        case ACCESS_MILLISECONDS:
        case ACCESS_DECIMAL:
        case ACCESS_PROCESS:
        case ACCESS_PHRASE:
        case ACCESS_MS:
        case ACCESS_ISO:
        case ACCESS_END:
        case ACCESS_NOTE:
        case ACCESS_CONN:
        case ACCESS_PID:
            return SHORT_MAX;
    }
    XS_UNREACHABLE();
}

static bool add_step(struct reading *reading, size_t at,
                     const struct access_step *step)
{
    struct access_format *out = reading->out;

    if (out->step_count == ACCESS_STEPS_MAX) {
        return fault_at(reading, at, "too many parts");
    }
    out->line_max += step_max(out, step);
    if (out->line_max > ACCESS_LINE_MAX) {
        return fault_at(reading, at, "a line could be too long");
    }
    out->steps[out->step_count] = *step;
    out->step_count++;
    return true;
}

/* A literal goes on with `bytes`. */
static bool add_literal(struct reading *reading, size_t at,
                        struct xs_slice bytes)
{
    struct access_format *out = reading->out;
    struct access_step step = {.atom = ACCESS_LITERAL};

    for (size_t i = 0; i < bytes.len; i++) {
        if ((bytes.data[i] < 0x20 && bytes.data[i] != '\t') ||
            bytes.data[i] == 0x7f) {
            return fault_at(reading, at + i, "a control character");
        }
    }
    step.text = keep(out, bytes, false);
    return bytes.len == 0 || add_step(reading, at, &step);
}

/* The place of the field `name` among those that are wanted, which grow. */
static bool want_field(struct reading *reading, size_t at, struct xs_slice name,
                       struct access_step *step)
{
    struct access_format *out = reading->out;
    bool is_request = step->atom != ACCESS_RESPONSE;
    struct xs_slice *names = is_request ? out->request : out->response;
    unsigned *count =
        is_request ? &out->wants.request_count : &out->wants.response_count;
    struct xs_slice lower = keep(out, name, true);

    if (name.len == 0 || !xs_chars_all(name, XS_CHAR_TOKEN)) {
        return fault_at(reading, at, "not the name of a header field");
    }
    for (step->field = 0; step->field < *count; step->field++) {
        if (xs_slice_eq(names[step->field], lower)) {
            return true;
        }
    }
    if (out->wants.request_count + out->wants.response_count ==
        XS_ACCESS_FIELDS) {
        return fault_at(reading, at, "too many header fields");
    }
    names[*count] = lower;
    *count += 1;
    return true;
}

/* "%({NAME}i)s" and "%({NAME}o)s". */
static bool add_field(struct reading *reading, size_t at, struct xs_slice atom)
{
    struct access_step step = {
        .atom =
            atom.data[atom.len - 1] == 'i' ? ACCESS_REQUEST : ACCESS_RESPONSE,
    };

    return want_field(reading, at + 1, xs_slice_of(atom.data + 1, atom.len - 3),
                      &step) &&
           add_step(reading, at, &step);
}

/* What stands between "%(" and ")s". */
static bool add_atom(struct reading *reading, size_t at, struct xs_slice atom)
{
    struct access_step step = {.atom = ACCESS_LITERAL};
    uint8_t last = atom.len > 0 ? atom.data[atom.len - 1] : 0;
    char text[64];

    if (atom.len >= 3 && atom.data[0] == '{' &&
        atom.data[atom.len - 2] == '}' && (last == 'i' || last == 'o')) {
        return add_field(reading, at, atom);
    }
    for (size_t i = 0; i < XS_COUNT_OF(atoms); i++) {
        if (xs_slice_eq(atom, xs_slice_str(atoms[i].name))) {
            step.atom = atoms[i].atom;
        }
    }
    if (step.atom == ACCESS_LITERAL) {
        (void)snprintf(text, sizeof text, "there is no %%(%.*s)s",
                       (int)(atom.len < 32 ? atom.len : 32),
                       (const char *)atom.data);
        return fault_at(reading, at, text);
    }
    for (size_t i = 0; i < XS_COUNT_OF(of_fields); i++) {
        if (step.atom == of_fields[i].atom &&
            !want_field(reading, at, xs_slice_str(of_fields[i].name), &step)) {
            return false;
        }
    }
    return add_step(reading, at, &step);
}

/* At a "%". */
static bool read_percent(struct reading *reading)
{
    size_t at = reading->at;
    const uint8_t *begin = reading->text.data + at;
    size_t left = reading->text.len - at;
    const uint8_t *end;
    size_t len;

    if (left > 1 && begin[1] == '%') {
        reading->at += 2;
        return add_literal(reading, at, xs_slice_of(begin, 1));
    }
    if (left < 2 || begin[1] != '(') {
        return fault_at(reading, at, "'%' goes on with '(' or '%'");
    }
    end = memchr(begin, ')', left);
    if (end == NULL) {
        return fault_at(reading, at, "'%(' without ')'");
    }
    len = (size_t)(end - begin);
    if (left == len + 1 || begin[len + 1] != 's') {
        return fault_at(reading, at + len, "')' goes on with 's'");
    }
    reading->at += len + 2;
    return add_atom(reading, at + 2, xs_slice_of(begin + 2, len - 2));
}

static bool read_all(struct reading *reading)
{
    bool has_atom = false;

    while (reading->at < reading->text.len) {
        size_t at = reading->at;
        const uint8_t *begin = reading->text.data + at;
        const uint8_t *end = memchr(begin, '%', reading->text.len - at);

        if (end == begin) {
            if (!read_percent(reading)) {
                return false;
            }
            has_atom = has_atom || begin[1] == '(';
            continue;
        }
        reading->at =
            end == NULL ? reading->text.len : at + (size_t)(end - begin);
        if (!add_literal(reading, at, xs_slice_of(begin, reading->at - at))) {
            return false;
        }
    }
    if (!has_atom) {
        reading->fault->at = 0;
        (void)snprintf(reading->fault->text, sizeof reading->fault->text,
                       "neither default, common, combined or json, nor a text "
                       "with %%(...)s in it");
    }
    return has_atom;
}

bool access_format_read(struct access_format *out, struct xs_slice text,
                        struct access_fault *fault)
{
    struct reading reading = {.out = out, .fault = fault, .text = text};

    memset(out, 0, sizeof *out);
    memset(fault, 0, sizeof *fault);
    out->line_max = 1;
    out->wants.request = out->request;
    out->wants.response = out->response;
    for (size_t i = 0; i < XS_COUNT_OF(named); i++) {
        if (xs_slice_eq(text, xs_slice_str(named[i].name))) {
            reading.text = xs_slice_str(named[i].text);
            out->is_json = named[i].is_json;
        }
    }
    if (text.len > 5 && memcmp(text.data, "json:", 5) == 0) {
        out->is_json = true;
        reading.at = 5;
    }
    if (text.len > ACCESS_FORMAT_MAX / 2) {
        (void)snprintf(fault->text, sizeof fault->text,
                       "longer than %u characters",
                       (unsigned)(ACCESS_FORMAT_MAX / 2));
        return false;
    }
    return read_all(&reading);
}
