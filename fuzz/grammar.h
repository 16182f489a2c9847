/* grammar.h - the small grammars of HTTP, read once more from the RFCs.
 *
 * Slow and plain, with the C library where it knows the matter; it shares no
 * code with core/http1, with which it is compared. */

#ifndef FUZZ_GRAMMAR_H
#define FUZZ_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/slice.h"

/* Not empty, and all tchar (RFC 9110 5.6.2). */
bool grammar_is_token(struct xs_slice text);

/* All HTAB, SP, VCHAR or obs-text (RFC 9110 5.5). */
bool grammar_is_text(struct xs_slice text);

/* CR, LF or NUL. */
bool grammar_has_line_end(struct xs_slice text);

/* One or more digits of base 10 or 16 and nothing else, below 2^64. */
bool grammar_number(struct xs_slice text, unsigned base, uint64_t *out);

/* RFC 3986 3.2 without user information; a host that is not empty. */
bool grammar_is_authority(struct xs_slice text);

/* RFC 9112 3.2 for an origin server: the parts of a legal target. */
struct grammar_target {
    struct xs_slice path;
    struct xs_slice query;
    struct xs_slice authority;
};

bool grammar_target(struct grammar_target *out, struct xs_slice method,
                    struct xs_slice target);

/* Without blanks at both ends. */
struct xs_slice grammar_trim(struct xs_slice text);

/* Cut what is before `mark` off `rest`; all of it, with false, if there is no
 * `mark`. */
bool grammar_cut(struct xs_slice *rest, char mark, struct xs_slice *out);

/* The same but for the case of letters. */
bool grammar_is(struct xs_slice text, const char *word);

/* How many elements of the list are `word`, and how many there are. */
unsigned grammar_list_count(struct xs_slice list, const char *word,
                            unsigned *all);

#endif
