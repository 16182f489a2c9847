/* chars.h - which bytes may stand where, as one table. */

#ifndef XS_HTTP1_CHARS_H
#define XS_HTTP1_CHARS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/slice.h"

enum xs_char {
    XS_CHAR_TOKEN = 1, /* in a token (RFC 9110 5.6.2) */
    XS_CHAR_HOST = 2,  /* in a reg-name, but for "%" (RFC 3986 3.2.2) */
    XS_CHAR_HEX = 4,   /* a hexadecimal digit */
    XS_CHAR_TEXT = 8,  /* in a field value or a reason phrase: HTAB, SP, VCHAR
                        * and obs-text (RFC 9110 5.5) */
};

/* A set of xs_char for each byte. */
extern const uint8_t xs_chars[256];

static inline bool xs_char_is(uint8_t c, enum xs_char kind)
{
    return (xs_chars[c] & (unsigned)kind) != 0;
}

static inline bool xs_char_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* All bytes are of this kind; true for none. */
bool xs_chars_all(struct xs_slice bytes, enum xs_char kind);

/* There is a CR, LF or NUL, with which a value would end its line or its
 * string. */
bool xs_chars_have_line_end(struct xs_slice bytes);

#endif
