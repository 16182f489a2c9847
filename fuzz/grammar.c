/* grammar.c - the small grammars of HTTP, read once more from the RFCs. */

#include "fuzz/grammar.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define UNRESERVED "-._~"
#define SUB_DELIMS "!$&'()*+,;="

static bool is_alnum(uint8_t c)
{
    return c < 0x80 && isalnum(c) != 0;
}

static bool is_one_of(uint8_t c, const char *set)
{
    return c != 0 && strchr(set, c) != NULL;
}

bool grammar_is_token(struct xs_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];

        if (!is_alnum(c) && !is_one_of(c, "!#$%&'*+-.^_`|~")) {
            return false;
        }
    }
    return text.len > 0;
}

bool grammar_is_text(struct xs_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];

        if (c != '\t' && (c < ' ' || c == 0x7f)) {
            return false;
        }
    }
    return true;
}

bool grammar_has_line_end(struct xs_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\r' || text.data[i] == '\n' || text.data[i] == 0) {
            return true;
        }
    }
    return false;
}

bool grammar_number(struct xs_slice text, unsigned base, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";

    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        int c = tolower(text.data[i]);
        const char *at = c == 0 ? NULL : memchr(digits, c, base);
        uint64_t before = *out;

        if (at == NULL) {
            return false;
        }
        *out = before * base + (uint64_t)(at - digits);
        if (*out / base != before) {
            return false;
        }
    }
    return text.len > 0;
}

bool grammar_cut(struct xs_slice *rest, char mark, struct xs_slice *out)
{
    const uint8_t *at =
        rest->len == 0 ? NULL : memchr(rest->data, mark, rest->len);

    *out = *rest;
    if (at == NULL) {
        *rest = xs_slice_of(rest->data + rest->len, 0);
        return false;
    }
    out->len = (size_t)(at - rest->data);
    *rest = xs_slice_of(at + 1, rest->len - out->len - 1);
    return true;
}

/* An address as text that inet_pton reads. */
static bool is_address(struct xs_slice text, int family)
{
    unsigned char out[sizeof(struct in6_addr)];
    char copy[64];

    if (text.len >= sizeof copy || memchr(text.data, 0, text.len) != NULL) {
        return false;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return inet_pton(family, copy, out) == 1;
}

static bool is_ip_future(struct xs_slice text)
{
    struct xs_slice version;

    if (!grammar_cut(&text, '.', &version) || version.len < 2 ||
        tolower(version.data[0]) != 'v' || text.len == 0) {
        return false;
    }
    for (size_t i = 1; i < version.len; i++) {
        if (!isxdigit(version.data[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < text.len; i++) {
        if (!is_alnum(text.data[i]) &&
            !is_one_of(text.data[i], UNRESERVED SUB_DELIMS ":")) {
            return false;
        }
    }
    return true;
}

static bool is_reg_name(struct xs_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];

        if (c == '%') {
            if (text.len - i < 3 || !isxdigit(text.data[i + 1]) ||
                !isxdigit(text.data[i + 2])) {
                return false;
            }
            i += 2;
        } else if (!is_alnum(c) && !is_one_of(c, UNRESERVED SUB_DELIMS)) {
            return false;
        }
    }
    return text.len > 0;
}

static bool is_port(struct xs_slice text)
{
    uint64_t port;

    return text.len == 0 || (grammar_number(text, 10, &port) && port < 65536);
}

bool grammar_is_authority(struct xs_slice text)
{
    struct xs_slice host;

    if (text.len > 0 && text.data[0] == '[') {
        text = xs_slice_of(text.data + 1, text.len - 1);
        return grammar_cut(&text, ']', &host) &&
               (is_address(host, AF_INET6) || is_ip_future(host)) &&
               (text.len == 0 ||
                (text.data[0] == ':' &&
                 is_port(xs_slice_of(text.data + 1, text.len - 1))));
    }
    (void)grammar_cut(&text, ':', &host);
    return is_reg_name(host) && is_port(text);
}

/* The scheme of an absolute-form target, cut off; 0 if there is none. */
static size_t scheme_len(struct xs_slice target)
{
    const char *text = (const char *)target.data;

    if (target.len >= 8 && strncasecmp(text, "https://", 8) == 0) {
        return 8;
    }
    return target.len >= 7 && strncasecmp(text, "http://", 7) == 0 ? 7 : 0;
}

static bool target_absolute(struct grammar_target *out, struct xs_slice method,
                            struct xs_slice target)
{
    size_t scheme = scheme_len(target);
    size_t end = scheme;

    while (end < target.len && !is_one_of(target.data[end], "/?#")) {
        end++;
    }
    out->authority = xs_slice_of(target.data + scheme, end - scheme);
    out->path = xs_slice_of(target.data + end, target.len - end);
    if (out->path.len == 0 && xs_slice_eq(method, XS_LIT("OPTIONS"))) {
        out->path = XS_LIT("*");
    }
    return scheme > 0 && grammar_is_authority(out->authority);
}

bool grammar_target(struct grammar_target *out, struct xs_slice method,
                    struct xs_slice target)
{
    struct xs_slice rest;

    *out = (struct grammar_target){.path = target};
    for (size_t i = 0; i < target.len; i++) {
        if (target.data[i] <= ' ' || target.data[i] >= 0x7f ||
            target.data[i] == '#') {
            return false;
        }
    }
    if (target.len == 0) {
        return false;
    }
    if (target.data[0] == '*') {
        return target.len == 1 && xs_slice_eq(method, XS_LIT("OPTIONS"));
    }
    if (target.data[0] != '/' && !target_absolute(out, method, target)) {
        return false;
    }
    rest = out->path;
    if (grammar_cut(&rest, '?', &out->path)) {
        out->query = rest;
    }
    if (out->path.len == 0) {
        out->path = XS_LIT("/");
    }
    return true;
}

struct xs_slice grammar_trim(struct xs_slice text)
{
    while (text.len > 0 && is_one_of(text.data[0], " \t")) {
        text = xs_slice_of(text.data + 1, text.len - 1);
    }
    while (text.len > 0 && is_one_of(text.data[text.len - 1], " \t")) {
        text.len--;
    }
    return text;
}

bool grammar_is(struct xs_slice text, const char *word)
{
    return text.len == strlen(word) &&
           strncasecmp((const char *)text.data, word, text.len) == 0;
}

unsigned grammar_list_count(struct xs_slice list, const char *word,
                            unsigned *all)
{
    unsigned count = 0;
    bool more = true;

    *all = 0;
    while (more) {
        struct xs_slice element;

        more = grammar_cut(&list, ',', &element);
        count += grammar_is(grammar_trim(element), word);
        (*all)++;
    }
    return count;
}
