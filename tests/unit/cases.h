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
 * times. `events` is a transcript (transcript.h). */

#ifndef TESTS_UNIT_CASES_H
#define TESTS_UNIT_CASES_H

#include <stddef.h>
#include <stdint.h>

struct http_case {
    char *title;    /* owned */
    uint8_t *bytes; /* owned */
    size_t len;
    char *events; /* owned */
};

struct http_cases {
    struct http_case *list; /* owned */
    size_t count;
};

/* All cases of the document at `path`. Fails the test if it has none, or one
 * without bytes or events. */
void http_cases_load(struct http_cases *cases, const char *path);

void http_cases_free(struct http_cases *cases);

#endif
