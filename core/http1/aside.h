/* aside.h - the fields that a response has besides those of its head.
 *
 *     hint* ──▶ start ──▶ header* ──▶ body*
 *
 * A hint is an interim response of its own, "103 Early Hints" (RFC 8297): it
 * precedes the head, and so it can be given only before that is begun. */

#ifndef XS_HTTP1_ASIDE_H
#define XS_HTTP1_ASIDE_H

#include <stdbool.h>

#include "core/base/base.h"
#include "core/base/error.h"
#include "core/base/queue.h"
#include "core/http1/head.h"
#include "core/http1/writer.h"

/* Whether it is a field: a token, and a value that does not end its line. */
bool xs_aside_is_field(const struct xs_field *field);

/* Whether a hint may have a field of this name. RFC 9110 8.6, RFC 9112 6.1: a
 * 1xx has no framing; and of the connection only the head speaks. */
bool xs_aside_may_hint(struct xs_slice name);

/* A whole 103 of `count` fields. Nothing is said without any, nor to HTTP/1.0,
 * which knows no 1xx (RFC 9110 15.2).
 *
 * Errors: nothing was said; see xs_response_hint in gateway.h. */
XS_MUST_CHECK int xs_aside_hint(const struct xs_writer *writer,
                                struct xs_queue *queue,
                                const struct xs_field *fields, unsigned count);

#endif
