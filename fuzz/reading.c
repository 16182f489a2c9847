/* reading.c - requests, read once more from the RFCs. */

#include "fuzz/reading.h"

#include <string.h>

#include "core/base/base.h"

/* As in the registry of methods, and PURGE, SOURCE, NOTIFY and the like, which
 * are in use; without CONNECT, which asks for a tunnel. */
static const char *const methods[] = {
    "GET",     "HEAD",       "POST",        "PUT",       "DELETE",
    "OPTIONS", "TRACE",      "PATCH",       "COPY",      "LOCK",
    "MKCOL",   "MOVE",       "PROPFIND",    "PROPPATCH", "SEARCH",
    "UNLOCK",  "BIND",       "REBIND",      "UNBIND",    "ACL",
    "REPORT",  "MKACTIVITY", "CHECKOUT",    "MERGE",     "M-SEARCH",
    "NOTIFY",  "SUBSCRIBE",  "UNSUBSCRIBE", "PURGE",     "MKCALENDAR",
    "LINK",    "UNLINK",     "SOURCE",      "QUERY",
};

/* Take the line at `*at`, which ends in CRLF. */
static enum reading_is take_line(struct xs_slice input, size_t *at,
                                 struct xs_slice *line)
{
    const uint8_t *begin = input.data + *at;
    const uint8_t *end =
        *at == input.len ? NULL : memchr(begin, '\n', input.len - *at);

    if (end == NULL) {
        return READING_MORE;
    }
    *line = xs_slice_of(begin, (size_t)(end - begin));
    *at += line->len + 1;
    if (line->len == 0 || end[-1] != '\r') {
        return READING_BAD;
    }
    line->len--;
    return memchr(line->data, '\r', line->len) == NULL ? READING_WHOLE
                                                       : READING_BAD;
}

/* RFC 9112 2.2: empty lines before a request. */
static enum reading_is skip_empty(struct xs_slice input, size_t *at)
{
    size_t begin = *at;

    while (*at < input.len && input.data[*at] == '\r') {
        if (*at + 1 == input.len) {
            return READING_MORE;
        }
        if (input.data[*at + 1] != '\n') {
            return READING_BAD;
        }
        *at += 2;
    }
    if (*at - begin > XS_EMPTY_LINES_MAX) {
        return READING_BAD;
    }
    return *at < input.len ? READING_WHOLE : READING_MORE;
}

/* RFC 9112 3: method SP request-target SP HTTP-version. */
static bool read_request_line(struct reading *out, struct xs_slice line,
                              const struct xs_limits *limits)
{
    bool known = false;

    if (line.len > limits->request_line_max ||
        !grammar_cut(&line, ' ', &out->method) ||
        !grammar_cut(&line, ' ', &out->target)) {
        return false;
    }
    for (size_t i = 0; i < XS_COUNT_OF(methods); i++) {
        known |= xs_slice_eq(out->method, xs_slice_str(methods[i]));
    }
    if (!known || line.len != 8 || memcmp(line.data, "HTTP/1.", 7) != 0 ||
        line.data[7] < '0' || line.data[7] > '9') {
        return false;
    }
    out->minor = line.data[7] == '0' ? 0 : 1; /* RFC 9110 2.5 */
    out->is_head = xs_slice_eq(out->method, XS_LIT("HEAD"));
    return grammar_target(&out->parts, out->method, out->target);
}

/* RFC 9112 5: name ":" OWS value OWS. */
static bool read_field(struct xs_slice line, struct xs_slice *name,
                       struct xs_slice *value)
{
    if (!grammar_cut(&line, ':', name)) {
        return false;
    }
    *value = grammar_trim(line);
    return grammar_is_token(*name) && grammar_is_text(line);
}

static bool add_field(struct reading *out, struct xs_slice line,
                      const struct xs_limits *limits)
{
    struct xs_slice name;
    struct xs_slice value;

    if (out->field_count >= limits->request_fields_max ||
        out->field_count >= READING_FIELDS_MAX ||
        !read_field(line, &name, &value)) {
        return false;
    }
    out->fields[out->field_count].name = name;
    out->fields[out->field_count].value = value;
    out->field_count++;
    if (grammar_is(name, "transfer-encoding") &&
        memchr(line.data, '\t', line.len) != NULL) {
        out->may_refuse = true; /* a blank that not everybody takes for one */
    }
    if (line.len + 2 > limits->request_field_max) {
        /* Blanks around a value, and the end of its line, count or not. */
        out->may_refuse = true;
        return name.len + value.len < limits->request_field_max;
    }
    return true;
}

/* The fields called `name`, and the last one's value. */
static unsigned count_fields(const struct reading *in, const char *name,
                             struct xs_slice *value)
{
    unsigned count = 0;

    for (unsigned i = 0; i < in->field_count; i++) {
        if (grammar_is(in->fields[i].name, name)) {
            *value = in->fields[i].value;
            count++;
        }
    }
    return count;
}

struct xs_slice reading_field(const struct reading *in, const char *name)
{
    struct xs_slice value = {NULL, 0};

    (void)count_fields(in, name, &value);
    return value;
}

/* RFC 9112 3.2: one Host, which HTTP/1.0 may leave out; 3.2.2: an absolute
 * target has the last word. */
static bool read_host(struct reading *out)
{
    struct xs_slice host;
    unsigned hosts = count_fields(out, "host", &host);

    if (hosts != 1) {
        return hosts == 0 && out->minor == 0;
    }
    if (!grammar_is_authority(host)) {
        return false;
    }
    for (unsigned i = 0; i < out->field_count; i++) {
        if (out->parts.authority.len > 0 &&
            grammar_is(out->fields[i].name, "host")) {
            out->fields[i].value = out->parts.authority;
        }
    }
    return true;
}

/* RFC 9112 6. */
static bool read_framing(struct reading *out, const struct xs_limits *limits)
{
    struct xs_slice value;
    struct xs_slice coding;
    unsigned lengths = count_fields(out, "content-length", &value);
    unsigned codings = count_fields(out, "transfer-encoding", &coding);

    if (codings > 0) {
        out->chunked = true;
        return codings == 1 && lengths == 0 && out->minor > 0 &&
               grammar_is(coding, "chunked");
    }
    return lengths == 0 ||
           (lengths == 1 && grammar_number(value, 10, &out->length) &&
            out->length <= limits->request_body_max);
}

/* RFC 9110 10.1.1 and RFC 9112 9.3. */
static bool read_wishes(struct reading *out)
{
    unsigned expectations = 0;
    unsigned known = 0;
    bool close = false;
    bool keep = false;
    unsigned all;

    out->te = false;
    for (unsigned i = 0; i < out->field_count; i++) {
        struct xs_slice value = out->fields[i].value;

        if (grammar_is(out->fields[i].name, "connection")) {
            close |= grammar_list_count(value, "close", &all) > 0;
            keep |= grammar_list_count(value, "keep-alive", &all) > 0;
        } else if (grammar_is(out->fields[i].name, "te")) {
            out->te |= grammar_list_count(value, "trailers", &all) > 0;
        } else if (grammar_is(out->fields[i].name, "expect") &&
                   out->minor > 0) {
            known += grammar_list_count(value, "100-continue", &all);
            expectations += all - grammar_list_count(value, "", &all);
        }
    }
    if (known < expectations) {
        return false;
    }
    out->expect = known > 0 && (out->chunked || out->length > 0);
    out->keep_alive = !close && (out->minor > 0 || keep);
    return true;
}

static enum reading_is read_head(struct reading *out, struct xs_slice input,
                                 size_t *at, const struct xs_limits *limits)
{
    struct xs_slice line;
    enum reading_is is = take_line(input, at, &line);

    if (is == READING_WHOLE && !read_request_line(out, line, limits)) {
        return READING_BAD;
    }
    while (is == READING_WHOLE) {
        is = take_line(input, at, &line);
        if (is == READING_WHOLE && line.len == 0) {
            break;
        }
        if (is == READING_WHOLE && !add_field(out, line, limits)) {
            return READING_BAD;
        }
    }
    if (is != READING_WHOLE) {
        return is;
    }
    return *at - out->begin <= limits->request_head_max && read_host(out) &&
                   read_framing(out, limits) && read_wishes(out)
               ? READING_WHOLE
               : READING_BAD;
}

/* RFC 9112 7.1.1, as far as it is simple: ";" token [ "=" token ]. */
static bool is_extension(struct xs_slice text)
{
    bool more = true;

    while (more) {
        struct xs_slice one;
        struct xs_slice name;

        more = grammar_cut(&text, ';', &one);
        if (!grammar_cut(&one, '=', &name)) {
            one = name;
        }
        if (!grammar_is_token(name) || !grammar_is_token(one)) {
            return false;
        }
    }
    return true;
}

/* RFC 9112 7.1: the size of the next chunk. */
static enum reading_is read_size(struct reading *out, struct xs_slice input,
                                 size_t *at, uint64_t *size)
{
    struct xs_slice line;
    struct xs_slice digits;
    bool extended;
    enum reading_is is = take_line(input, at, &line);

    if (is != READING_WHOLE) {
        return is;
    }
    extended = grammar_cut(&line, ';', &digits);
    if (!grammar_number(digits, 16, size)) {
        return READING_BAD;
    }
    if (extended && !is_extension(line)) {
        if (memchr(line.data, '"', line.len) == NULL) {
            return READING_BAD;
        }
        out->may_refuse = true; /* quoted strings are left to the others */
    }
    return READING_WHOLE;
}

static enum reading_is read_trailers(struct xs_slice input, size_t *at)
{
    for (;;) {
        struct xs_slice line;
        struct xs_slice name;
        struct xs_slice value;
        enum reading_is is = take_line(input, at, &line);

        if (is != READING_WHOLE || line.len == 0) {
            return is;
        }
        /* RFC 9110 6.5.1: no framing in a trailer. */
        if (!read_field(line, &name, &value) ||
            grammar_is(name, "content-length") ||
            grammar_is(name, "transfer-encoding")) {
            return READING_BAD;
        }
    }
}

static enum reading_is read_chunks(struct reading *out, struct xs_slice input,
                                   size_t *at, const struct xs_limits *limits)
{
    size_t begin = *at;
    uint64_t size = 1;
    enum reading_is is;

    while (size > 0) {
        is = read_size(out, input, at, &size);
        if (is != READING_WHOLE) {
            return is;
        }
        if (size > limits->request_body_max - out->body.len) {
            return READING_BAD;
        }
        if (size > 0) {
            struct xs_slice end;

            if (size > input.len - *at) {
                return READING_MORE;
            }
            xs_bytes_add(&out->body, xs_slice_of(input.data + *at, size));
            *at += size;
            is = take_line(input, at, &end);
            if (is != READING_WHOLE || end.len > 0) {
                return is == READING_MORE ? READING_MORE : READING_BAD;
            }
        }
    }
    is = read_trailers(input, at);
    if (*at - begin - out->body.len >
        (limits->chunk_extra_max < limits->request_trailer_max
             ? limits->chunk_extra_max
             : limits->request_trailer_max)) {
        out->may_refuse = true;
    }
    return is;
}

enum reading_is reading_next(struct reading *out, struct xs_slice input,
                             size_t at, const struct xs_limits *limits)
{
    struct xs_bytes body = out->body;
    enum reading_is is = skip_empty(input, &at);

    memset(out, 0, sizeof *out);
    out->body = body;
    out->body.len = 0;
    out->begin = at;
    if (is == READING_WHOLE) {
        is = read_head(out, input, &at, limits);
    }
    if (is != READING_WHOLE) {
        return is;
    }
    out->head_end = at;
    if (out->chunked) {
        is = read_chunks(out, input, &at, limits);
    } else if (out->length > input.len - at) {
        return READING_MORE;
    } else {
        xs_bytes_add(&out->body, xs_slice_of(input.data + at, out->length));
        at += out->length;
    }
    out->end = at;
    return is;
}
