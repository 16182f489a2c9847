/* text.h - text that grows, for transcripts. */

#ifndef TESTS_UNIT_TEXT_H
#define TESTS_UNIT_TEXT_H

#include <stddef.h>

#include "core/base/slice.h"
#include "core/http1/head.h"

/* All zero at first; `data` ends in a NUL once something was added. */
struct text {
    char *data; /* owned */
    size_t len;
    size_t cap;
};

void text_add(struct text *text, const char *bytes, size_t len);
void text_str(struct text *text, const char *str);
/* Bytes that are not printable as \xNN, a long run of one as c{count}. */
void text_slice(struct text *text, struct xs_slice bytes);
/* `name`, the bytes of `value`, and the end of the line. */
void text_line(struct text *text, const char *name, struct xs_slice value);
/* What a parser has made of a head; see transcript.h. */
void text_head(struct text *text, const struct xs_head *head);

#endif
