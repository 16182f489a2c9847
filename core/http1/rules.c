/* rules.c - what a request head means, and whether it may mean it. */

#include "core/http1/rules.h"

#include "core/http1/target.h"

/* The fields that the rules look at: the last of each, and how many. */
struct rules_fields {
    struct xs_field *host;
    struct xs_field *coding;
    unsigned hosts;
    unsigned codings;
    unsigned expects;
    bool expect_known; /* every expectation is "100-continue" */
    bool close;        /* a Connection field has the option "close" */
    bool keep_alive;   /* likewise */
    bool upgrade;      /* likewise */
    bool trailers;     /* a TE field says so */
    bool forwarded;    /* a proxy, or who poses as one, has said something */
};

/* llhttp leaves blanks at the end of a value. */
static void field_trim(struct xs_field *field)
{
    struct xs_slice *value = &field->value;

    while (value->len > 0 && (value->data[value->len - 1] == ' ' ||
                              value->data[value->len - 1] == '\t')) {
        value->len--;
    }
}

static void scan_connection(struct rules_fields *found, struct xs_slice value)
{
    struct xs_slice option;

    while (xs_slice_list_next(&value, &option)) {
        found->close |= xs_slice_eq_lower(option, XS_LIT("close"));
        found->keep_alive |= xs_slice_eq_lower(option, XS_LIT("keep-alive"));
        found->upgrade |= xs_slice_eq_lower(option, XS_LIT("upgrade"));
    }
}

static void scan_expect(struct rules_fields *found, struct xs_slice value)
{
    struct xs_slice expectation;

    while (xs_slice_list_next(&value, &expectation)) {
        if (expectation.len > 0) {
            found->expects++;
            found->expect_known &=
                xs_slice_eq_lower(expectation, XS_LIT("100-continue"));
        }
    }
}

/* RFC 9110 10.1.4. Whether Connection names it is for intermediaries. */
static void scan_te(struct rules_fields *found, struct xs_slice value)
{
    struct xs_slice coding;

    while (xs_slice_list_next(&value, &coding)) {
        found->trailers |= xs_slice_eq_lower(coding, XS_LIT("trailers"));
    }
}

/* One pass; most fields are passed over by their length alone. */
static struct rules_fields rules_scan(const struct xs_head *head)
{
    struct rules_fields found = {.expect_known = true};

    for (unsigned i = 0; i < head->field_count; i++) {
        struct xs_field *field = &head->fields[i];

        field_trim(field);
        switch (field->name.len) {
            case 2:
                if (xs_slice_eq_lower(field->name, XS_LIT("te"))) {
                    scan_te(&found, field->value);
                }
                break;
            case 4:
                if (xs_slice_eq_lower(field->name, XS_LIT("host"))) {
                    found.host = field;
                    found.hosts++;
                }
                break;
            case 6:
                if (xs_slice_eq_lower(field->name, XS_LIT("expect"))) {
                    scan_expect(&found, field->value);
                }
                break;
            case 9:
                found.forwarded |=
                    xs_slice_eq_lower(field->name, XS_LIT("forwarded"));
                break;
            case 10:
                if (xs_slice_eq_lower(field->name, XS_LIT("connection"))) {
                    scan_connection(&found, field->value);
                }
                break;
            case 15:
                found.forwarded |=
                    xs_slice_eq_lower(field->name, XS_LIT("x-forwarded-for"));
                break;
            case 17:
                found.forwarded |=
                    xs_slice_eq_lower(field->name, XS_LIT("x-forwarded-proto"));
                if (xs_slice_eq_lower(field->name,
                                      XS_LIT("transfer-encoding"))) {
                    found.coding = field;
                    found.codings++;
                }
                break;
            default:
                break;
        }
    }
    return found;
}

/* A higher minor version of HTTP/1 is read as 1.1 (RFC 9110 2.5). */
static enum xs_refusal rules_version(struct xs_head *head,
                                     const struct xs_rules_seen *seen)
{
    if (seen->major != 1) {
        return XS_REFUSE_VERSION;
    }
    head->minor = seen->minor > 0 ? 1 : 0;
    return XS_REFUSE_NOT;
}

/* RFC 9112 3.2: exactly one valid Host, which HTTP/1.0 may leave out. */
static enum xs_refusal rules_host(struct xs_head *head,
                                  const struct rules_fields *found)
{
    head->host = head->authority;
    if (found->hosts > 1 || (found->hosts == 0 && head->minor > 0)) {
        return XS_REFUSE_HOST;
    }
    if (found->hosts == 0) {
        return XS_REFUSE_NOT;
    }
    if (!xs_target_is_authority(found->host->value)) {
        return XS_REFUSE_HOST;
    }
    if (head->authority.len > 0) {
        found->host->value = head->authority;
    }
    head->host = found->host->value;
    return XS_REFUSE_NOT;
}

/* RFC 9112 6.1: "chunked" alone is implemented. What does not end in it has
 * no end that we could know. */
static enum xs_refusal rules_coding(const struct rules_fields *found)
{
    struct xs_slice rest = found->coding->value;
    struct xs_slice coding;
    unsigned others = 0;
    unsigned chunked = 0;
    bool last = false;

    if (found->codings != 1) {
        return XS_REFUSE_FRAMING;
    }
    while (xs_slice_list_next(&rest, &coding)) {
        last = xs_slice_eq_lower(coding, XS_LIT("chunked"));
        if (coding.len == 0) {
            return XS_REFUSE_FRAMING;
        }
        if (last) {
            chunked++;
        } else {
            others++;
        }
    }
    if (!last || chunked != 1) {
        return XS_REFUSE_FRAMING;
    }
    return others > 0 ? XS_REFUSE_CODING : XS_REFUSE_NOT;
}

static enum xs_refusal rules_framing(struct xs_head *head,
                                     const struct xs_rules_seen *seen,
                                     const struct rules_fields *found,
                                     uint64_t body_max)
{
    enum xs_refusal why;

    head->framing = XS_FRAMING_NONE;
    head->length = 0;
    if (found->codings > 0) {
        /* RFC 9112 6.1: with Content-Length, or from an HTTP/1.0 client,
         * somebody has been deceived. */
        if (seen->has_length || head->minor == 0) {
            return XS_REFUSE_FRAMING;
        }
        why = rules_coding(found);
        if (why != XS_REFUSE_NOT) {
            return why;
        }
        if (!seen->is_chunked) {
            return XS_REFUSE_FRAMING;
        }
        head->framing = XS_FRAMING_CHUNKED;
        return XS_REFUSE_NOT;
    }
    if (seen->has_coding) {
        return XS_REFUSE_FRAMING;
    }
    if (seen->has_length && seen->length > 0) {
        if (seen->length > body_max) {
            return XS_REFUSE_BODY_SIZE;
        }
        head->framing = XS_FRAMING_LENGTH;
        head->length = seen->length;
    }
    return XS_REFUSE_NOT;
}

/* RFC 9110 10.1.1: HTTP/1.0 knows no expectations, and a request without a
 * body does not wait. */
static enum xs_refusal rules_expect(struct xs_head *head,
                                    const struct rules_fields *found)
{
    head->expect_continue = false;
    if (found->expects == 0 || head->minor == 0) {
        return XS_REFUSE_NOT;
    }
    if (!found->expect_known) {
        return XS_REFUSE_EXPECT;
    }
    head->expect_continue = head->framing != XS_FRAMING_NONE;
    return XS_REFUSE_NOT;
}

enum xs_refusal xs_rules_apply(struct xs_head *head,
                               const struct xs_rules_seen *seen,
                               const struct xs_limits *limits)
{
    struct rules_fields found;
    enum xs_refusal why = rules_version(head, seen);

    if (why != XS_REFUSE_NOT) {
        return why;
    }
    why = xs_target_parse(head);
    if (why != XS_REFUSE_NOT) {
        return why;
    }
    found = rules_scan(head);
    why = rules_host(head, &found);
    if (why != XS_REFUSE_NOT) {
        return why;
    }
    why = rules_framing(head, seen, &found, limits->request_body_max);
    if (why != XS_REFUSE_NOT) {
        return why;
    }
    /* RFC 9112 9.3: "close" wins, whatever else is said. */
    head->keep_alive = !found.close && (head->minor > 0 || found.keep_alive);
    /* RFC 9110 7.8: from HTTP/1.0 it is no offer. */
    head->upgrade = found.upgrade && head->minor > 0;
    head->trailers = found.trailers;
    head->forwarded = found.forwarded;
    head->is_head = xs_slice_eq(head->method, XS_LIT("HEAD"));
    return rules_expect(head, &found);
}
