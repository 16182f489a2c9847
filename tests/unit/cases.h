/* cases.h - the documents in tests/http, as data.
 *
 * A document is Markdown. Each "## " heading begins a case; its text says why;
 * two fenced blocks say what:
 *
 *     ## Two Host fields are refused
 *
 *     Which of them a proxy in front believed is not known.
 *
 *     ```bytes
 *     GET / HTTP/1.1\r\n
 *     Host: a\r\n
 *     Host: a\r\n
 *     \r\n
 *     ```
 *
 *     ```events
 *     refuse 400 host
 *     ```
 *
 * In `bytes` the ends of lines mean nothing: what is meant is written as \r,
 * \n, \t, \\ or \xNN. TEXT{N} at the end of a line, alone on it, is TEXT N
 * times. `events` is a transcript (transcript.h).
 *
 * A conversation has any number of blocks, one after the other: `bytes` are
 * sent in one write, `answers` (tests/sim/answers.h) is what the client has
 * got since the last ones when nothing more comes, and `end` ends the client's
 * stream. */

#ifndef TESTS_UNIT_CASES_H
#define TESTS_UNIT_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"

enum http_step_kind {
    HTTP_STEP_BYTES,
    HTTP_STEP_EVENTS,
    HTTP_STEP_ANSWERS,
    HTTP_STEP_END,
};

#define HTTP_STEPS_MAX 12u

struct http_step {
    enum http_step_kind kind;
    uint8_t *data; /* owned; ends in a NUL */
    size_t len;
};

struct http_case {
    char *title; /* owned */
    struct http_step steps[HTTP_STEPS_MAX];
    unsigned step_count;
};

struct http_cases {
    struct http_case *list; /* owned */
    size_t count;
};

/* All cases of the document at `path`. Fails the test if it has none, or one
 * that does not begin with bytes or does not end in events or answers. */
void http_cases_load(struct http_cases *cases, const char *path);

/* Bytes and events of a case that is no conversation. */
struct xs_slice http_case_bytes(const struct http_case *one);
const char *http_case_events(const struct http_case *one);

void http_cases_free(struct http_cases *cases);

#endif
