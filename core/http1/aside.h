/* aside.h - the fields that a response has besides those of its head.
 *
 *     hint* ──▶ start ──▶ header* ──▶ body* ──▶ trailers*
 *
 * A hint is an interim response of its own, "103 Early Hints" (RFC 8297): it
 * precedes the head, and so it can be given only before that is begun.
 *
 * Trailers (RFC 9110 6.5) follow a chunked body. They are held in the queue
 * with the last chunk until they are whole: some clients take an end of the
 * stream behind the last chunk for that of the response. */

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

/* Whether a trailer may have this name: nothing that a recipient has to know
 * before it takes the body (RFC 9110 6.5.1). */
bool xs_aside_may_trail(struct xs_slice name);

/* Trailers will follow the body, and end the response instead of it; they are
 * sent if they are `wanted`, and if the response can have any.
 *
 * Errors: XS_ESTATE: not between start and the first body piece. */
XS_MUST_CHECK int xs_aside_expect(struct xs_writer *writer, bool wanted);

/* `more` false ends the response. Errors: nothing was taken; see
 * xs_response_trailers in gateway.h. */
XS_MUST_CHECK int xs_aside_trailers(struct xs_writer *writer,
                                    struct xs_queue *queue,
                                    const struct xs_field *fields,
                                    unsigned count, bool more);

#endif
