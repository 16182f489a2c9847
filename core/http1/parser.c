/* parser.c - bytes of a connection become request heads and body bytes.
 *
 * The happy path of one message:
 *
 *   1. feed skips empty lines, and gives the rest to llhttp.
 *   2. on_url, on_version, on_header_field and on_header_value note where
 *      things lie. Nothing is copied: a span that is split over two calls is
 *      made longer, since the bytes lie next to each other.
 *   3. on_headers_complete collects what llhttp knows, lets the rules decide,
 *      and pauses.
 *   4. A body of known length is counted here; llhttp has nothing to say about
 *      it. A chunked one is resumed: on_body moves the data together.
 *   5. on_message_complete pauses. llhttp begins anew with each message, so
 *      that offers of another protocol are ignored (RFC 9110 7.8): it never
 *      comes to the place where it would wait for that protocol.
 *
 * It fails in one way: `refusal` is set, by a callback that returns -1 or from
 * what llhttp complains about, and nothing is fed any more. */

#include "core/http1/parser.h"

#include "core/http1/fault.h"
#include "core/http1/rules.h"

_Static_assert(LLHTTP_VERSION_MAJOR > 9 || LLHTTP_VERSION_MINOR >= 3,
               "llhttp 9.3 or newer is needed");

#define CB_OK 0
#define CB_FAIL (-1)

static struct xs_parser *parser_of(llhttp_t *ll)
{
    return xs_container_of(ll, struct xs_parser, ll);
}

/* What a callback returns when the request is refused. */
static int parser_fail(struct xs_parser *parser, enum xs_refusal why)
{
    XS_ASSERT(parser->refusal == XS_REFUSE_NOT);
    parser->refusal = why;
    return CB_FAIL;
}

/* What a callback returns when the request is refused, or not. */
static int parser_check(struct xs_parser *parser, enum xs_refusal why)
{
    return why == XS_REFUSE_NOT ? CB_OK : parser_fail(parser, why);
}

static int on_url(llhttp_t *ll, const char *at, size_t len)
{
    struct xs_parser *parser = parser_of(ll);
    struct xs_head *head = &parser->head;
    const uint8_t *begin = (const uint8_t *)at;

    if (head->target.data == NULL) {
        head->method.len = (size_t)(begin - head->method.data) - 1;
    }
    xs_slice_extend(&head->target, begin, len);
    if ((size_t)(begin + len - head->method.data) >
        parser->limits->request_line_max) {
        return parser_fail(parser, XS_REFUSE_LINE_SIZE);
    }
    return CB_OK;
}

/* The request line, of which `version` begins the last part. llhttp takes any
 * number of spaces, and also the methods and versions of other protocols. The
 * digits are for the rules to look at. */
static enum xs_refusal parser_line(const struct xs_parser *parser,
                                   const uint8_t *version)
{
    const struct xs_head *head = &parser->head;
    struct xs_slice method = head->method;
    const uint8_t *target_end = head->target.data + head->target.len;
    unsigned known = parser->ll.method;

    if (method.len == 0 || method.data[method.len - 1] == ' ') {
        return XS_REFUSE_SYNTAX;
    }
    if (known == HTTP_PRI || memcmp(version - 5, "HTTP/", 5) != 0) {
        return XS_REFUSE_VERSION; /* HTTP/2's preface, RTSP, ICE */
    }
    if (version - 6 != target_end) {
        return XS_REFUSE_SYNTAX;
    }
    /* CONNECT asks for a tunnel, which an origin server must not open. */
    if (known == HTTP_CONNECT || xs_fault_is_foreign(known)) {
        return XS_REFUSE_METHOD;
    }
    if ((size_t)(version + sizeof "1.1" - 1 - method.data) >
        parser->limits->request_line_max) {
        return XS_REFUSE_LINE_SIZE;
    }
    return XS_REFUSE_NOT;
}

static int on_version(llhttp_t *ll, const char *at, size_t len)
{
    struct xs_parser *parser = parser_of(ll);

    (void)len;
    if (parser->has_version) {
        return CB_OK;
    }
    parser->has_version = true;
    return parser_check(parser, parser_line(parser, (const uint8_t *)at));
}

/* The request line has ended without a version: HTTP/0.9. */
static enum xs_refusal parser_no_version(const struct xs_parser *parser)
{
    return xs_fault_is_foreign(parser->ll.method) ? XS_REFUSE_METHOD
                                                  : XS_REFUSE_SYNTAX;
}

static int on_header_field(llhttp_t *ll, const char *at, size_t len)
{
    struct xs_parser *parser = parser_of(ll);
    struct xs_head *head = &parser->head;
    const uint8_t *begin = (const uint8_t *)at;
    struct xs_field *field;

    if (parser->state != XS_PARSER_HEAD) {
        return parser_check(
            parser, /* and it is dropped */
            xs_extra_trailer(&parser->extra, parser->limits, begin));
    }
    if (!parser->has_version) {
        return parser_fail(parser, parser_no_version(parser));
    }
    if (parser->in_name) {
        field = &head->fields[head->field_count - 1];
    } else {
        if (head->field_count >= parser->limits->request_fields_max ||
            head->field_count >= parser->fields_cap) {
            return parser_fail(parser, XS_REFUSE_FIELD_COUNT);
        }
        field = &head->fields[head->field_count++];
        *field = (struct xs_field){{NULL, 0}, {NULL, 0}};
        parser->in_name = true;
    }
    xs_slice_extend(&field->name, begin, len);
    if (field->name.len > parser->limits->request_field_max) {
        return parser_fail(parser, XS_REFUSE_FIELD_SIZE);
    }
    return CB_OK;
}

static int on_header_value(llhttp_t *ll, const char *at, size_t len)
{
    struct xs_parser *parser = parser_of(ll);
    struct xs_head *head = &parser->head;
    const uint8_t *begin = (const uint8_t *)at;
    struct xs_field *field;

    if (parser->state != XS_PARSER_HEAD) {
        return CB_OK;
    }
    XS_ASSERT(head->field_count > 0);
    parser->in_name = false;
    field = &head->fields[head->field_count - 1];
    xs_slice_extend(&field->value, begin, len);
    if ((size_t)(begin + len - field->name.data) >
        parser->limits->request_field_max) {
        return parser_fail(parser, XS_REFUSE_FIELD_SIZE);
    }
    return CB_OK;
}

static int on_headers_complete(llhttp_t *ll)
{
    struct xs_parser *parser = parser_of(ll);
    const struct xs_rules_seen seen = {
        .length = ll->content_length,
        .major = ll->http_major,
        .minor = ll->http_minor,
        .has_length = (ll->flags & F_CONTENT_LENGTH) != 0,
        .has_coding = (ll->flags & F_TRANSFER_ENCODING) != 0,
        .is_chunked = (ll->flags & F_CHUNKED) != 0,
    };
    enum xs_refusal why;

    XS_ASSERT(parser->state == XS_PARSER_HEAD);
    if (!parser->has_version) {
        return parser_fail(parser, parser_no_version(parser));
    }
    why = xs_rules_apply(&parser->head, &seen, parser->limits);
    if (why != XS_REFUSE_NOT) {
        return parser_fail(parser, why);
    }
    parser->state = XS_PARSER_READY;
    return HPE_PAUSED;
}

/* The name or the value of a chunk extension, or a part of it. */
static int on_extension(llhttp_t *ll, const char *at, size_t len)
{
    return parser_check(parser_of(ll), xs_extra_word(&parser_of(ll)->extra,
                                                     xs_slice_of(at, len)));
}

/* And its end. */
static int on_extension_end(llhttp_t *ll)
{
    return parser_check(parser_of(ll),
                        xs_extra_word_end(&parser_of(ll)->extra));
}

static int on_chunk_header(llhttp_t *ll)
{
    struct xs_parser *parser = parser_of(ll);
    uint64_t max = parser->limits->request_body_max;

    XS_ASSERT(parser->body_total <= max);
    if (ll->content_length > max - parser->body_total) {
        return parser_fail(parser, XS_REFUSE_BODY_SIZE);
    }
    return CB_OK;
}

/* Put the data at `at` behind the body bytes that wait. */
static void parser_add_body(struct xs_parser *parser, uint8_t *at, size_t len)
{
    if (parser->body_len == 0) {
        parser->body = at;
    }
    XS_ASSERT(parser->body + parser->body_len <= at);
    if (parser->body + parser->body_len != at) {
        memmove(parser->body + parser->body_len, at, len);
    }
    parser->body_len += len;
    parser->body_total += len;
}

static int on_body(llhttp_t *ll, const char *at, size_t len)
{
    struct xs_parser *parser = parser_of(ll);
    enum xs_refusal why =
        xs_extra_data(&parser->extra, parser->limits, (const uint8_t *)at, len);

    if (why != XS_REFUSE_NOT) {
        return parser_fail(parser, why);
    }
    parser_add_body(parser, parser->extra.mark - len, len);
    return CB_OK;
}

static int on_message_complete(llhttp_t *ll)
{
    struct xs_parser *parser = parser_of(ll);

    XS_ASSERT(parser->state == XS_PARSER_BODY);
    parser->state = XS_PARSER_IDLE;
    return HPE_PAUSED;
}

static const llhttp_settings_t parser_callbacks = {
    .on_url = on_url,
    .on_version = on_version,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_chunk_extension_name = on_extension,
    .on_chunk_extension_name_complete = on_extension_end,
    .on_chunk_extension_value = on_extension,
    .on_chunk_extension_value_complete = on_extension_end,
    .on_chunk_header = on_chunk_header,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

void xs_parser_init(struct xs_parser *parser, const struct xs_limits *limits)
{
    *parser = (struct xs_parser){.limits = limits};
    llhttp_init(&parser->ll, HTTP_REQUEST, &parser_callbacks);
    /* The rules look at the version, and take HTTP/1.2 for 1.1. */
    llhttp_set_lenient_version(&parser->ll, 1);
}

void xs_parser_fields(struct xs_parser *parser, struct xs_field *fields,
                      unsigned cap)
{
    XS_ASSERT(parser->state == XS_PARSER_IDLE);
    XS_ASSERT(!parser->began);
    parser->head.fields = fields;
    parser->fields_cap = cap;
}

/* The first byte of a message is at `data`. */
static void parser_begin(struct xs_parser *parser, const uint8_t *data)
{
    XS_ASSERT(parser->head.fields != NULL);
    parser->head = (struct xs_head){
        .method = {data, 0},
        .fields = parser->head.fields,
    };
    parser->body = NULL;
    parser->body_len = 0;
    parser->body_total = 0;
    parser->extra = (struct xs_extra){.owed = 0};
    parser->empty = 0;
    parser->has_version = false;
    parser->began = true;
    parser->state = XS_PARSER_HEAD;
    llhttp_reset(&parser->ll);
}

static enum xs_parse parser_refuse(struct xs_parser *parser,
                                   enum xs_refusal why)
{
    XS_ASSERT(why != XS_REFUSE_NOT);
    parser->refusal = why;
    parser->state = XS_PARSER_REFUSED;
    return XS_PARSE_REFUSE;
}

static enum xs_parse parser_end(struct xs_parser *parser)
{
    parser->state = XS_PARSER_IDLE;
    parser->began = false;
    return XS_PARSE_END;
}

/* Skip empty lines. XS_PARSE_HEAD if a message begins at data[*used]. */
static enum xs_parse parser_skip(struct xs_parser *parser, const uint8_t *data,
                                 size_t len, size_t *used)
{
    size_t i = 0;

    while (i < len && data[i] == (parser->empty % 2 == 0 ? '\r' : '\n')) {
        parser->empty++;
        i++;
        if (parser->empty > XS_EMPTY_LINES_MAX) {
            return parser_refuse(parser, XS_REFUSE_SYNTAX);
        }
    }
    *used = i;
    if (i == len) {
        return XS_PARSE_MORE;
    }
    if (parser->empty % 2 != 0 || data[i] == '\n') {
        return parser_refuse(parser, XS_REFUSE_SYNTAX);
    }
    return XS_PARSE_HEAD;
}

/* The request line has ended, before `end`, without a version: whatever comes
 * behind it, or nothing, that is what is wrong. */
static bool parser_is_http09(const struct xs_parser *parser, const uint8_t *end)
{
    const uint8_t *line = parser->head.method.data;

    return !parser->has_version &&
           memchr(line, '\n', (size_t)(end - line)) != NULL;
}

/* llhttp has nothing against the head up to `end`, which may be its own. */
static enum xs_parse parser_head(struct xs_parser *parser, const uint8_t *end)
{
    size_t len = (size_t)(end - parser->head.method.data);

    if (len > parser->limits->request_head_max) {
        return parser_refuse(parser, XS_REFUSE_HEAD_SIZE);
    }
    if (parser->state == XS_PARSER_READY) {
        return XS_PARSE_HEAD;
    }
    return parser_is_http09(parser, end)
               ? parser_refuse(parser, parser_no_version(parser))
               : XS_PARSE_MORE;
}

/* llhttp stopped at `end`. */
static enum xs_refusal parser_fault(const struct xs_parser *parser, int err,
                                    const uint8_t *end)
{
    const struct xs_head *head = &parser->head;
    struct xs_fault fault = {
        .err = err,
        .flags = parser->ll.flags,
        .method = parser->ll.method,
        .in_head = parser->state == XS_PARSER_HEAD,
        .has_target = head->target.data != NULL,
        .has_version = parser->has_version,
    };

    if (fault.in_head && parser_is_http09(parser, end)) {
        return parser_no_version(parser);
    }
    if (fault.in_head && !fault.has_target) {
        fault.bytes = xs_slice_of(head->method.data,
                                  (size_t)(end - head->method.data) + 1);
    }
    return xs_fault_refusal(&fault);
}

/* Let llhttp read, up to the next end or fault. */
static enum xs_parse parser_run(struct xs_parser *parser, uint8_t *data,
                                size_t len, size_t *used)
{
    const uint8_t *end = data + len;
    enum xs_refusal why;
    int err;

    xs_extra_input(&parser->extra, data);
    err = (int)llhttp_execute(&parser->ll, (const char *)data, len);
    if (err != HPE_OK) {
        end = (const uint8_t *)llhttp_get_error_pos(&parser->ll);
    }
    *used = (size_t)(end - data);
    if (parser->refusal != XS_REFUSE_NOT) {
        return parser_refuse(parser, parser->refusal);
    }
    if (err != HPE_OK && err != HPE_PAUSED) {
        return parser_refuse(parser, parser_fault(parser, err, end));
    }
    if (parser->state == XS_PARSER_HEAD || parser->state == XS_PARSER_READY) {
        return parser_head(parser, end);
    }
    why = xs_extra_end(&parser->extra, parser->limits, end);
    if (why != XS_REFUSE_NOT) {
        return parser_refuse(parser, why);
    }
    return err == HPE_PAUSED ? parser_end(parser) : XS_PARSE_MORE;
}

static enum xs_parse parser_body(struct xs_parser *parser, uint8_t *data,
                                 size_t len, size_t *used)
{
    uint64_t left;

    if (parser->head.framing == XS_FRAMING_CHUNKED) {
        return parser_run(parser, data, len, used);
    }
    left = parser->head.length - parser->body_total;
    *used = len < left ? len : (size_t)left;
    if (*used > 0) {
        parser_add_body(parser, data, *used);
    }
    return parser->body_total == parser->head.length ? parser_end(parser)
                                                     : XS_PARSE_MORE;
}

enum xs_parse xs_parser_feed(struct xs_parser *parser, uint8_t *data,
                             size_t len, size_t *used)
{
    size_t skipped = 0;
    enum xs_parse what;

    *used = 0;
    switch (parser->state) {
        case XS_PARSER_IDLE:
            what = parser_skip(parser, data, len, &skipped);
            *used = skipped;
            if (what != XS_PARSE_HEAD) {
                return what;
            }
            parser_begin(parser, data + skipped);
            what = parser_run(parser, data + skipped, len - skipped, used);
            *used += skipped;
            return what;
        case XS_PARSER_HEAD:
            return parser_run(parser, data, len, used);
        case XS_PARSER_READY:
            if (parser->head.framing == XS_FRAMING_NONE) {
                return parser_end(parser);
            }
            parser->state = XS_PARSER_BODY;
            llhttp_resume(&parser->ll);
            return parser_body(parser, data, len, used);
        case XS_PARSER_BODY:
            return parser_body(parser, data, len, used);
        case XS_PARSER_REFUSED:
            break;
    }
    XS_UNREACHABLE();
}

bool xs_parser_is_head(const struct xs_parser *parser)
{
    return parser->began && parser->head.target.data != NULL &&
           xs_slice_eq(parser->head.method, XS_LIT("HEAD"));
}

void xs_parser_rebase(struct xs_parser *parser, ptrdiff_t delta)
{
    struct xs_head *head = &parser->head;

    if (parser->state != XS_PARSER_HEAD) {
        XS_ASSERT(parser->state == XS_PARSER_IDLE);
        return;
    }
    xs_slice_move(&head->method, delta);
    xs_slice_move(&head->target, delta);
    for (unsigned i = 0; i < head->field_count; i++) {
        xs_slice_move(&head->fields[i].name, delta);
        xs_slice_move(&head->fields[i].value, delta);
    }
}
