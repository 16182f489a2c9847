/* oracle_client.c - a strict reader of responses. */

#include "sim/oracle_client.h"

#include <string.h>

#include "core/base/base.h"

/* Every byte was compared when it was written (model.h). What can go wrong
 * from there on moves or drops many, so a sample will show it. */
#define READER_SAMPLE 61u

void xs_reader_init(struct xs_reader *reader, struct xs_verdict *verdict)
{
    memset(reader, 0, offsetof(struct xs_reader, line));
    reader->verdict = verdict;
}

void xs_reader_ask(struct xs_reader *reader, bool is_head)
{
    XS_ASSERT(reader->asked < XS_RESPONSES_MAX);
    reader->asked_head[reader->asked++] = is_head;
}

void xs_reader_ask_trailers(struct xs_reader *reader)
{
    XS_ASSERT(reader->asked > 0);
    reader->asked_trailers[reader->asked - 1] = true;
}

uint32_t xs_reader_hash(uint32_t hash, uint64_t at, struct xs_slice bytes)
{
    size_t i = (size_t)((READER_SAMPLE - at % READER_SAMPLE) % READER_SAMPLE);

    /* A sum in which every place has its own weight, whatever the cut. */
    for (; i < bytes.len; i += READER_SAMPLE) {
        hash += (bytes.data[i] + 1u) * ((uint32_t)(at + i) * 0x9e3779b1u + 1);
    }
    return hash;
}

static struct xs_response *reader_response(struct xs_reader *reader)
{
    return &reader->responses[reader->count - 1];
}

static void reader_fault(struct xs_reader *reader, const char *what)
{
    xs_verdict_fail(reader->verdict, XS_ORACLE_O3,
                    "%s (response %u, state %d, line \"%.*s\")", what,
                    reader->count, (int)reader->state,
                    (int)(reader->line_len < 60 ? reader->line_len : 60),
                    reader->line);
    reader->state = XS_READER_CLOSED;
}

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void reader_done(struct xs_reader *reader)
{
    struct xs_response *response = reader_response(reader);

    response->complete = true;
    reader->complete++;
    reader->state = response->close ? XS_READER_CLOSED : XS_READER_LINE;
}

/* RFC 9112 4: HTTP-version SP status-code SP [ reason-phrase ]. */
static void reader_status_line(struct xs_reader *reader)
{
    const char *line = reader->line;
    struct xs_response *response;
    unsigned status;

    if (reader->line_len < 13 || memcmp(line, "HTTP/1.1 ", 9) != 0 ||
        !is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11]) ||
        line[12] != ' ') {
        reader_fault(reader, "not a status line");
        return;
    }
    status = (unsigned)(line[9] - '0') * 100 + (unsigned)(line[10] - '0') * 10 +
             (unsigned)(line[11] - '0');
    reader->state = XS_READER_FIELD;
    reader->interim = status < 200;
    if (reader->interim) {
        reader->continues += status == 100;
        reader->hints += status == 103;
        if ((status != 100 && status != 103) ||
            reader->count == reader->asked) {
            reader_fault(reader, "an interim response that nobody asked for");
        }
        return;
    }
    if (reader->count == reader->asked) {
        reader_fault(reader, "a response that nobody asked for");
        return;
    }
    response = &reader->responses[reader->count++];
    *response = (struct xs_response){.status = status};
}

static bool name_is(const char *line, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++) {
        char c = line[i];

        c = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        if (c != name[i]) {
            return false;
        }
    }
    return name[len] == '\0';
}

static bool reader_number(const char *text, size_t len, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]) || i > 15) {
            return false;
        }
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    }
    return len > 0;
}

/* What a field means for the framing. */
static void reader_framing(struct xs_reader *reader, size_t name_len,
                           const char *value, size_t value_len)
{
    struct xs_response *response = reader_response(reader);

    if (name_is(reader->line, name_len, "content-length")) {
        if (response->has_length ||
            !reader_number(value, value_len, &response->length)) {
            reader_fault(reader, "a bad or second Content-Length");
        }
        response->has_length = true;
    } else if (name_is(reader->line, name_len, "transfer-encoding")) {
        if (response->chunked || value_len != 7 ||
            memcmp(value, "chunked", 7) != 0) {
            reader_fault(reader, "a bad or second Transfer-Encoding");
        }
        response->chunked = true;
    } else if (name_is(reader->line, name_len, "connection")) {
        response->close = response->close ||
                          (value_len == 5 && memcmp(value, "close", 5) == 0);
    }
}

/* RFC 9112 5: no space before the colon, no folding, no control bytes. */
static void reader_field(struct xs_reader *reader)
{
    const char *line = reader->line;
    size_t len = reader->line_len;
    size_t name_len = 0;
    size_t at;

    while (name_len < len && is_token(line[name_len])) {
        name_len++;
    }
    if (name_len == 0 || name_len == len || line[name_len] != ':') {
        reader_fault(reader, "not a field line");
        return;
    }
    for (at = name_len; at < len; at++) {
        uint8_t c = (uint8_t)line[at];

        if (c != '\t' && (c < ' ' || c == 0x7f)) {
            reader_fault(reader, "a control byte in a field value");
            return;
        }
    }
    for (at = name_len + 1; at < len && line[at] == ' '; at++) {
    }
    while (len > at && line[len - 1] == ' ') {
        len--;
    }
    if (reader->interim) {
        if (name_is(line, name_len, "content-length") ||
            name_is(line, name_len, "transfer-encoding")) {
            reader_fault(reader, "an interim response with framing");
        }
        return;
    }
    reader_framing(reader, name_len, line + at, len - at);
}

static void reader_trailer(struct xs_reader *reader)
{
    const char *line = reader->line;
    const char *colon = memchr(line, ':', reader->line_len);
    size_t len = colon == NULL ? 0 : (size_t)(colon - line);

    if (!reader->asked_trailers[reader->count - 1]) {
        reader_fault(reader, "a trailer that nobody asked for");
    } else if (name_is(line, len, "content-length") ||
               name_is(line, len, "transfer-encoding")) {
        reader_fault(reader, "framing in a trailer");
    } else {
        reader->interim = true; /* it is no field of the head */
        reader_field(reader);
        reader->interim = false;
    }
}

/* RFC 9112 6.3: how long is the body? */
static void reader_head_end(struct xs_reader *reader)
{
    struct xs_response *response;
    bool is_head;

    if (reader->interim) {
        reader->state = XS_READER_LINE;
        return;
    }
    response = reader_response(reader);
    is_head = reader->asked_head[reader->count - 1];
    if (response->chunked && response->has_length) {
        reader_fault(reader, "Content-Length and Transfer-Encoding");
        return;
    }
    if (response->status == 204 &&
        (response->chunked || response->has_length)) {
        reader_fault(reader, "a 204 with framing");
        return;
    }
    if (is_head || response->status == 204 || response->status == 304) {
        reader_done(reader);
    } else if (response->chunked) {
        reader->state = XS_READER_SIZE;
    } else if (response->has_length) {
        reader->left = response->length;
        reader->state = XS_READER_BODY;
        if (reader->left == 0) {
            reader_done(reader);
        }
    } else {
        response->close = true;
        reader->state = XS_READER_UNTIL_END;
    }
}

/* RFC 9112 7.1: hexadecimal digits; we never send extensions. */
static void reader_size(struct xs_reader *reader)
{
    uint64_t size = 0;

    for (size_t i = 0; i < reader->line_len; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = strchr(digits, reader->line[i]);

        if (at == NULL || reader->line[i] == '\0' || i > 8) {
            reader_fault(reader, "not a chunk size");
            return;
        }
        size = size * 16 + (uint64_t)(at - digits);
    }
    if (reader->line_len == 0) {
        reader_fault(reader, "an empty chunk size");
        return;
    }
    reader->left = size;
    reader->state = size == 0 ? XS_READER_TRAILER : XS_READER_CHUNK;
}

/* A whole line, without its CRLF. */
static void reader_line(struct xs_reader *reader)
{
    switch (reader->state) {
        case XS_READER_LINE:
            reader_status_line(reader);
            break;
        case XS_READER_FIELD:
            if (reader->line_len > 0) {
                reader_field(reader);
            } else {
                reader_head_end(reader);
            }
            break;
        case XS_READER_SIZE:
            reader_size(reader);
            break;
        case XS_READER_CHUNK_END:
            reader->state = XS_READER_SIZE;
            if (reader->line_len != 0) {
                reader_fault(reader, "bytes behind a chunk");
            }
            break;
        case XS_READER_TRAILER:
            if (reader->line_len != 0) {
                reader_trailer(reader);
            } else {
                reader_done(reader);
            }
            break;
        case XS_READER_BODY:
        case XS_READER_CHUNK:
        case XS_READER_UNTIL_END:
        case XS_READER_CLOSED:
            break;
    }
    reader->line_len = 0;
}

/* Collect a line; the bytes used. */
static size_t reader_collect(struct xs_reader *reader, struct xs_slice bytes)
{
    const uint8_t *end = memchr(bytes.data, '\n', bytes.len);
    size_t used = end == NULL ? bytes.len : (size_t)(end - bytes.data) + 1;

    if (reader->line_len + used >= sizeof reader->line) {
        reader_fault(reader, "a line without an end");
        return bytes.len;
    }
    memcpy(reader->line + reader->line_len, bytes.data, used);
    reader->line_len += used;
    if (end == NULL) {
        return used;
    }
    reader->line_len--;
    if (reader->line_len == 0 || reader->line[reader->line_len - 1] != '\r') {
        reader_fault(reader, "a bare LF");
        return bytes.len;
    }
    reader->line_len--;
    if (memchr(reader->line, '\r', reader->line_len) != NULL) {
        reader_fault(reader, "a bare CR");
        return bytes.len;
    }
    reader_line(reader);
    return used;
}

/* Take body bytes; the bytes used. */
static size_t reader_body(struct xs_reader *reader, struct xs_slice bytes)
{
    struct xs_response *response = reader_response(reader);
    bool counted = reader->state != XS_READER_UNTIL_END;
    size_t len = bytes.len;

    if (counted && len > reader->left) {
        len = (size_t)reader->left;
    }
    response->body_hash = xs_reader_hash(
        response->body_hash, response->body_len, xs_slice_of(bytes.data, len));
    response->body_len += len;
    if (counted) {
        reader->left -= len;
        if (reader->left == 0 && reader->state == XS_READER_BODY) {
            reader_done(reader);
        } else if (reader->left == 0) {
            reader->state = XS_READER_CHUNK_END;
        }
    }
    return len;
}

void xs_reader_feed(struct xs_reader *reader, struct xs_slice bytes)
{
    while (bytes.len > 0 && reader->verdict->oracle == XS_ORACLE_NONE) {
        size_t used = bytes.len;

        switch (reader->state) {
            case XS_READER_LINE:
            case XS_READER_FIELD:
            case XS_READER_SIZE:
            case XS_READER_CHUNK_END:
            case XS_READER_TRAILER:
                used = reader_collect(reader, bytes);
                break;
            case XS_READER_BODY:
            case XS_READER_CHUNK:
            case XS_READER_UNTIL_END:
                used = reader_body(reader, bytes);
                break;
            case XS_READER_CLOSED:
                reader_fault(reader, "bytes behind the last response");
                break;
        }
        bytes = xs_slice_of(bytes.data + used, bytes.len - used);
    }
}

bool xs_reader_end(struct xs_reader *reader)
{
    if (reader->state == XS_READER_UNTIL_END) {
        reader_done(reader);
    }
    return reader->state == XS_READER_CLOSED ||
           (reader->state == XS_READER_LINE && reader->line_len == 0);
}
