/* text.c - clients' bytes as they may stand in a log. */

#include "access/text.h"

#include <string.h>

#include "core/http1/digits.h"

static const char hex[] = "0123456789abcdef";

char *access_put(char *out, struct xs_slice bytes)
{
    if (bytes.len > 0) {
        memcpy(out, bytes.data, bytes.len);
    }
    return out + bytes.len;
}

char *access_put_text(char *out, const char *text)
{
    return access_put(out, xs_slice_str(text));
}

char *access_put_number(char *out, uint64_t number)
{
    return (char *)xs_digits_put((uint8_t *)out, number);
}

char *access_put_padded(char *out, uint64_t number, unsigned digits)
{
    for (unsigned i = digits; i > 0; i--) {
        out[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
    return out + digits;
}

size_t access_escape(char *out, struct xs_slice bytes)
{
    char *begin = out;

    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t c = bytes.data[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) {
            *out++ = '\\';
            *out++ = 'x';
            *out++ = hex[c >> 4];
            *out++ = hex[c & 15];
        } else {
            *out++ = (char)c;
        }
    }
    return (size_t)(out - begin);
}

/* How many bytes at `at` are one character in UTF-8 (RFC 3629); 0: none. */
static size_t utf8_len(const uint8_t *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = at[0] < 0x80   ? 1
                 : at[0] < 0xc0 ? 0
                 : at[0] < 0xe0 ? 2
                 : at[0] < 0xf0 ? 3
                 : at[0] < 0xf8 ? 4
                                : 0;
    uint32_t code;

    if (len <= 1 || len > left) {
        return len == 1 ? 1 : 0;
    }
    code = at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code < least[len] || code > 0x10ffff ||
                   (code >= 0xd800 && code < 0xe000)
               ? 0
               : len;
}

/* \u00ff */
static char *put_code(char *out, uint8_t code)
{
    out = access_put(out, XS_LIT("\\u00"));
    *out++ = hex[code >> 4];
    *out++ = hex[code & 15];
    return out;
}

char *access_put_json(char *out, struct xs_slice bytes)
{
    size_t i = 0;

    *out++ = '"';
    while (i < bytes.len) {
        const uint8_t *at = bytes.data + i;
        size_t len = utf8_len(at, bytes.len - i);

        if (len == 0) {
            out = access_put(out, XS_LIT("\\ufffd"));
            len = 1;
        } else if (at[0] == '"' || at[0] == '\\') {
            *out++ = '\\';
            *out++ = (char)at[0];
        } else if (at[0] < 0x20 || at[0] == 0x7f) {
            out = put_code(out, at[0]);
        } else if (at[0] == 0xc2 && at[1] < 0xa0) {
            out = put_code(out, at[1]); /* C1: some terminals obey them */
        } else {
            out = access_put(out, xs_slice_of(at, len));
        }
        i += len;
    }
    *out++ = '"';
    return out;
}

static int base64_of(uint8_t c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = memchr(digits, c, sizeof digits - 1);

    return at == NULL ? -1 : (int)(at - digits);
}

struct xs_slice access_basic_user(struct xs_slice credentials,
                                  uint8_t out[ACCESS_USER_MAX])
{
    const struct xs_slice none = {NULL, 0};
    unsigned bits = 0;
    uint32_t group = 0;
    size_t len = 0;

    if (credentials.len < 6 || credentials.len > XS_ACCESS_VALUE ||
        !xs_slice_eq_lower(xs_slice_of(credentials.data, 6),
                           XS_LIT("basic "))) {
        return none;
    }
    for (size_t i = 6; i < credentials.len; i++) {
        int digit = base64_of(credentials.data[i]);

        if (digit < 0) {
            return none;
        }
        group = (group << 6 | (uint32_t)digit) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[len] = (uint8_t)(group >> bits);
            if (out[len] == ':') {
                return len == 0 ? none : xs_slice_of(out, len);
            }
            len++;
        }
    }
    return none;
}
