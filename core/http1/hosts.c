/* hosts.c - which hosts are served here. */

#include "core/http1/hosts.h"

#include <string.h>

#include "core/http1/chars.h"

#define GROUPS 8u

/* Without port, and without a dot at the end. */
static struct xs_slice hosts_name(struct xs_slice authority)
{
    size_t len = authority.len;

    for (size_t i = len; i > 0 && authority.data[i - 1] != ']'; i--) {
        if (authority.data[i - 1] == ':') {
            len = i - 1;
        }
    }
    if (len > 1 && authority.data[len - 1] == '.') {
        len--;
    }
    return xs_slice_of(authority.data, len);
}

/* `name` ends in `end`, and has more before it. */
static bool hosts_is_below(struct xs_slice name, struct xs_slice end)
{
    return name.len > end.len &&
           xs_slice_eq_lower(
               xs_slice_of(name.data + name.len - end.len, end.len), end);
}

static unsigned hosts_hex(uint8_t c)
{
    return c <= '9' ? c - (unsigned)'0' : (c | 0x20) - (unsigned)'a' + 10;
}

/* The group that begins at `*at`: of an IPv4 address, two octets. */
static uint16_t hosts_group(struct xs_slice text, size_t *at)
{
    unsigned value = 0;
    unsigned decimal = 0;
    size_t i = *at;

    for (; i < text.len && xs_char_is(text.data[i], XS_CHAR_HEX); i++) {
        value = value << 4 | hosts_hex(text.data[i]);
        decimal = decimal * 10 + hosts_hex(text.data[i]);
    }
    if (i < text.len && text.data[i] == '.') {
        value = 0;
        for (i++; i < text.len && xs_char_is_digit(text.data[i]); i++) {
            value = value * 10 + hosts_hex(text.data[i]);
        }
        value |= decimal << 8;
        i += i < text.len && text.data[i] == '.';
    }
    *at = i;
    return (uint16_t)value;
}

/* The groups of a legal address of IPv6 in brackets, whatever its spelling
 * (RFC 4291 2.2). False if it is something else. */
static bool hosts_address(uint16_t out[GROUPS], struct xs_slice text)
{
    unsigned count = 0;
    unsigned gap = 0;
    size_t i = 1;

    memset(out, 0, GROUPS * sizeof *out);
    if (text.len < 4 || text.data[0] != '[') {
        return false;
    }
    text.len--; /* the bracket */
    while (i < text.len) {
        if (text.data[i] == ':') {
            i++;
            gap = text.data[i] == ':' ? count : gap;
        } else if (xs_char_is(text.data[i], XS_CHAR_HEX) && count < GROUPS) {
            out[count++] = hosts_group(text, &i);
        } else {
            return false; /* [v1.of-the-future] */
        }
    }
    memmove(out + GROUPS - (count - gap), out + gap,
            (count - gap) * sizeof *out);
    memset(out + gap, 0, (GROUPS - count) * sizeof *out);
    return true;
}

static bool hosts_is_same(struct xs_slice entry, struct xs_slice name)
{
    uint16_t one[GROUPS];
    uint16_t other[GROUPS];

    if (xs_slice_eq_lower(name, entry)) {
        return true;
    }
    return hosts_address(one, entry) && hosts_address(other, name) &&
           memcmp(one, other, sizeof one) == 0;
}

static bool hosts_match(struct xs_slice entry, struct xs_slice name)
{
    if (entry.len > 1 && entry.data[0] == '*') {
        return hosts_is_below(name, xs_slice_of(entry.data + 1, entry.len - 1));
    }
    if (entry.len > 1 && entry.data[0] == '.') {
        return hosts_is_below(name, entry) ||
               xs_slice_eq_lower(name,
                                 xs_slice_of(entry.data + 1, entry.len - 1));
    }
    return hosts_is_same(entry, name);
}

bool xs_hosts_have(struct xs_slice list, struct xs_slice authority)
{
    struct xs_slice name;
    struct xs_slice entry;

    if (list.len == 0) {
        return true;
    }
    if (authority.len == 0) {
        return false;
    }
    name = hosts_name(authority);
    while (xs_slice_list_next(&list, &entry)) {
        if (hosts_match(entry, name)) {
            return true;
        }
    }
    return false;
}
