/* writer.c - what an application says becomes response bytes in a queue.
 *
 * The head is held in the queue while it grows. The first body call decides
 * the framing, adds the last lines, and lets the head go; so a response that
 * is said in one go is one run of bytes.
 *
 * A body call first reserves all that it may need and then cannot fail: on an
 * error nothing of it is in the queue. */

#include "core/http1/writer.h"

#include "core/base/limits.h"
#include "core/http1/chars.h"
#include "core/http1/date.h"
#include "core/http1/digits.h"
#include "core/http1/status.h"

#define STATUS_MIN 200u
#define STATUS_MAX 999u

#define DATE_LINE_LEN (sizeof "date: \r\n" - 1 + XS_DATE_LEN)

/* Room for what goes around an application's bytes: the last lines of a head,
 * and the framing of a chunk. */
#define WRITER_END_MAX                                         \
    (XS_COMMON_MAX + sizeof "transfer-encoding: chunked\r\n" + \
     sizeof "content-length: \r\n" + XS_DIGITS_MAX +           \
     sizeof "connection: keep-alive\r\n" + sizeof "\r\n")
#define WRITER_STATUS_MAX (sizeof "HTTP/1.1 999 \r\n")
#define WRITER_CHUNK_MAX (XS_DIGITS_HEX_MAX + sizeof "\r\n\r\n0\r\n\r\n")

#define WRITER_AROUND_MAX (WRITER_END_MAX + WRITER_CHUNK_MAX)

/* What one body call does. */
struct writer_plan {
    bool with_head;
    bool with_data;  /* the data goes to the peer */
    bool lend;       /* by reference */
    bool chunk;      /* framed as a chunk */
    bool terminator; /* the last chunk */
};

static uint8_t *put(uint8_t *out, struct xs_slice bytes)
{
    if (bytes.len > 0) {
        memcpy(out, bytes.data, bytes.len);
    }
    return out + bytes.len;
}

void xs_writer_begin(struct xs_writer *writer, unsigned minor, bool is_head,
                     bool keep_alive, struct xs_slice common)
{
    XS_ASSERT(common.len <= XS_COMMON_MAX);
    *writer = (struct xs_writer){
        .minor = minor,
        .is_head = is_head,
        .keep_alive = keep_alive,
        .common = common,
        .state = XS_WRITER_IDLE,
    };
}

/* Forget the head that is held. */
static void writer_drop_head(struct xs_writer *writer, struct xs_queue *queue)
{
    if (writer->state == XS_WRITER_HEAD) {
        xs_queue_unwrite(queue);
    }
    xs_writer_begin(writer, writer->minor, writer->is_head, writer->keep_alive,
                    writer->common);
}

int xs_writer_start(struct xs_writer *writer, struct xs_queue *queue,
                    unsigned status, struct xs_slice reason)
{
    struct xs_slice line = xs_status_line(status);
    uint8_t *begin;
    uint8_t *out;

    if (writer->state > XS_WRITER_HEAD) {
        return XS_ESTATE;
    }
    if (status < STATUS_MIN || status > STATUS_MAX ||
        !xs_chars_all(reason, XS_CHAR_TEXT)) {
        return XS_EINVALID;
    }
    writer_drop_head(writer, queue);
    begin = xs_queue_room(queue, line.len + reason.len + WRITER_STATUS_MAX);
    if (begin == NULL) {
        return XS_ENOMEM;
    }
    if (line.len > 0 && reason.len == 0) {
        out = put(begin, line);
    } else {
        out = put(begin, XS_LIT("HTTP/1.1 "));
        out = xs_digits_put(out, status);
        out = put(out, XS_LIT(" "));
        out = put(out, reason);
        out = put(out, XS_LIT("\r\n"));
    }
    xs_queue_hold(queue);
    xs_queue_wrote(queue, (size_t)(out - begin));
    writer->state = XS_WRITER_HEAD;
    writer->status = status;
    writer->bodiless = xs_status_is_bodiless(status);
    return 0;
}

/* The fields that mean something here. */
enum writer_field {
    FIELD_PLAIN,
    FIELD_DATE,
    FIELD_SERVER,
    FIELD_CONNECTION,
    FIELD_LENGTH,
    FIELD_CODING,
};

/* Most names are passed over by their length alone. */
static enum writer_field writer_field_of(struct xs_slice name)
{
    switch (name.len) {
        case 4:
            return xs_slice_eq_lower(name, XS_LIT("date")) ? FIELD_DATE
                                                           : FIELD_PLAIN;
        case 6:
            return xs_slice_eq_lower(name, XS_LIT("server")) ? FIELD_SERVER
                                                             : FIELD_PLAIN;
        case 10:
            return xs_slice_eq_lower(name, XS_LIT("connection"))
                       ? FIELD_CONNECTION
                       : FIELD_PLAIN;
        case 14:
            return xs_slice_eq_lower(name, XS_LIT("content-length"))
                       ? FIELD_LENGTH
                       : FIELD_PLAIN;
        case 17:
            return xs_slice_eq_lower(name, XS_LIT("transfer-encoding"))
                       ? FIELD_CODING
                       : FIELD_PLAIN;
        default:
            return FIELD_PLAIN;
    }
}

static int writer_add(struct xs_queue *queue, struct xs_slice name,
                      struct xs_slice value)
{
    uint8_t *begin;
    uint8_t *out;

    begin = xs_queue_room(queue, name.len + value.len + sizeof ": \r\n");
    if (begin == NULL) {
        return XS_ENOMEM;
    }
    out = put(begin, name);
    out = put(out, XS_LIT(": "));
    out = put(out, value);
    out = put(out, XS_LIT("\r\n"));
    xs_queue_wrote(queue, (size_t)(out - begin));
    return 0;
}

/* RFC 9110 5.3: what is no list is sent once. The first stays. */
static int writer_add_once(bool *has, struct xs_queue *queue,
                           struct xs_slice name, struct xs_slice value)
{
    int err;

    if (*has) {
        return 0;
    }
    err = writer_add(queue, name, value);
    *has = err == 0;
    return err;
}

/* "close" and "keep-alive" are ours to say; what else there is, is said. */
static int writer_add_connection(struct xs_writer *writer,
                                 struct xs_queue *queue, struct xs_slice name,
                                 struct xs_slice value)
{
    struct xs_slice rest = value;
    struct xs_slice option;
    bool close = false;
    bool other = false;
    int err;

    while (xs_slice_list_next(&rest, &option)) {
        if (xs_slice_eq_lower(option, XS_LIT("close"))) {
            close = true;
        } else if (option.len > 0 &&
                   !xs_slice_eq_lower(option, XS_LIT("keep-alive"))) {
            other = true;
        }
    }
    if (other) {
        err = writer_add(queue, name, value);
        if (err != 0) {
            return err;
        }
    }
    writer->close |= close;
    return 0;
}

/* RFC 9110 8.6: a 204 must not have it, of a 205 it is ours to say; a 304 and
 * the answer to a HEAD say what a 200 to a GET would have. */
static int writer_add_length(struct xs_writer *writer, struct xs_queue *queue,
                             struct xs_slice name, struct xs_slice value)
{
    uint64_t length;
    int err;

    value = xs_slice_trim(value);
    if (writer->has_length || xs_digits_get(value, &length) != 0) {
        return XS_EINVALID;
    }
    if (writer->status != 204 && writer->status != 205) {
        err = writer_add(queue, name, value);
        if (err != 0) {
            return err;
        }
    }
    writer->has_length = true;
    writer->left = length;
    return 0;
}

int xs_writer_header(struct xs_writer *writer, struct xs_queue *queue,
                     struct xs_slice name, struct xs_slice value)
{
    if (writer->state != XS_WRITER_HEAD) {
        return XS_ESTATE;
    }
    if (name.len == 0 || !xs_chars_all(name, XS_CHAR_TOKEN) ||
        xs_chars_have_line_end(value)) {
        return XS_EINVALID;
    }
    switch (writer_field_of(name)) {
        case FIELD_PLAIN:
            return writer_add(queue, name, value);
        case FIELD_DATE:
            return writer_add_once(&writer->has_date, queue, name, value);
        case FIELD_SERVER:
            return writer_add_once(&writer->has_server, queue, name, value);
        case FIELD_CONNECTION:
            return writer_add_connection(writer, queue, name, value);
        case FIELD_LENGTH:
            return writer_add_length(writer, queue, name, value);
        case FIELD_CODING:
            /* The framing is ours. Any other coding cannot be undone here. */
            return xs_slice_eq_lower(xs_slice_trim(value), XS_LIT("chunked"))
                       ? 0
                       : XS_EINVALID;
    }
    XS_UNREACHABLE();
}

/* Date and Server, each if the application has none of its own. */
static uint8_t *put_common(uint8_t *out, const struct xs_writer *writer)
{
    struct xs_slice rest = writer->common;
    struct xs_slice date = {rest.data, 0};

    if (rest.len > 0 && rest.data[0] == 'd') {
        XS_ASSERT(rest.len >= DATE_LINE_LEN);
        date.len = DATE_LINE_LEN;
        rest = xs_slice_of(rest.data + DATE_LINE_LEN, rest.len - DATE_LINE_LEN);
    }
    if (!writer->has_date) {
        out = put(out, date);
    }
    if (!writer->has_server) {
        out = put(out, rest);
    }
    return out;
}

static enum xs_framing writer_choose_framing(const struct xs_writer *writer,
                                             bool more)
{
    if (writer->bodiless || writer->is_head) {
        return XS_FRAMING_NONE;
    }
    if (writer->has_length || (!more && !writer->sends_trailers)) {
        return XS_FRAMING_LENGTH;
    }
    return writer->minor > 0 ? XS_FRAMING_CHUNKED : XS_FRAMING_CLOSE;
}

/* The last lines of the head. `len` is the length of a body that is said in
 * one go. */
static uint8_t *put_head_end(uint8_t *out, struct xs_writer *writer, size_t len,
                             bool more)
{
    bool length = writer->framing == XS_FRAMING_LENGTH && !writer->has_length;

    if (writer->is_head && !writer->bodiless && !writer->has_length) {
        length = !more && len > 0; /* what the GET would have said */
    }
    out = put_common(out, writer);
    if (writer->status == 205) {
        out = put(out, XS_LIT("content-length: 0\r\n")); /* RFC 9112 6.3 */
    } else if (length) {
        out = put(out, XS_LIT("content-length: "));
        out = xs_digits_put(out, len);
        out = put(out, XS_LIT("\r\n"));
    } else if (writer->framing == XS_FRAMING_CHUNKED) {
        out = put(out, XS_LIT("transfer-encoding: chunked\r\n"));
    }
    if (!writer->keep_alive) {
        out = put(out, XS_LIT("connection: close\r\n"));
    } else if (writer->minor == 0) {
        out = put(out, XS_LIT("connection: keep-alive\r\n"));
    }
    return put(out, XS_LIT("\r\n"));
}

/* More than was promised, or less at the end? */
static bool writer_length_fits(const struct xs_writer *writer, size_t len,
                               bool more)
{
    if (!writer->has_length || writer->is_head || writer->bodiless) {
        return true;
    }
    return more ? len <= writer->left : len == writer->left;
}

static struct writer_plan writer_plan(const struct xs_writer *writer,
                                      const struct xs_lent *lent, bool more,
                                      enum xs_framing framing)
{
    bool with_data = framing != XS_FRAMING_NONE && lent->bytes.len > 0;
    bool chunked = framing == XS_FRAMING_CHUNKED;

    return (struct writer_plan){
        .with_head = writer->state == XS_WRITER_HEAD,
        .with_data = with_data,
        .lend = with_data && lent->release != NULL &&
                (lent->is_file || lent->bytes.len > XS_TX_COPY_MAX),
        .chunk = chunked && with_data,
        .terminator = chunked && !more && !writer->trailing,
    };
}

/* Everything in order; the room is there. */
static void writer_render(struct xs_writer *writer, struct xs_queue *queue,
                          const struct xs_lent *lent,
                          const struct writer_plan *plan, bool more)
{
    uint8_t *begin = xs_queue_room(queue, WRITER_AROUND_MAX);
    uint8_t *out = begin;
    int err;

    XS_ASSERT(begin != NULL); /* it was reserved */
    if (plan->with_head) {
        xs_queue_unhold(queue);
        out = put_head_end(out, writer, lent->bytes.len, more);
    }
    if (plan->chunk) {
        out = xs_digits_put_hex(out, lent->bytes.len);
        out = put(out, XS_LIT("\r\n"));
    }
    if (plan->lend) {
        xs_queue_wrote(queue, (size_t)(out - begin));
        err = xs_queue_lend(queue, lent);
        XS_ASSERT(err == 0);
        begin = out;
    } else if (plan->with_data) {
        out = put(out, lent->bytes);
    }
    if (plan->chunk) {
        out = put(out, XS_LIT("\r\n"));
    }
    if (plan->terminator) {
        out = put(out, XS_LIT("0\r\n\r\n"));
    }
    xs_queue_wrote(queue, (size_t)(out - begin));
}

int xs_writer_body(struct xs_writer *writer, struct xs_queue *queue,
                   const struct xs_lent *lent, bool more)
{
    enum xs_framing framing = writer->framing;
    struct writer_plan plan;
    size_t len = lent->bytes.len;
    int err;

    XS_ASSERT(!lent->is_file || lent->release != NULL);
    if (writer->state != XS_WRITER_HEAD && writer->state != XS_WRITER_BODY) {
        return XS_ESTATE;
    }
    if (!writer_length_fits(writer, len, more)) {
        return XS_ELENGTH;
    }
    if (writer->state == XS_WRITER_HEAD) {
        framing = writer_choose_framing(writer, more);
    }
    plan = writer_plan(writer, lent, more, framing);
    err = xs_queue_reserve(queue, WRITER_AROUND_MAX + (plan.lend ? 0 : len), 3);
    if (err != 0) {
        return err;
    }
    if (plan.with_head) {
        writer->framing = framing;
        writer->keep_alive &= !writer->close && framing != XS_FRAMING_CLOSE;
    }
    writer_render(writer, queue, lent, &plan, more);
    if (more) {
        writer->state = XS_WRITER_BODY;
    } else {
        writer->state = writer->trailing ? XS_WRITER_TRAILER : XS_WRITER_DONE;
    }
    writer->body_bytes += len;
    if (writer->has_length && framing == XS_FRAMING_LENGTH) {
        writer->left -= len;
    }
    if (lent->release != NULL && !plan.lend) {
        lent->release(lent->owner);
    }
    return 0;
}

int xs_writer_refuse(struct xs_writer *writer, struct xs_queue *queue,
                     enum xs_refusal why)
{
    struct xs_slice text = xs_slice_str(xs_refusal_text(why));
    struct xs_lent lent = {.bytes = text};
    int err;

    XS_ASSERT(writer->state <= XS_WRITER_HEAD);
    err = xs_writer_start(writer, queue, xs_refusal_status(why),
                          (struct xs_slice){NULL, 0});
    if (err == 0) {
        err = xs_writer_header(writer, queue, XS_LIT("content-type"),
                               XS_LIT("text/plain; charset=utf-8"));
    }
    if (err == 0 && why == XS_REFUSE_BUSY) {
        err =
            xs_writer_header(writer, queue, XS_LIT("retry-after"), XS_LIT("1"));
    }
    if (err == 0) {
        err = xs_writer_body(writer, queue, &lent, false);
    }
    if (err != 0) {
        writer_drop_head(writer, queue);
    }
    return err;
}

int xs_writer_continue(struct xs_queue *queue)
{
    return xs_queue_copy_ahead(queue, XS_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
}

size_t xs_writer_common(char out[XS_COMMON_MAX], uint64_t wall_ns,
                        struct xs_slice server)
{
    uint8_t *begin = (uint8_t *)out;
    uint8_t *end = begin;

    end = put(end, XS_LIT("date: "));
    end = xs_date_put(end, wall_ns);
    end = put(end, XS_LIT("\r\n"));
    if (server.len > 0 && server.len <= XS_SERVER_NAME_MAX) {
        end = put(end, XS_LIT("server: "));
        end = put(end, server);
        end = put(end, XS_LIT("\r\n"));
    }
    return (size_t)(end - begin);
}
