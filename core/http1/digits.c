/* digits.c - numbers as text, and text as numbers. */

#include "core/http1/digits.h"

#include "core/base/error.h"

/* Two digits at a time halve the divisions. */
static const char digits_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "74757677787980818283848586878889909192939495969798"
    "99";

uint8_t *xs_digits_put_two(uint8_t *out, unsigned value)
{
    memcpy(out, &digits_pairs[value % 100 * 2], 2);
    return out + 2;
}

uint8_t *xs_digits_put(uint8_t *out, uint64_t value)
{
    uint8_t text[XS_DIGITS_MAX];
    uint8_t *at = text + sizeof text;
    size_t len;

    while (value >= 100) {
        at -= 2;
        (void)xs_digits_put_two(at, (unsigned)(value % 100));
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        (void)xs_digits_put_two(at, (unsigned)value);
    } else {
        at--;
        *at = (uint8_t)('0' + value);
    }
    len = (size_t)(text + sizeof text - at);
    memcpy(out, at, len);
    return out + len;
}

uint8_t *xs_digits_put_hex(uint8_t *out, uint64_t value)
{
    uint8_t text[XS_DIGITS_HEX_MAX];
    uint8_t *at = text + sizeof text;
    size_t len;

    do {
        at--;
        *at = (uint8_t) "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value > 0);
    len = (size_t)(text + sizeof text - at);
    memcpy(out, at, len);
    return out + len;
}

int xs_digits_get(struct xs_slice text, uint64_t *out)
{
    uint64_t value = 0;

    if (text.len == 0) {
        return XS_ESYNTAX;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)text.data[i] - '0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return XS_ESYNTAX;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return 0;
}
