/* fuzz_log.c - clients' bytes in the access log, and back.
 *
 * Whatever a client sends stands in one line of the log, between its quotes,
 * and obeys nobody's terminal. The text is escaped, written as JSON, and read
 * as credentials; what comes out is read again.  */

#include <stdlib.h>
#include <string.h>

#include "access/text.h"
#include "fuzz/fuzz.h"

#define TEXT_MAX 4096u

static unsigned hex_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = memchr(digits, c, 16);

    FUZZ_CHECK(at != NULL, "not a hexadecimal digit: %d", c);
    return (unsigned)(at - digits);
}

/* Escaped it is printable ASCII without quotes, and says the same. */
static void check_escape(struct xs_slice text)
{
    char *out = malloc(4 * text.len + 1); /* its end is the bound's */
    size_t len = access_escape(out, text);
    size_t at = 0;

    FUZZ_CHECK(len <= 4 * text.len, "longer than four times as many");
    for (size_t i = 0; i < text.len; i++) {
        unsigned byte = (unsigned char)out[at];

        FUZZ_CHECK(at < len && byte >= 0x20 && byte < 0x7f && byte != '"',
                   "a byte that may not stand there");
        if (byte == '\\') {
            byte = hex_of(out[at + 2]) << 4 | hex_of(out[at + 3]);
            at += 3;
        }
        FUZZ_CHECK(byte == text.data[i], "another byte than was escaped");
        at++;
    }
    FUZZ_CHECK(at == len, "more than was escaped");
    free(out);
}

/* The code at text[*at] by RFC 3629, or 0xfffd for one byte that is none. */
static uint32_t next_code(struct xs_slice text, size_t *at)
{
    static const struct {
        uint8_t mask, mark;
        size_t more;
        uint32_t least;
    } forms[] = {
        {0x80, 0x00, 0, 0},
        {0xe0, 0xc0, 1, 0x80},
        {0xf0, 0xe0, 2, 0x800},
        {0xf8, 0xf0, 3, 0x10000},
    };
    uint8_t first = text.data[*at];

    for (size_t i = 0; i < XS_COUNT_OF(forms); i++) {
        uint32_t code = first & (uint8_t)~forms[i].mask;
        size_t more = 0;

        if ((first & forms[i].mask) != forms[i].mark) {
            continue;
        }
        while (more < forms[i].more && *at + more + 1 < text.len &&
               (text.data[*at + more + 1] & 0xc0) == 0x80) {
            more++;
            code = code << 6 | (text.data[*at + more] & 0x3fu);
        }
        if (more == forms[i].more && code >= forms[i].least &&
            code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) {
            *at += more + 1;
            return code;
        }
    }
    (*at)++;
    return 0xfffd;
}

/* The code that a JSON string has at text[*at]. */
static uint32_t next_json(struct xs_slice text, size_t *at)
{
    const char *data = (const char *)text.data;
    uint32_t code = next_code(text, at);

    FUZZ_CHECK(code >= 0x20 && code != '"' && (code < 0x7f || code > 0x9f),
               "a code that may not stand in the log: %u", code);
    if (code != '\\') {
        FUZZ_CHECK(code != 0xfffd || data[*at - 1] == (char)0xbd,
                   "a byte that is no UTF-8");
        return code;
    }
    FUZZ_CHECK(*at < text.len, "a backslash at the end");
    code = (unsigned char)data[(*at)++];
    if (code == 'u') {
        FUZZ_CHECK(*at + 4 <= text.len, "an escape that is cut off");
        code = hex_of(data[*at]) << 12 | hex_of(data[*at + 1]) << 8 |
               hex_of(data[*at + 2]) << 4 | hex_of(data[*at + 3]);
        *at += 4;
    }
    return code;
}

/* As JSON it is a string that says the same, but for what is no UTF-8. */
static void check_json(struct xs_slice text)
{
    char *out = malloc(6 * text.len + 2);
    size_t len = (size_t)(access_put_json(out, text) - out);
    struct xs_slice string;
    size_t at = 0;
    size_t from = 0;

    FUZZ_CHECK(len >= 2 && len <= 6 * text.len + 2 && out[0] == '"' &&
                   out[len - 1] == '"',
               "not a string");
    string = xs_slice_of(out + 1, len - 2);
    while (from < text.len) {
        uint32_t wanted = next_code(text, &from);

        FUZZ_CHECK(at < string.len, "less than was written");
        FUZZ_CHECK(next_json(string, &at) == wanted,
                   "another code than was written");
    }
    FUZZ_CHECK(at == string.len, "more than was written");
    free(out);
}

/* A name that was found is the one that was encoded. */
static void check_user(struct xs_slice text)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t out[ACCESS_USER_MAX];
    struct xs_slice user = access_basic_user(text, out);

    for (size_t i = 0; (i + 1) * 6 <= user.len * 8; i++) {
        size_t bit = i * 6;
        unsigned pair = (unsigned)user.data[bit / 8] << 8;
        unsigned digit;

        pair |= bit / 8 + 1 < user.len ? user.data[bit / 8 + 1] : 0;
        digit = pair >> (10 - bit % 8) & 0x3f;
        FUZZ_CHECK(text.data[6 + i] == (uint8_t)digits[digit],
                   "another name than was sent");
    }
    FUZZ_CHECK(user.len == 0 || memchr(user.data, ':', user.len) == NULL,
               "a name goes on behind its end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xs_slice text = xs_slice_of(data, size < TEXT_MAX ? size : TEXT_MAX);

    check_escape(text);
    check_json(text);
    check_user(text);
    return 0;
}
