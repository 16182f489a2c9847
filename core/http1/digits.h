/* digits.h - numbers as text, and text as numbers. */

#ifndef XS_HTTP1_DIGITS_H
#define XS_HTTP1_DIGITS_H

#include <stdint.h>

#include "core/base/base.h"
#include "core/base/slice.h"

#define XS_DIGITS_MAX 20     /* of a uint64_t in decimal */
#define XS_DIGITS_HEX_MAX 16 /* in hexadecimal */

/* Write `value` at `out`, without a NUL; the byte behind it. */
uint8_t *xs_digits_put(uint8_t *out, uint64_t value);
uint8_t *xs_digits_put_hex(uint8_t *out, uint64_t value);

/* Write the last two decimal digits of `value`; the byte behind them. */
uint8_t *xs_digits_put_two(uint8_t *out, unsigned value);

/* Read one or more decimal digits and nothing else.
 *
 * Errors: XS_ESYNTAX something else, or more than a uint64_t holds */
XS_MUST_CHECK int xs_digits_get(struct xs_slice text, uint64_t *out);

#endif
