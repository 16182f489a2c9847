/* text.c - text that grows, for transcripts. */

#include "tests/unit/text.h"

#include "tests/testlib.h"

#define RUN_MIN 20u /* bytes that are worth a count */

void text_add(struct text *text, const char *bytes, size_t len)
{
    if (text->len + len + 1 > text->cap) {
        text->cap = 2 * (text->len + len + 1);
        text->data = realloc(text->data, text->cap);
        assert_non_null(text->data);
    }
    if (len > 0) { /* else there may be no bytes at all */
        memcpy(text->data + text->len, bytes, len);
    }
    text->len += len;
    text->data[text->len] = '\0';
}

void text_str(struct text *text, const char *str)
{
    text_add(text, str, strlen(str));
}

void text_slice(struct text *text, struct xs_slice bytes)
{
    char some[64];

    for (size_t i = 0; i < bytes.len;) {
        uint8_t c = bytes.data[i];
        size_t run = 1;
        while (i + run < bytes.len && bytes.data[i + run] == c) {
            run++;
        }
        (void)snprintf(some, sizeof some,
                       c > ' ' && c < 0x7f && c != '\\' ? "%c" : "\\x%02x", c);
        if (c == ' ') {
            (void)snprintf(some, sizeof some, " ");
        }
        text_str(text, some);
        if (run >= RUN_MIN) {
            (void)snprintf(some, sizeof some, "{%zu}", run);
            text_str(text, some);
            i += run;
        } else {
            i++;
        }
    }
}

void text_line(struct text *text, const char *name, struct xs_slice value)
{
    text_str(text, name);
    text_slice(text, value);
    text_str(text, "\n");
}

void text_head(struct text *text, const struct xs_head *head)
{
    char some[64];
    struct xs_slice plain = head->target;
    const uint8_t *mark = memchr(plain.data, '?', plain.len);

    text_str(text, "head ");
    text_slice(text, head->method);
    text_str(text, " ");
    text_slice(text, head->target);
    (void)snprintf(some, sizeof some, " HTTP/1.%u", head->minor);
    text_str(text, some);
    if (head->keep_alive) {
        text_str(text, " keep-alive");
    }
    if (head->framing == XS_FRAMING_LENGTH) {
        (void)snprintf(some, sizeof some, " length=%llu",
                       (unsigned long long)head->length);
        text_str(text, some);
    } else if (head->framing == XS_FRAMING_CHUNKED) {
        text_str(text, " chunked");
    }
    text_str(text, head->expect_continue ? " expect" : "");
    text_str(text, head->is_head ? " is-head\n" : "\n");
    if (mark != NULL) {
        plain.len = (size_t)(mark - plain.data);
        text_line(text, "  query ", head->query);
    } else {
        assert_int_equal(head->query.len, 0);
    }
    if (!xs_slice_eq(plain, head->path)) {
        text_line(text, "  path ", head->path);
    }
    if (head->authority.len > 0) {
        text_line(text, "  authority ", head->authority);
    }
    for (unsigned i = 0; i < head->field_count; i++) {
        text_str(text, "  ");
        text_slice(text, head->fields[i].name);
        text_line(text, ": ", head->fields[i].value);
    }
}
