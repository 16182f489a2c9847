/* aside.c - the fields that a response has besides those of its head.
 *
 * All fields are looked at before the first one is rendered, into room that
 * was reserved for all: on an error nothing of them is in the queue. */

#include "core/http1/aside.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/http1/chars.h"

#define HINT_LINE "HTTP/1.1 103 Early Hints\r\n"

static uint8_t *put(uint8_t *out, struct xs_slice bytes)
{
    if (bytes.len > 0) {
        memcpy(out, bytes.data, bytes.len);
    }
    return out + bytes.len;
}

static uint8_t *put_fields(uint8_t *out, const struct xs_field *fields,
                           unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        out = put(out, fields[i].name);
        out = put(out, XS_LIT(": "));
        out = put(out, fields[i].value);
        out = put(out, XS_LIT("\r\n"));
    }
    return out;
}

bool xs_aside_is_field(const struct xs_field *field)
{
    return field->name.len > 0 && xs_chars_all(field->name, XS_CHAR_TOKEN) &&
           !xs_chars_have_line_end(field->value);
}

static bool name_is_in(struct xs_slice name, const struct xs_slice *names,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (name.len == names[i].len && xs_slice_eq_lower(name, names[i])) {
            return true;
        }
    }
    return false;
}

bool xs_aside_may_hint(struct xs_slice name)
{
    const struct xs_slice names[] = {
        XS_LIT("connection"), XS_LIT("content-length"),    XS_LIT("keep-alive"),
        XS_LIT("trailer"),    XS_LIT("transfer-encoding"), XS_LIT("upgrade"),
    };

    return !name_is_in(name, names, XS_COUNT_OF(names));
}

/* Bytes that the fields need, or an error. */
static int aside_check(const struct xs_field *fields, unsigned count,
                       bool (*may)(struct xs_slice name), size_t *len)
{
    *len = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!xs_aside_is_field(&fields[i]) || !may(fields[i].name)) {
            return XS_EINVALID;
        }
        *len += fields[i].name.len + fields[i].value.len + sizeof ": \r\n" - 1;
        if (*len > XS_ASIDE_MAX) {
            return XS_ELIMIT;
        }
    }
    return 0;
}

int xs_aside_hint(const struct xs_writer *writer, struct xs_queue *queue,
                  const struct xs_field *fields, unsigned count)
{
    uint8_t *begin;
    uint8_t *out;
    size_t len;
    int err;

    if (writer->state != XS_WRITER_IDLE) {
        return XS_ESTATE;
    }
    err = aside_check(fields, count, xs_aside_may_hint, &len);
    if (err != 0 || count == 0 || writer->minor == 0) {
        return err;
    }
    begin = xs_queue_room(queue, sizeof HINT_LINE + len + sizeof "\r\n");
    if (begin == NULL) {
        return XS_ENOMEM;
    }
    out = put(begin, XS_LIT(HINT_LINE));
    out = put_fields(out, fields, count);
    out = put(out, XS_LIT("\r\n"));
    xs_queue_wrote(queue, (size_t)(out - begin));
    return 0;
}

bool xs_aside_may_trail(struct xs_slice name)
{
    static const char content[] = "content-";
    const struct xs_slice names[] = {
        /* framing, routing */
        XS_LIT("connection"), XS_LIT("host"), XS_LIT("keep-alive"),
        XS_LIT("te"), XS_LIT("trailer"), XS_LIT("transfer-encoding"),
        XS_LIT("upgrade"), XS_LIT("via"),
        /* authentication */
        XS_LIT("authorization"), XS_LIT("proxy-authenticate"),
        XS_LIT("proxy-authorization"), XS_LIT("set-cookie"),
        XS_LIT("www-authenticate"),
        /* request modifiers */
        XS_LIT("expect"), XS_LIT("if-match"), XS_LIT("if-modified-since"),
        XS_LIT("if-none-match"), XS_LIT("if-range"),
        XS_LIT("if-unmodified-since"), XS_LIT("max-forwards"), XS_LIT("range"),
        /* response control data */
        XS_LIT("age"), XS_LIT("cache-control"), XS_LIT("date"),
        XS_LIT("expires"), XS_LIT("location"), XS_LIT("retry-after"),
        XS_LIT("vary"), XS_LIT("warning")};
    struct xs_slice begin = name;

    begin.len = sizeof content - 1;
    if (name.len >= begin.len &&
        xs_slice_eq_lower(begin, xs_slice_str(content))) {
        return false; /* how the content is to be taken */
    }
    return !name_is_in(name, names, XS_COUNT_OF(names));
}

int xs_aside_expect(struct xs_writer *writer, bool wanted)
{
    if (writer->state != XS_WRITER_HEAD) {
        return XS_ESTATE;
    }
    writer->trailing = true;
    writer->sends_trailers =
        wanted && writer->minor > 0 && !writer->is_head && !writer->bodiless;
    return 0;
}

/* The last chunk and what is behind it; the room is there. */
static void aside_render(struct xs_writer *writer, struct xs_queue *queue,
                         const struct xs_field *fields, unsigned count,
                         bool more)
{
    uint8_t *begin = xs_queue_room(queue, 0);
    uint8_t *out = begin;

    XS_ASSERT(begin != NULL); /* it was reserved */
    if (!queue->holding) {
        xs_queue_hold(queue);
        out = put(out, XS_LIT("0\r\n"));
    }
    if (writer->sends_trailers) {
        out = put_fields(out, fields, count);
    }
    if (!more) {
        out = put(out, XS_LIT("\r\n"));
    }
    xs_queue_wrote(queue, (size_t)(out - begin));
    if (!more) {
        xs_queue_unhold(queue);
    }
}

int xs_aside_trailers(struct xs_writer *writer, struct xs_queue *queue,
                      const struct xs_field *fields, unsigned count, bool more)
{
    size_t len;
    int err;

    if (writer->state != XS_WRITER_TRAILER) {
        return XS_ESTATE;
    }
    err = aside_check(fields, count, xs_aside_may_trail, &len);
    if (err != 0) {
        return err;
    }
    if (len > XS_ASIDE_MAX - writer->trailer_len) {
        return XS_ELIMIT;
    }
    if (writer->framing == XS_FRAMING_CHUNKED) {
        err = xs_queue_reserve(queue, len + sizeof "0\r\n\r\n", 1);
        if (err != 0) {
            return err;
        }
        aside_render(writer, queue, fields, count, more);
    }
    writer->trailer_len += len;
    if (!more) {
        writer->state = XS_WRITER_DONE;
    }
    return 0;
}
