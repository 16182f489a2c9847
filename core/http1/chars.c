/* chars.c - which bytes may stand where, as one table. */

#include "core/http1/chars.h"

/* 1 token, 2 host, 4 hexadecimal, 8 text: see enum xs_char. A unit test builds
 * the same table from the grammar. */
/* clang-format off */
const uint8_t xs_chars[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0,  /* 00 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  /* 10 */
    8, 11, 8, 9, 11, 9, 11, 11, 10, 10, 11, 11, 10, 11, 11, 8,  /* 20 */
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 8, 10, 8, 10, 8, 8,  /* 30 */
    8, 15, 15, 15, 15, 15, 15, 11, 11, 11, 11, 11, 11, 11, 11, 11,  /* 40 */
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 8, 8, 8, 9, 11,  /* 50 */
    9, 15, 15, 15, 15, 15, 15, 11, 11, 11, 11, 11, 11, 11, 11, 11,  /* 60 */
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 8, 9, 8, 11, 0,  /* 70 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* 80 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* 90 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* A0 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* B0 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* C0 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* D0 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* E0 */
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,  /* F0 */
};
/* clang-format on */

bool xs_chars_all(struct xs_slice bytes, enum xs_char kind)
{
    unsigned all = kind;
    size_t i = 0;

    /* To the end in any case: names are short, and legal. Four at a time
     * cost three quarters. */
    for (; bytes.len - i >= 4; i += 4) {
        const uint8_t *at = bytes.data + i;
        all &= xs_chars[at[0]] & xs_chars[at[1]] & xs_chars[at[2]] &
               xs_chars[at[3]];
    }
    for (; i < bytes.len; i++) {
        all &= xs_chars[bytes.data[i]];
    }
    return all != 0;
}

/* The bytes that end a line or a string are all below this; in a value of text
 * there is no other such byte than a tab. */
#define LOW_END 14u
#define EACH_BYTE(n) ((uint64_t)(n)*0x0101010101010101u)

/* Not zero if any byte of `word` is below LOW_END. */
static uint64_t word_low(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return (word - EACH_BYTE(LOW_END)) & ~word & EACH_BYTE(0x80);
}

static bool has_low_byte(struct xs_slice value)
{
    uint64_t low = 0;

    if (value.len < sizeof low) {
        for (size_t i = 0; i < value.len; i++) {
            low |= value.data[i] < LOW_END;
        }
        return low != 0;
    }
    for (size_t i = 0; i + sizeof low <= value.len; i += sizeof low) {
        low |= word_low(value.data + i);
    }
    return (low | word_low(value.data + value.len - sizeof low)) != 0;
}

bool xs_chars_have_line_end(struct xs_slice value)
{
    if (!has_low_byte(value)) {
        return false;
    }
    for (size_t i = 0; i < value.len; i++) {
        uint8_t c = value.data[i];
        if (c == 0 || c == '\r' || c == '\n') {
            return true;
        }
    }
    return false;
}
