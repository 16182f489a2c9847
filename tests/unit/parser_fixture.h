/* parser_fixture.h - long requests, and what a parser says of them at last. */

#ifndef TESTS_UNIT_PARSER_FIXTURE_H
#define TESTS_UNIT_PARSER_FIXTURE_H

#include "tests/testlib.h"
#include "tests/unit/transcript.h"

#define HOST "Host: a\r\n"
#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

/* `what` repeated `count` times between `before` and `after`. */
static inline char *text_of(const char *before, const char *what, size_t count,
                            const char *after)
{
    size_t each = strlen(what);
    char *text = malloc(strlen(before) + each * count + strlen(after) + 1);
    char *at = text;

    assert_non_null(text);
    at = memcpy(at, before, strlen(before));
    at += strlen(before);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, what, each);
        at += each;
    }
    memcpy(at, after, strlen(after) + 1);
    return text;
}

/* The last line of the transcript of such a text, cut in steps of `each`. */
static inline void assert_last_line(const struct xs_limits *limits, char *text,
                                    size_t each, const char *wanted)
{
    const struct transcript_way way = {
        .limits = limits, .first = each, .each = each};
    char *got = transcript_of(xs_slice_str(text), &way);
    size_t len = strlen(got);
    const char *line = got;

    assert_true(len > 0);
    got[len - 1] = '\0';
    if (strrchr(got, '\n') != NULL) {
        line = strrchr(got, '\n') + 1;
    }
    assert_string_equal(line, wanted);
    free(got);
    free(text);
}

static const size_t cuts[] = {0, 1, 7, 1000};

#endif
