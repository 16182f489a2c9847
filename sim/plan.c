/* plan.c - what a scripted client will ask for, and what that means. */

#include "sim/plan.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

static const struct {
    struct xs_slice name;
    bool has_body;
} plan_methods[] = {
    {{(const uint8_t *)"GET", 3}, false},
    {{(const uint8_t *)"POST", 4}, true},
    {{(const uint8_t *)"PUT", 3}, true},
    {{(const uint8_t *)"HEAD", 4}, false},
    {{(const uint8_t *)"DELETE", 6}, true},
    {{(const uint8_t *)"OPTIONS", 7}, false},
    {{(const uint8_t *)"PATCH", 5}, true},
    {{(const uint8_t *)"GET", 3}, true}, /* odd, and legal */
};

size_t xs_plan_size(struct xs_tape *tape, enum xs_label label, size_t max)
{
    static const uint32_t caps[] = {16, 64, 64, 1000, 1000, 20000, 70000};
    uint32_t scale = xs_choose(tape, label, XS_COUNT_OF(caps) + 1);
    uint32_t cap = (uint32_t)max;

    if (scale < XS_COUNT_OF(caps) && caps[scale] < max) {
        cap = caps[scale];
    }
    return xs_size(tape, label, cap);
}

/* The Connection field, and what it says with this version. */
static void plan_connection(struct xs_plan *plan, struct xs_tape *tape,
                            struct xs_bytes *stream)
{
    plan->keep_alive = plan->minor > 0;
    plan->field_count++;
    switch (xs_choose(tape, XS_LABEL_PEER_REQUEST, 8)) {
        case 5:
            xs_bytes_print(stream, "Connection: keep-alive\r\n");
            plan->keep_alive = true;
            break;
        case 6:
            xs_bytes_print(stream, "Connection: x-odd , Close\r\n");
            plan->keep_alive = false;
            break;
        case 7:
            xs_bytes_print(stream, "connection:close\r\n");
            plan->keep_alive = false;
            break;
        default:
            plan->field_count--;
            break;
    }
}

static void plan_chunks(const struct xs_plan *plan, struct xs_tape *tape,
                        struct xs_slice body, struct xs_bytes *stream)
{
    bool trailer = xs_flip(tape, XS_LABEL_PEER_BODY, (struct xs_ratio){1, 8});

    XS_ASSERT(plan->chunked);
    for (unsigned i = 0; body.len > 0; i++) {
        size_t len = body.len;

        if (i < 20 &&
            xs_flip(tape, XS_LABEL_PEER_BODY, (struct xs_ratio){1, 2})) {
            len -= xs_size(tape, XS_LABEL_PEER_BODY, (uint32_t)len - 1);
        }
        xs_bytes_print(stream, i % 3 == 1 ? "%zX;odd=\"a;b\"\r\n" : "%zx\r\n",
                       len);
        xs_bytes_add(stream, xs_slice_of(body.data, len));
        xs_bytes_add(stream, XS_LIT("\r\n"));
        body = xs_slice_of(body.data + len, body.len - len);
    }
    xs_bytes_add(stream, XS_LIT("0\r\n"));
    if (trailer) {
        xs_bytes_add(stream, XS_LIT("X-Trailer: t\r\n"));
    }
    xs_bytes_add(stream, XS_LIT("\r\n"));
}

/* Rarely, a target that is long. The bytes added. */
static size_t plan_pad(struct xs_tape *tape, struct xs_bytes *stream)
{
    unsigned pad = 0;

    if (xs_choose(tape, XS_LABEL_PEER_REQUEST, 32) == 31) {
        pad = 100 * xs_choose(tape, XS_LABEL_PEER_REQUEST, 40);
    }
    for (unsigned i = 0; i < pad; i += 100) {
        char text[101];

        memset(text, 'x', 100);
        text[100] = '\0';
        xs_bytes_print(stream, "%s", text);
    }
    return pad;
}

/* The size of a body: rarely one that nobody throws away, or one behind which
 * the server's block of bytes ends inside the next head. */
static size_t plan_body_len(struct xs_tape *tape)
{
    switch (xs_choose(tape, XS_LABEL_PEER_BODY, 64)) {
        case 63:
            return XS_BODY_MAX -
                   xs_size(tape, XS_LABEL_PEER_BODY, XS_BODY_USUAL);
        case 62:
        case 61:
        case 60:
            return 65536 - xs_choose(tape, XS_LABEL_PEER_BODY, 400);
        default:
            return xs_plan_size(tape, XS_LABEL_PEER_BODY, XS_BODY_USUAL);
    }
}

void xs_plan_draw(struct xs_plan *plan, struct xs_tape *tape,
                  const struct xs_pattern *pattern, struct xs_bytes *stream,
                  unsigned number)
{
    uint32_t method =
        xs_choose(tape, XS_LABEL_PEER_REQUEST, XS_COUNT_OF(plan_methods));
    uint32_t fields = xs_choose(tape, XS_LABEL_PEER_REQUEST, 4);
    struct xs_slice body;
    char target[32];

    *plan = (struct xs_plan){.method = plan_methods[method].name,
                             .host = XS_LIT("sim.example")};
    plan->is_head = xs_slice_eq(plan->method, XS_LIT("HEAD"));
    plan->minor = xs_choose(tape, XS_LABEL_PEER_REQUEST, 8) == 7 ? 0 : 1;
    plan->has_body = plan_methods[method].has_body;
    plan->begin = stream->len;
    if (plan->has_body) {
        plan->body_len = plan_body_len(tape);
        plan->chunked =
            plan->minor > 0 && xs_choose(tape, XS_LABEL_PEER_BODY, 2) == 1;
        plan->expect =
            plan->minor > 0 && xs_choose(tape, XS_LABEL_PEER_BODY, 4) == 3;
    }
    (void)snprintf(target, sizeof target, "/r/%u?q=%u", number, number * 7);
    if (xs_choose(tape, XS_LABEL_PEER_REQUEST, 32) == 31) {
        xs_bytes_add(stream, XS_LIT("\r\n")); /* RFC 9112 2.2: is ignored */
    }
    xs_bytes_add(stream, plan->method);
    plan->target_at = stream->len + 1;
    xs_bytes_print(stream, " %s", target);
    plan->target_len = strlen(target) + plan_pad(tape, stream);
    xs_bytes_print(stream, " HTTP/1.%u\r\nHost: sim.example\r\n", plan->minor);
    for (uint32_t i = 0; i < fields; i++) {
        xs_bytes_print(stream, "X-Field-%u:  some value %u \t\r\n", i, number);
    }
    plan->field_count = 1 + fields + plan->expect + plan->has_body;
    plan_connection(plan, tape, stream);
    if (xs_choose(tape, XS_LABEL_PEER_REQUEST, 4) == 3) {
        plan->te = true;
        plan->field_count++;
        xs_bytes_add(stream, XS_LIT("TE: gzip;q=0.5, Trailers\r\n"));
    }
    if (plan->expect) {
        xs_bytes_add(stream, XS_LIT("Expect: 100-Continue\r\n"));
    }
    if (plan->chunked) {
        xs_bytes_add(stream, XS_LIT("Transfer-Encoding: chunked\r\n\r\n"));
    } else if (plan->has_body) {
        xs_bytes_print(stream, "Content-Length: %zu\r\n\r\n", plan->body_len);
    } else {
        xs_bytes_add(stream, XS_LIT("\r\n"));
    }
    plan->head_end = stream->len;
    body = xs_pattern_body(pattern, number * 101 + 13, plan->body_len);
    plan->body = body.data;
    if (plan->chunked) {
        plan_chunks(plan, tape, body, stream);
    } else {
        xs_bytes_add(stream, body);
    }
    plan->end = stream->len;
}

/* Each is refused whatever follows. */
static const char *const plan_bad_heads[] = {
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
    "Transfer-Encoding: chunked\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
    "Content-Length: 6\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
    "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: b\x01"
    "c\r\n\r\n",
    "GET / HTTP/1.1\nHost: a\n\n",
    "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET / HTTQ/1.1\r\nHost: a\r\n\r\n",
    "G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
    "\x16\x03\x01\x02\x01\x01\xfc\x03\x03\r\n\r\n",
};

/* More than the usual limits allow. */
static void plan_too_much(struct xs_tape *tape, struct xs_bytes *stream)
{
    uint32_t what = xs_choose(tape, XS_LABEL_PEER_BAD, 4);

    if (what == 3) {
        /* No field is too long, but all together are. */
        xs_bytes_print(stream, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (unsigned i = 0; i < 90; i++) {
            xs_bytes_print(stream, "X-%u: %0900u\r\n", i, i);
        }
    } else if (what == 0) {
        xs_bytes_print(stream, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (unsigned i = 0; i < 120; i++) {
            xs_bytes_print(stream, "X-%u: y\r\n", i);
        }
    } else {
        xs_bytes_print(
            stream, what == 1 ? "GET / HTTP/1.1\r\nHost: a\r\nX: " : "GET /");
        for (unsigned i = 0; i < 10; i++) {
            xs_bytes_print(stream, "%0900u", i);
        }
        xs_bytes_print(stream, what == 1 ? "\r\n" : " HTTP/1.1\r\nHost: a\r\n");
    }
    xs_bytes_add(stream, XS_LIT("\r\n"));
}

void xs_plan_draw_bad(struct xs_plan *plan, struct xs_tape *tape,
                      struct xs_bytes *stream)
{
    uint32_t kind =
        xs_choose(tape, XS_LABEL_PEER_BAD, XS_COUNT_OF(plan_bad_heads) + 2);

    *plan = (struct xs_plan){.method = XS_LIT("GET"), .minor = 1};
    plan->bad = XS_PLAN_BAD_HEAD;
    plan->begin = stream->len;
    if (kind < XS_COUNT_OF(plan_bad_heads)) {
        xs_bytes_add(stream, xs_slice_str(plan_bad_heads[kind]));
        plan->head_end = stream->len;
    } else if (kind == XS_COUNT_OF(plan_bad_heads)) {
        plan_too_much(tape, stream);
        plan->head_end = stream->len;
    } else {
        plan->bad = XS_PLAN_BAD_BODY;
        plan->keep_alive = true;
        plan->has_body = true;
        plan->chunked = true;
        plan->method = XS_LIT("POST");
        plan->field_count = 2;
        plan->target_at = plan->begin + sizeof "POST " - 1;
        plan->target_len = sizeof "/bad" - 1;
        xs_bytes_add(stream, XS_LIT("POST /bad HTTP/1.1\r\nHost: a\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n"));
        plan->head_end = stream->len;
        xs_bytes_add(stream, xs_choose(tape, XS_LABEL_PEER_BAD, 2) == 0
                                 ? XS_LIT("0g\r\nabc\r\n")
                                 : XS_LIT("0\r\nno field\r\n\r\n"));
    }
    plan->end = stream->len;
}
