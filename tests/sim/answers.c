/* answers.c - what a client has got, as text. */

#include "tests/sim/answers.h"

#include <stdlib.h>

#include "core/http1/date.h"
#include "tests/testlib.h"

/* One head, as it is read. */
struct answer {
    unsigned status;
    unsigned dates;
    unsigned servers;
    bool has_length;
    bool chunked;
    bool close;
    size_t length;
};

/* The line at the begin of `rest`, without its end; `rest` moves on. */
static struct xs_slice take_line(struct xs_slice *rest)
{
    struct xs_slice line = *rest;
    const uint8_t *end = memchr(line.data, '\n', line.len);

    assert_non_null(end);
    assert_true(end > line.data && end[-1] == '\r');
    line.len = (size_t)(end - line.data) - 1;
    assert_null(memchr(line.data, '\r', line.len));
    *rest = xs_slice_of(end + 1, rest->len - line.len - 2);
    return line;
}

static bool is_field(struct xs_slice line, const char *name,
                     struct xs_slice *value)
{
    size_t len = strlen(name);

    if (line.len <= len || line.data[len] != ':' ||
        !xs_slice_eq_lower(xs_slice_of(line.data, len), xs_slice_str(name))) {
        return false;
    }
    *value =
        xs_slice_trim(xs_slice_of(line.data + len + 1, line.len - len - 1));
    return true;
}

static size_t number(struct xs_slice text, int base)
{
    char digits[24];
    char *end;
    size_t value;

    assert_true(text.len >= 1 && text.len < sizeof digits);
    memcpy(digits, text.data, text.len);
    digits[text.len] = '\0';
    value = strtoul(digits, &end, base);
    assert_int_equal(*end, '\0');
    return value;
}

/* One field. True if it is not to be shown. */
static bool read_field(struct answer *answer, struct xs_slice line)
{
    struct xs_slice value;

    if (is_field(line, "date", &value)) {
        answer->dates++;
        assert_int_equal(value.len, XS_DATE_LEN);
        return memcmp(value.data + 12, "1994", 4) != 0;
    }
    if (is_field(line, "server", &value)) {
        answer->servers++;
        return xs_slice_eq(value, XS_LIT("xsgi"));
    }
    if (is_field(line, "content-length", &value)) {
        assert_false(answer->has_length || answer->chunked);
        answer->has_length = true;
        answer->length = number(value, 10);
    } else if (is_field(line, "transfer-encoding", &value)) {
        assert_false(answer->has_length || answer->chunked);
        assert_true(xs_slice_eq(value, XS_LIT("chunked")));
        answer->chunked = true;
    } else if (is_field(line, "connection", &value)) {
        answer->close |= xs_slice_eq(value, XS_LIT("close"));
    }
    return false;
}

static void read_head(struct answers *answers, struct answer *answer,
                      struct xs_slice *rest)
{
    struct xs_slice line = take_line(rest);
    char code[16];

    *answer = (struct answer){.status = 0};
    assert_true(line.len >= 13);
    assert_memory_equal(line.data, "HTTP/1.1 ", 9);
    answer->status = (unsigned)number(xs_slice_of(line.data + 9, 3), 10);
    (void)snprintf(code, sizeof code, "%u\n", answer->status);
    text_str(&answers->text, code);
    while ((line = take_line(rest)).len > 0) {
        if (!read_field(answer, line)) {
            text_line(&answers->text, "  ", line);
        }
    }
}

/* The chunks at the begin of `rest`, into `body`. True if all came. */
static bool read_chunks(struct xs_slice *rest, struct text *body)
{
    while (memchr(rest->data, '\n', rest->len) != NULL) {
        size_t size = number(take_line(rest), 16);

        if (size == 0) {
            assert_int_equal(take_line(rest).len, 0);
            return true;
        }
        if (rest->len < size + 2) {
            break;
        }
        text_add(body, (const char *)rest->data, size);
        *rest = xs_slice_of(rest->data + size, rest->len - size);
        assert_int_equal(take_line(rest).len, 0);
    }
    return false;
}

/* The body at the begin of `rest`, into `body`. True if it is whole. */
static bool read_body(const struct answer *answer, struct xs_slice *rest,
                      struct text *body, enum answers_end end)
{
    size_t len = rest->len;

    if (answer->chunked) {
        return rest->len > 0 && read_chunks(rest, body);
    }
    if (answer->has_length && answer->length < len) {
        len = answer->length;
    }
    text_add(body, (const char *)rest->data, len);
    *rest = xs_slice_of(rest->data + len, rest->len - len);
    return answer->has_length ? len == answer->length : end == ANSWERS_CLOSED;
}

static void read_answer(struct answers *answers, struct xs_slice *rest,
                        enum answers_end end)
{
    struct text body = {.len = 0};
    struct answer answer;
    bool is_head;
    bool whole = true;

    read_head(answers, &answer, rest);
    if (answer.status < 200) {
        assert_false(answer.has_length || answer.chunked);
        return;
    }
    is_head = answers->is_head[answers->count];
    assert_int_equal(answer.dates, 1);
    assert_int_equal(answer.servers, 1);
    if (!is_head && answer.status != 204 && answer.status != 304) {
        whole = read_body(&answer, rest, &body, end);
    }
    if (body.len > 0) {
        text_line(&answers->text, "body ", xs_slice_of(body.data, body.len));
    }
    if (!whole) {
        text_str(&answers->text, "cut\n");
    }
    answers->count++;
    answers->complete += whole;
    answers->last = answer.status;
    answers->said_close = answer.close;
    free(body.data);
}

void answers_read(struct answers *answers, struct xs_slice bytes,
                  enum answers_end end)
{
    static const char *const words[] = {
        [ANSWERS_OPEN] = "open\n",
        [ANSWERS_CLOSED] = "closed\n",
        [ANSWERS_RESET] = "reset\n",
    };
    struct xs_slice rest = bytes;

    while (rest.len > 0) {
        read_answer(answers, &rest, end);
    }
    text_str(&answers->text, words[end]);
}
