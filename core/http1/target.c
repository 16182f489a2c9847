/* target.c - the request target and the authority. */

#include "core/http1/target.h"

#include "core/http1/chars.h"

#define PORT_MAX 65535u
#define IPV6_GROUPS 8u
#define IPV4_OCTETS 4u

/* Cut path and query, and refuse a fragment: it is never sent (RFC 9112
 * 3.2). */
static enum xs_refusal target_split(struct xs_head *head, struct xs_slice text)
{
    const uint8_t *mark;

    if (text.len == 0) {
        return XS_REFUSE_NOT;
    }
    if (memchr(text.data, '#', text.len) != NULL) {
        return XS_REFUSE_TARGET;
    }
    mark = memchr(text.data, '?', text.len);
    head->path = text;
    if (mark != NULL) {
        head->path.len = (size_t)(mark - text.data);
        head->query = xs_slice_of(mark + 1, text.len - head->path.len - 1);
    }
    return XS_REFUSE_NOT;
}

/* The length of "http://" or "https://" at the front of `text`, else 0. */
static size_t target_scheme(struct xs_slice text)
{
    static const struct xs_slice schemes[] = {
        {(const uint8_t *)"http://", 7},
        {(const uint8_t *)"https://", 8},
    };

    for (size_t i = 0; i < XS_COUNT_OF(schemes); i++) {
        size_t len = schemes[i].len;
        if (text.len >= len &&
            xs_slice_eq_lower(xs_slice_of(text.data, len), schemes[i])) {
            return len;
        }
    }
    return 0;
}

static enum xs_refusal target_absolute(struct xs_head *head)
{
    struct xs_slice rest = head->target;
    size_t scheme = target_scheme(rest);
    size_t len = 0;
    enum xs_refusal why;

    if (scheme == 0) {
        return XS_REFUSE_TARGET;
    }
    rest = xs_slice_of(rest.data + scheme, rest.len - scheme);
    while (len < rest.len && rest.data[len] != '/' && rest.data[len] != '?' &&
           rest.data[len] != '#') {
        len++;
    }
    head->authority = xs_slice_of(rest.data, len);
    if (!xs_target_is_authority(head->authority)) {
        return XS_REFUSE_TARGET;
    }
    why = target_split(head, xs_slice_of(rest.data + len, rest.len - len));
    if (head->path.len > 0) {
        return why;
    }
    /* RFC 9112 3.2.4: OPTIONS for a whole server. */
    head->path = xs_slice_eq(head->method, XS_LIT("OPTIONS")) && len == rest.len
                     ? XS_LIT("*")
                     : XS_LIT("/");
    return why;
}

enum xs_refusal xs_target_parse(struct xs_head *head)
{
    struct xs_slice target = head->target;

    head->path = head->query = head->authority = (struct xs_slice){NULL, 0};
    if (target.len == 0) {
        return XS_REFUSE_TARGET;
    }
    if (target.data[0] == '/') {
        return target_split(head, target);
    }
    if (target.data[0] == '*') {
        if (target.len > 1 || !xs_slice_eq(head->method, XS_LIT("OPTIONS"))) {
            return XS_REFUSE_TARGET;
        }
        head->path = target;
        return XS_REFUSE_NOT;
    }
    return target_absolute(head);
}

static bool is_port(struct xs_slice text)
{
    unsigned port = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!xs_char_is_digit(text.data[i])) {
            return false;
        }
        port = port * 10 + (text.data[i] - (unsigned)'0');
        if (port > PORT_MAX) {
            return false;
        }
    }
    return true;
}

/* Four numbers below 256 without leading zeros (RFC 3986 3.2.2). */
static bool is_ipv4(struct xs_slice text)
{
    unsigned octets = 0;
    size_t i = 0;

    for (;;) {
        unsigned value = 0;
        size_t start = i;
        while (i < text.len && i - start < 3 &&
               xs_char_is_digit(text.data[i])) {
            value = value * 10 + (text.data[i] - (unsigned)'0');
            i++;
        }
        if (i == start || value > UINT8_MAX ||
            (text.data[start] == '0' && i - start > 1)) {
            return false;
        }
        octets++;
        if (octets == IPV4_OCTETS) {
            return i == text.len;
        }
        if (i == text.len || text.data[i] != '.') {
            return false;
        }
        i++;
    }
}

/* Eight groups of one to four hexadecimal digits, the last two perhaps as an
 * IPv4 address; one run of groups may be left out as "::". */
static bool is_ipv6(struct xs_slice text)
{
    unsigned groups = 0;
    bool gap = false;
    size_t i = 0;

    if (text.len < 2 || (text.data[0] == ':' && text.data[1] != ':')) {
        return false;
    }
    while (i < text.len) {
        size_t start = i;
        if (text.data[i] == ':' && i + 1 < text.len &&
            text.data[i + 1] == ':' && !gap) {
            gap = true;
            i += 2;
            continue;
        }
        while (i < text.len && xs_char_is(text.data[i], XS_CHAR_HEX)) {
            i++;
        }
        if (i < text.len && text.data[i] == '.') {
            groups += 2;
            i = text.len;
            if (!is_ipv4(xs_slice_of(text.data + start, i - start))) {
                return false;
            }
            break;
        }
        if (i == start || i - start > 4) {
            return false;
        }
        groups++;
        if (i + 1 < text.len && text.data[i] == ':' &&
            text.data[i + 1] != ':') {
            i++;
        } else if (i < text.len && (text.data[i] != ':' || i + 1 == text.len)) {
            return false;
        }
    }
    return gap ? groups < IPV6_GROUPS : groups == IPV6_GROUPS;
}

/* "v" 1*HEXDIG "." 1*( reg-name character or ":" ) */
static bool is_ip_future(struct xs_slice text)
{
    size_t i = 1;

    if (text.len == 0 || (text.data[0] | 0x20) != 'v') {
        return false;
    }
    while (i < text.len && xs_char_is(text.data[i], XS_CHAR_HEX)) {
        i++;
    }
    if (i == 1 || i == text.len || text.data[i] != '.' || i + 1 == text.len) {
        return false;
    }
    for (i++; i < text.len; i++) {
        if (text.data[i] != ':' && !xs_char_is(text.data[i], XS_CHAR_HOST)) {
            return false;
        }
    }
    return true;
}

/* What follows the host is nothing, or a colon and a port. */
static bool is_port_part(struct xs_slice text)
{
    return text.len == 0 || (text.data[0] == ':' &&
                             is_port(xs_slice_of(text.data + 1, text.len - 1)));
}

static bool is_ip_literal(struct xs_slice text)
{
    const uint8_t *end = memchr(text.data, ']', text.len);
    struct xs_slice inside;
    size_t len;

    if (end == NULL) {
        return false;
    }
    len = (size_t)(end - text.data);
    inside = xs_slice_of(text.data + 1, len - 1);
    return (is_ipv6(inside) || is_ip_future(inside)) &&
           is_port_part(xs_slice_of(end + 1, text.len - len - 1));
}

bool xs_target_is_authority(struct xs_slice text)
{
    size_t i = 0;

    if (text.len > 0 && text.data[0] == '[') {
        return is_ip_literal(text);
    }
    while (i < text.len) {
        if (xs_char_is(text.data[i], XS_CHAR_HOST)) {
            i++;
        } else if (text.data[i] == '%' && text.len - i > 2 &&
                   xs_char_is(text.data[i + 1], XS_CHAR_HEX) &&
                   xs_char_is(text.data[i + 2], XS_CHAR_HEX)) {
            i += 3;
        } else {
            break;
        }
    }
    return i > 0 && is_port_part(xs_slice_of(text.data + i, text.len - i));
}
