/* fuzz_text.c - the small grammars, each against another reading of it.
 *
 * The first byte says which, the rest is the text:
 *
 *     A  authority          grammar.h, with inet_pton for addresses
 *     T  method target      grammar.h
 *     N  number             grammar.h, and there and back
 *     C  chunk-size line    grammar.h
 *     L  list               cut anew from the left
 *     W  which bytes        one by one
 *     D  date               strftime
 *     F  X-Forwarded-For    what a client puts on the left changes nothing:
 *     G  Forwarded          "left 0x1f right" is read as the right alone */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/base/limits.h"
#include "core/http1/chars.h"
#include "core/http1/date.h"
#include "core/http1/digits.h"
#include "core/http1/forwarded.h"
#include "core/http1/parser.h"
#include "core/http1/target.h"
#include "fuzz/fuzz.h"
#include "fuzz/grammar.h"

#define PART_END '\x1f'
#define TEXT_MAX 4000u

static void check_authority(struct xs_slice text)
{
    FUZZ_CHECK(xs_target_is_authority(text) == grammar_is_authority(text),
               "authority \"%s\" is read in two ways", fuzz_show(text));
}

static void check_same(struct xs_slice got, struct xs_slice wanted,
                       const char *what)
{
    FUZZ_CHECK(xs_slice_eq(got, wanted), "%s is not what it should be: \"%s\"",
               what, fuzz_show(got));
}

static void check_target(struct xs_slice text)
{
    struct xs_head head = {.minor = 1};
    struct grammar_target wanted;
    enum xs_refusal why;

    (void)grammar_cut(&text, ' ', &head.method);
    head.target = text;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] <= ' ' || text.data[i] >= 0x7f) {
            return; /* llhttp lets none of them through */
        }
    }
    why = xs_target_parse(&head);
    FUZZ_CHECK(
        (why == XS_REFUSE_NOT) == grammar_target(&wanted, head.method, text),
        "target \"%s\" is read in two ways", fuzz_show(text));
    if (why == XS_REFUSE_NOT) {
        check_same(head.path, wanted.path, "the path");
        check_same(head.query, wanted.query, "the query");
        check_same(head.authority, wanted.authority, "the authority");
    }
}

static void check_number(struct xs_slice text)
{
    uint64_t got = 0;
    uint64_t wanted;
    char back[32];
    uint8_t out[XS_DIGITS_MAX + XS_DIGITS_HEX_MAX + 1];
    uint8_t *end;
    bool legal = grammar_number(text, 10, &wanted);

    FUZZ_CHECK((xs_digits_get(text, &got) == 0) == legal,
               "number \"%s\" is read in two ways", fuzz_show(text));
    if (!legal) {
        memcpy(&got, text.data, text.len < 8 ? text.len : 8);
        wanted = got;
    }
    FUZZ_CHECK(got == wanted, "number \"%s\" is another", fuzz_show(text));
    (void)snprintf(back, sizeof back, "%" PRIu64, got);
    end = xs_digits_put(out, got);
    check_same(xs_slice_of(out, (size_t)(end - out)), xs_slice_str(back),
               "a number");
    (void)snprintf(back, sizeof back, "%" PRIx64, got);
    end = xs_digits_put_hex(out, got);
    check_same(xs_slice_of(out, (size_t)(end - out)), xs_slice_str(back),
               "a number in hexadecimal");
}

/* A chunked request whose first size line is the text. */
static void check_chunk_size(struct xs_slice text)
{
    static const char head[] =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    static uint8_t block[sizeof head + TEXT_MAX + 2];
    struct xs_field fields[8];
    struct xs_parser parser;
    struct xs_limits limits = xs_limits_default();
    struct xs_slice size;
    uint64_t wanted;
    size_t len = sizeof head - 1;
    size_t used;
    bool plain = memchr(text.data, ';', text.len) == NULL;
    enum xs_parse what;

    if (text.len > TEXT_MAX || xs_chars_have_line_end(text)) {
        return; /* it would be more than a line */
    }
    memcpy(block, head, len);
    memcpy(block + len, text.data, text.len);
    memcpy(block + len + text.len, "\r\n", 2);
    xs_parser_init(&parser, &limits);
    xs_parser_fields(&parser, fields, XS_COUNT_OF(fields));
    what = xs_parser_feed(&parser, block, len, &used);
    FUZZ_CHECK(what == XS_PARSE_HEAD, "a plain head is refused");
    what = xs_parser_feed(&parser, block + len, text.len + 2, &used);
    (void)grammar_cut(&text, ';', &size);
    if (!grammar_number(size, 16, &wanted)) {
        FUZZ_CHECK(what == XS_PARSE_REFUSE, "what is no chunk size is one");
    } else if (what != XS_PARSE_REFUSE) {
        FUZZ_CHECK(parser.ll.content_length == wanted,
                   "a chunk of another size");
    } else {
        FUZZ_CHECK(!plain || size.len > XS_CHUNK_FRAMING,
                   "a chunk size is refused");
    }
}

static void check_list(struct xs_slice text)
{
    struct xs_slice rest = text;
    struct xs_slice wanted = text;
    struct xs_slice element;
    bool more = text.len > 0;

    check_same(xs_slice_trim(text), grammar_trim(text), "a trimmed text");
    while (more) {
        struct xs_slice cut;

        more = grammar_cut(&wanted, ',', &cut);
        FUZZ_CHECK(xs_slice_list_next(&rest, &element),
                   "a list ends too early");
        check_same(element, grammar_trim(cut), "an element");
    }
    FUZZ_CHECK(text.len == 0 || !xs_slice_list_next(&rest, &element),
               "a list has no end");
}

static void check_bytes(struct xs_slice text)
{
    uint8_t lower[TEXT_MAX];
    bool line_end = false;
    size_t len = text.len < sizeof lower ? text.len : sizeof lower;

    for (size_t i = 0; i < text.len; i++) {
        line_end |=
            text.data[i] == '\r' || text.data[i] == '\n' || text.data[i] == 0;
    }
    FUZZ_CHECK(xs_chars_have_line_end(text) == line_end,
               "a line end is there or not");
    FUZZ_CHECK((text.len > 0 && xs_chars_all(text, XS_CHAR_TOKEN)) ==
                   grammar_is_token(text),
               "a token is one or not");
    FUZZ_CHECK(xs_chars_all(text, XS_CHAR_TEXT) == grammar_is_text(text),
               "a text is one or not");
    for (size_t i = 0; i < len; i++) {
        lower[i] = (uint8_t)tolower(text.data[i]);
    }
    FUZZ_CHECK(
        xs_slice_eq_lower(xs_slice_of(text.data, len), xs_slice_of(lower, len)),
        "letters are not the same in lower case");
}

static void check_date(struct xs_slice text)
{
    uint64_t wall_ns = 0;
    uint8_t got[XS_DATE_LEN];
    char wanted[XS_DATE_LEN + 1];
    time_t seconds;
    struct tm tm;

    memcpy(&wall_ns, text.data, text.len < 8 ? text.len : 8);
    seconds = (time_t)(wall_ns / XS_SECOND_NS);
    FUZZ_CHECK(xs_date_put(got, wall_ns) == got + XS_DATE_LEN,
               "a date of another length");
    if (gmtime_r(&seconds, &tm) != NULL &&
        strftime(wanted, sizeof wanted, "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0) {
        check_same(xs_slice_of(got, XS_DATE_LEN), xs_slice_str(wanted),
                   "a date");
    }
}

/* Proxies are those whose address begins with a 1. */
static enum xs_hop look(void *user, struct xs_slice address,
                        char out[XS_ADDRESS_MAX])
{
    bool *client = user;

    if (address.len == 0 || address.len >= XS_ADDRESS_MAX ||
        !isxdigit(address.data[0])) {
        return XS_HOP_UNKNOWN;
    }
    memset(out, 0, XS_ADDRESS_MAX);
    memcpy(out, address.data, address.len);
    *client = address.data[0] != '1';
    return *client ? XS_HOP_CLIENT : XS_HOP_TRUSTED;
}

/* What the lines of a field say. True if they name a client. */
static bool read_forwarded(struct xs_forwarded *out, bool rfc7239,
                           const struct xs_slice *lines, unsigned count)
{
    struct xs_field fields[2];
    const struct xs_head head = {.fields = fields, .field_count = count};
    bool client = false;
    const struct xs_proxies proxies = {
        .look = look, .user = &client, .rfc7239 = rfc7239};

    for (unsigned i = 0; i < count; i++) {
        fields[i].name =
            rfc7239 ? XS_LIT("Forwarded") : XS_LIT("x-forwarded-FOR");
        fields[i].value = lines[i];
    }
    xs_forwarded_read(out, &head, &proxies);
    FUZZ_CHECK(memchr(out->host, 0, sizeof out->host) != NULL,
               "an address without an end");
    return client;
}

static bool is_same(const struct xs_forwarded *a, const struct xs_forwarded *b)
{
    return strcmp(a->host, b->host) == 0 && a->port == b->port &&
           a->scheme == b->scheme;
}

static void check_forwarded(struct xs_slice text, bool rfc7239)
{
    static struct xs_bytes joined;
    struct xs_forwarded alone;
    struct xs_forwarded apart;
    struct xs_forwarded together;
    struct xs_slice lines[2];
    struct xs_slice whole;
    bool client;

    lines[1] = text;
    (void)grammar_cut(&lines[1], PART_END, &lines[0]);
    joined.len = 0;
    xs_bytes_add(&joined, lines[0]);
    xs_bytes_add(&joined, XS_LIT(", "));
    xs_bytes_add(&joined, lines[1]);
    whole = xs_slice_of(joined.data, joined.len);
    client = read_forwarded(&alone, rfc7239, &lines[1], 1);
    (void)read_forwarded(&together, rfc7239, &whole, 1);
    (void)read_forwarded(&apart, rfc7239, lines, 2);
    if (lines[1].len > 0 && memchr(lines[1].data, '"', lines[1].len) != NULL) {
        return; /* a proxy closes the quotes that it opens */
    }
    /* RFC 9110 5.3: the lines of a field are one list. */
    FUZZ_CHECK(
        is_same(&apart, &together) || memchr(text.data, '"', text.len) != NULL,
        "two lines are not one list: \"%s\"", fuzz_show(whole));
    FUZZ_CHECK(
        !client || (is_same(&alone, &together) && is_same(&alone, &apart)),
        "what the client says itself is believed: \"%s\"", fuzz_show(whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xs_slice text;

    if (size < 2) {
        return 0;
    }
    text = xs_slice_of(data + 1, size - 1);
    switch (data[0]) {
        case 'A':
            check_authority(text);
            break;
        case 'T':
            check_target(text);
            break;
        case 'N':
            check_number(text);
            break;
        case 'C':
            check_chunk_size(text);
            break;
        case 'L':
            check_list(text);
            break;
        case 'W':
            check_bytes(text);
            break;
        case 'D':
            check_date(text);
            break;
        case 'F':
        case 'G':
            check_forwarded(text, data[0] == 'G');
            break;
        default:
            break;
    }
    return 0;
}
