/* forwarded.c - who the client is, as the proxies in front of us say.
 *
 * Lists are cut from the right, since what is left may be anything: a quote
 * that a client has opened cannot swallow what a proxy wrote behind it. The
 * lines of a field are one list (RFC 9110 5.3), so the last line comes first.
 *
 *     rest:  | what the client says | hop | hop |
 *                                      <── cut  */

#include "core/http1/forwarded.h"

#include <string.h>

#include "core/base/base.h"
#include "core/base/limits.h"
#include "core/http1/digits.h"

/* Where we are in the lines of one field. */
struct walk {
    const struct xs_head *head; /* borrowed */
    struct xs_slice name;       /* in lower case */
    unsigned next;              /* lines from here on are done */
    struct xs_slice rest;       /* of the present line; data NULL: done */
};

/* Whether the quote at data[at] is a quoted one: `\"`. */
static bool quote_is_escaped(struct xs_slice text, size_t at)
{
    size_t slashes = 0;

    while (slashes < at && text.data[at - slashes - 1] == '\\') {
        slashes++;
    }
    return slashes % 2 != 0;
}

/* Where the last `mark` outside of a quoted string is; len: there is none. A
 * quoted string without a begin goes on to the left end. */
static size_t find_last(struct xs_slice text, uint8_t mark)
{
    bool quoted = false;

    for (size_t i = text.len; i > 0; i--) {
        uint8_t c = text.data[i - 1];

        if (c == '"' && !(quoted && quote_is_escaped(text, i - 1))) {
            quoted = !quoted;
        } else if (c == mark && !quoted) {
            return i - 1;
        }
    }
    return text.len;
}

/* Cut what follows the last `mark` off `rest`, trimmed. False at the end. */
static bool cut_last(struct xs_slice *rest, uint8_t mark, struct xs_slice *out)
{
    size_t at;

    if (rest->data == NULL) {
        return false;
    }
    at = find_last(*rest, mark);
    if (at == rest->len) {
        *out = xs_slice_trim(*rest);
        *rest = (struct xs_slice){NULL, 0};
        return true;
    }
    *out = xs_slice_trim(xs_slice_of(rest->data + at + 1, rest->len - at - 1));
    rest->len = at;
    return true;
}

static struct walk walk_of(const struct xs_head *head, struct xs_slice name)
{
    return (struct walk){
        .head = head,
        .name = name,
        .next = head->field_count,
    };
}

/* The element to the left, which is not empty. False at the end. */
static bool walk_left(struct walk *walk, struct xs_slice *out)
{
    for (;;) {
        while (cut_last(&walk->rest, ',', out)) {
            if (out->len > 0) {
                return true;
            }
        }
        do {
            if (walk->next == 0) {
                return false;
            }
            walk->next--;
        } while (!xs_slice_eq_lower(walk->head->fields[walk->next].name,
                                    walk->name));
        walk->rest = walk->head->fields[walk->next].value;
    }
}

/* ---- one address ---- */

/* A port, or 0 for what is none: "_hidden", or nothing. */
static uint16_t port_of(struct xs_slice text)
{
    uint64_t number = 0;

    return text.len <= 5 && xs_digits_get(text, &number) == 0 &&
                   number <= UINT16_MAX
               ? (uint16_t)number
               : 0;
}

/* Cut "1.2.3.4", "1.2.3.4:80", "::1", "[::1]" and "[::1]:80" into address and
 * port. False if it is none of them. */
static bool node_cut(struct xs_slice node, struct xs_slice *address,
                     struct xs_slice *port)
{
    const uint8_t *first;
    size_t colon;

    *address = node;
    *port = (struct xs_slice){NULL, 0};
    if (node.len == 0) {
        return false;
    }
    if (node.data[0] == '[') {
        const uint8_t *end = memchr(node.data, ']', node.len);
        size_t len = end == NULL ? 0 : (size_t)(end - node.data) + 1;

        if (end == NULL || (len < node.len && node.data[len] != ':')) {
            return false;
        }
        *address = xs_slice_of(node.data + 1, len - 2);
        if (len < node.len) {
            *port = xs_slice_of(node.data + len + 1, node.len - len - 1);
        }
        return true;
    }
    first = memchr(node.data, ':', node.len);
    if (first == NULL) {
        return true;
    }
    colon = (size_t)(first - node.data);
    if (memchr(first + 1, ':', node.len - colon - 1) != NULL) {
        return true; /* more than one: IPv6 */
    }
    *address = xs_slice_of(node.data, colon);
    *port = xs_slice_of(first + 1, node.len - colon - 1);
    return true;
}

/* Go on to `node`, whom a trusted proxy has named. True if it is trusted, and
 * what it says is to be heard. */
static bool forwarded_hop(struct xs_forwarded *out, struct xs_slice node,
                          const struct xs_proxies *proxies)
{
    char host[XS_ADDRESS_MAX];
    struct xs_slice address;
    struct xs_slice port;
    enum xs_hop hop;

    if (!node_cut(node, &address, &port)) {
        return false;
    }
    hop = proxies->look(proxies->user, address, host);
    if (hop == XS_HOP_UNKNOWN) {
        return false;
    }
    memcpy(out->host, host, sizeof host);
    out->port = port_of(port);
    return hop == XS_HOP_TRUSTED;
}

/* WebSocket proxies say what the client's URL had. */
static enum xs_scheme scheme_of(struct xs_slice text)
{
    if (xs_slice_eq_lower(text, XS_LIT("https")) ||
        xs_slice_eq_lower(text, XS_LIT("wss"))) {
        return XS_SCHEME_HTTPS;
    }
    if (xs_slice_eq_lower(text, XS_LIT("http")) ||
        xs_slice_eq_lower(text, XS_LIT("ws"))) {
        return XS_SCHEME_HTTP;
    }
    return XS_SCHEME_UNKNOWN;
}

/* ---- X-Forwarded-For, X-Forwarded-Proto ---- */

/* Proxies set the scheme or pass it on. If there are several all the same, the
 * last is the peer's own word: no place in this list says who wrote it. */
static void forwarded_read_legacy(struct xs_forwarded *out,
                                  const struct xs_head *head,
                                  const struct xs_proxies *proxies)
{
    struct walk hops = walk_of(head, XS_LIT("x-forwarded-for"));
    struct walk schemes = walk_of(head, XS_LIT("x-forwarded-proto"));
    struct xs_slice text;

    for (unsigned i = 0; i < XS_HOPS_MAX; i++) {
        if (!walk_left(&hops, &text) || !forwarded_hop(out, text, proxies)) {
            break;
        }
    }
    if (walk_left(&schemes, &text)) {
        out->scheme = scheme_of(text);
    }
}

/* ---- Forwarded ---- */

/* A value that may be quoted, as what it means: in place, since no address and
 * no scheme has a byte that needs a backslash. False if it is broken. */
static bool value_unquote(struct xs_slice *value)
{
    if (value->len == 0 || value->data[0] != '"') {
        return memchr(value->data, '"', value->len) == NULL;
    }
    if (value->len < 2 || value->data[value->len - 1] != '"') {
        return false;
    }
    *value = xs_slice_of(value->data + 1, value->len - 2);
    return memchr(value->data, '"', value->len) == NULL &&
           memchr(value->data, '\\', value->len) == NULL;
}

/* One element of the list (RFC 7239 4). */
struct element {
    struct xs_slice node; /* data NULL: none */
    enum xs_scheme scheme;
};

/* Take in "name=value". False if it makes no sense. */
static bool element_add(struct element *element, struct xs_slice pair)
{
    const uint8_t *equals = memchr(pair.data, '=', pair.len);
    struct xs_slice name;
    struct xs_slice value;

    if (equals == NULL) {
        return false;
    }
    name = xs_slice_of(pair.data, (size_t)(equals - pair.data));
    value = xs_slice_of(equals + 1, pair.len - name.len - 1);
    if (xs_slice_eq_lower(name, XS_LIT("for"))) {
        if (element->node.data != NULL || !value_unquote(&value)) {
            return false; /* RFC 7239 4: no parameter twice */
        }
        element->node = value;
    } else if (xs_slice_eq_lower(name, XS_LIT("proto"))) {
        if (element->scheme != XS_SCHEME_UNKNOWN || !value_unquote(&value)) {
            return false;
        }
        element->scheme = scheme_of(value);
    }
    return true;
}

static bool element_read(struct element *out, struct xs_slice text)
{
    struct xs_slice pair;

    *out = (struct element){.node = {NULL, 0}};
    while (cut_last(&text, ';', &pair)) {
        if (pair.len > 0 && !element_add(out, pair)) {
            return false;
        }
    }
    return true;
}

static void forwarded_read_rfc7239(struct xs_forwarded *out,
                                   const struct xs_head *head,
                                   const struct xs_proxies *proxies)
{
    struct walk walk = walk_of(head, XS_LIT("forwarded"));
    struct xs_slice text;
    struct element element;

    for (unsigned i = 0; i < XS_HOPS_MAX; i++) {
        if (!walk_left(&walk, &text) || !element_read(&element, text)) {
            return;
        }
        if (element.scheme != XS_SCHEME_UNKNOWN) {
            out->scheme = element.scheme;
        }
        if (!forwarded_hop(out, element.node, proxies)) {
            return;
        }
    }
}

void xs_forwarded_read(struct xs_forwarded *out, const struct xs_head *head,
                       const struct xs_proxies *proxies)
{
    XS_ASSERT(proxies->look != NULL);
    *out = (struct xs_forwarded){.port = 0};
    if (proxies->rfc7239) {
        forwarded_read_rfc7239(out, head, proxies);
    } else {
        forwarded_read_legacy(out, head, proxies);
    }
}
