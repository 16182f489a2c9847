/* fuzz_parser.c - requests: whole, cut anywhere, and read in another way.
 *
 * The text is what a client sends. The parser reads it three times:
 *
 *     whole          ──▶ log ┐
 *     cut by knobs   ──▶ log ┤ must be the same
 *     reading.c      ──▶ log ┘
 *
 * A refusal has to come at the same request. Its reason may depend on the cut
 * only where the request is wrong twice: too long and ill. What the parser
 * refuses before it has seen all of it must have no legal end.
 *
 * Knobs: 0 what the owner of the block does meanwhile; 1 the limits; the
 * others, in turn, how many bytes come next, 0 being one byte. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/http1/parser.h"
#include "fuzz/fuzz.h"
#include "fuzz/reading.h"

#define KEEP 1u /* the body is taken when its message has ended */
#define MOVE 2u /* the block slides while the head is not complete */
#define MOVE_BY 64u

/* One pass over the text. */
struct pass {
    struct xs_parser parser;
    struct xs_bytes log;  /* owned */
    struct xs_bytes body; /* owned: of the present message */
    uint8_t *memory;      /* owned */
    uint8_t *block;       /* borrowed: the text within it */
    size_t given;
    size_t at; /* done with */
};

static void log_line(struct xs_bytes *log, const char *word,
                     struct xs_slice value)
{
    xs_bytes_add(log, xs_slice_str(word));
    xs_bytes_add(log, XS_LIT(" "));
    xs_bytes_add(log, value);
    xs_bytes_add(log, XS_LIT("\n"));
}

static void log_field(struct xs_bytes *log, struct xs_slice name,
                      struct xs_slice value)
{
    xs_bytes_add(log, XS_LIT("  "));
    xs_bytes_add(log, name);
    log_line(log, ":", value);
}

static void log_head(struct xs_bytes *log, const struct xs_head *head)
{
    bool chunked = head->framing == XS_FRAMING_CHUNKED;

    log_line(log, "head", head->method);
    log_line(log, " target", head->target);
    log_line(log, " path", head->path);
    log_line(log, " query", head->query);
    log_line(log, " authority", head->authority);
    xs_bytes_print(log, " %u %d %d %d %d %d %" PRIu64 "\n", head->minor,
                   head->keep_alive, head->trailers, head->expect_continue,
                   head->is_head, chunked, head->length);
    for (unsigned i = 0; i < head->field_count; i++) {
        log_field(log, head->fields[i].name, head->fields[i].value);
    }
}

static void log_reading(struct xs_bytes *log, const struct reading *in)
{
    log_line(log, "head", in->method);
    log_line(log, " target", in->target);
    log_line(log, " path", in->parts.path);
    log_line(log, " query", in->parts.query);
    log_line(log, " authority", in->parts.authority);
    xs_bytes_print(log, " %u %d %d %d %d %d %" PRIu64 "\n", in->minor,
                   in->keep_alive, in->te, in->expect, in->is_head, in->chunked,
                   in->length);
    for (unsigned i = 0; i < in->field_count; i++) {
        log_field(log, in->fields[i].name, in->fields[i].value);
    }
}

/* the parser */

static void pass_take(struct pass *pass)
{
    struct xs_parser *parser = &pass->parser;

    if (parser->body_len > 0) {
        FUZZ_CHECK(
            parser->body >= pass->block &&
                parser->body + parser->body_len <= pass->block + pass->given,
            "the body is not within the block");
        xs_bytes_add(&pass->body, xs_slice_of(parser->body, parser->body_len));
        memset(parser->body, 0xdd, parser->body_len);
        xs_parser_take(parser, parser->body_len);
    }
}

static void pass_end(struct pass *pass)
{
    pass_take(pass);
    log_line(&pass->log, "body", xs_slice_of(pass->body.data, pass->body.len));
    pass->body.len = 0;
}

/* Let the parser have what was given. False after a refusal. */
static bool pass_feed(struct pass *pass, bool keep)
{
    struct xs_parser *parser = &pass->parser;

    for (;;) {
        size_t len = pass->given - pass->at;
        size_t used = SIZE_MAX;
        enum xs_parse what =
            xs_parser_feed(parser, pass->block + pass->at, len, &used);

        FUZZ_CHECK(used <= len, "more is used than was given");
        pass->at += used;
        if (!keep) {
            pass_take(pass);
        }
        switch (what) {
            case XS_PARSE_MORE:
                FUZZ_CHECK(used == len, "more is wanted, and some is left");
                return true;
            case XS_PARSE_HEAD:
                log_head(&pass->log, &parser->head);
                break;
            case XS_PARSE_END:
                pass_end(pass);
                break;
            case XS_PARSE_REFUSE:
                FUZZ_CHECK(parser->refusal != XS_REFUSE_NOT,
                           "refused for no reason");
                return false;
        }
    }
}

static void pass_move(struct pass *pass, size_t len)
{
    if (pass->block > pass->memory && pass->parser.began &&
        pass->parser.state == XS_PARSER_HEAD) {
        memmove(pass->block - 1, pass->block, len);
        pass->block--;
        xs_parser_rebase(&pass->parser, -1);
    }
}

/* How many bytes come next: small ones, or a power of two more. */
static size_t cut_of(const struct fuzz_input *input, unsigned number)
{
    uint8_t knob = input->knobs[2 + number % (FUZZ_KNOBS - 2)];

    return (size_t)1 + ((size_t)(knob & 31) << (knob >> 5));
}

/* Read the text with the parser. */
static void pass_run(struct pass *pass, const struct fuzz_input *input,
                     const struct xs_limits *limits, bool whole)
{
    static struct xs_field fields[XS_FIELDS_MAX];
    size_t len = input->text.len;
    unsigned how = whole ? 0 : input->knobs[0];
    bool on = true;

    pass->memory = malloc(len + MOVE_BY);
    XS_ASSERT(pass->memory != NULL);
    pass->block = pass->memory + MOVE_BY; /* its end is the memory's */
    if (len > 0) {
        memcpy(pass->block, input->text.data, len);
    }
    pass->log.len = 0;
    pass->body.len = 0;
    pass->given = 0;
    pass->at = 0;
    xs_parser_init(&pass->parser, limits);
    xs_parser_fields(&pass->parser, fields, XS_FIELDS_MAX);
    for (unsigned i = 0; on && pass->given < len; i++) {
        size_t next = whole ? len : cut_of(input, i);

        pass->given = next < len - pass->given ? pass->given + next : len;
        if ((how & MOVE) != 0) {
            pass_move(pass, len);
        }
        on = pass_feed(pass, (how & KEEP) != 0);
    }
    pass_take(pass); /* of a message that has not ended */
    free(pass->memory);
}

/* comparing */

static bool is_about_size(enum xs_refusal why)
{
    return why == XS_REFUSE_LINE_SIZE || why == XS_REFUSE_FIELD_SIZE ||
           why == XS_REFUSE_FIELD_COUNT || why == XS_REFUSE_BODY_SIZE ||
           why == XS_REFUSE_HEAD_SIZE || why == XS_REFUSE_TRAILER_SIZE ||
           why == XS_REFUSE_CHUNK_EXTRA;
}

static void compare_refusals(enum xs_refusal one, enum xs_refusal other)
{
    bool same =
        one == other || (one != XS_REFUSE_NOT && other != XS_REFUSE_NOT &&
                         (is_about_size(one) || is_about_size(other)));

    FUZZ_CHECK(same, "whole it is \"%s\", and cut \"%s\"",
               one == XS_REFUSE_NOT ? "not refused" : xs_refusal_rule(one),
               other == XS_REFUSE_NOT ? "not refused" : xs_refusal_rule(other));
}

/* `seen` was refused before it was complete: no end may make it legal. */
static void check_hopeless(struct xs_slice seen, const struct xs_limits *limits)
{
    static const char *const ends[] = {
        "\n",
        "\r\n",
        "\n\r\n",
        "\r\n\r\n",
        "0\r\n\r\n",
        "\r\n0\r\n\r\n",
        "a: b\r\n\r\n",
        "/ HTTP/1.0\r\n\r\n",
        " / HTTP/1.0\r\n\r\n",
        " HTTP/1.0\r\n\r\n",
        "1.0\r\n\r\n",
        "\r\nHost: a\r\n\r\n",
    };
    static struct xs_bytes whole;
    static struct reading reading;

    for (size_t i = 0; i < XS_COUNT_OF(ends); i++) {
        whole.len = 0;
        xs_bytes_add(&whole, seen);
        xs_bytes_add(&whole, xs_slice_str(ends[i]));
        FUZZ_CHECK(reading_next(&reading, xs_slice_of(whole.data, whole.len), 0,
                                limits) != READING_WHOLE ||
                       reading.may_refuse,
                   "refused too early: \"%s\" would make it legal",
                   fuzz_show(xs_slice_str(ends[i])));
    }
}

/* The rules look at a head that is complete: until then a parser may wait with
 * what is wrong already. */
static bool may_wait(const struct reading *reading, struct xs_slice text)
{
    static const char end[] = "\r\n\r\n";

    return reading->head_end == 0 &&
           memmem(text.data + reading->begin, text.len - reading->begin, end,
                  sizeof end - 1) == NULL;
}

/* Read the text in the other way, and compare with what the parser did. */
static void compare_reading(const struct pass *pass, struct xs_slice text,
                            const struct xs_limits *limits)
{
    static struct reading reading;
    static struct xs_bytes log;
    bool refused = pass->parser.state == XS_PARSER_REFUSED;
    enum reading_is is;
    size_t at = 0;

    log.len = 0;
    for (;;) {
        is = reading_next(&reading, text, at, limits);
        if (reading.may_refuse && refused) {
            return;
        }
        if (reading.head_end > 0) {
            log_reading(&log, &reading);
        }
        if (is != READING_WHOLE) {
            break;
        }
        log_line(&log, "body",
                 xs_slice_of(reading.body.data, reading.body.len));
        at = reading.end;
    }
    FUZZ_CHECK(refused || is != READING_BAD || may_wait(&reading, text),
               "it is not refused at %zu: %s", at,
               fuzz_show(xs_slice_of(text.data + at, text.len - at)));
    fuzz_compare(&pass->log, "the parser", &log, "the reading");
    if (refused && is == READING_MORE) {
        /* llhttp may say one byte too early where it is wrong. */
        size_t seen = text.len - pass->at > 2 ? pass->at + 2 : text.len;

        check_hopeless(xs_slice_of(text.data + at, seen - at), limits);
    }
}

static struct xs_limits limits_of(uint8_t knob)
{
    struct xs_limits limits = xs_limits_default();

    if ((knob & 1) != 0) {
        limits.request_line_max = 20 + knob;
    }
    if ((knob & 2) != 0) {
        limits.request_field_max = 10 + knob;
    }
    if ((knob & 4) != 0) {
        limits.request_fields_max = 1 + knob / 64;
    }
    if ((knob & 8) != 0) {
        limits.request_body_max = knob;
    }
    if ((knob & 16) != 0) {
        limits.request_head_max = 40 + knob;
        limits.request_trailer_max = knob / 32;
        limits.chunk_extra_max = knob / 16;
    }
    return limits;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pass whole;
    static struct pass cut;
    const struct fuzz_input input = fuzz_split(data, size);
    const struct xs_limits limits = limits_of(input.knobs[1]);

    pass_run(&whole, &input, &limits, true);
    pass_run(&cut, &input, &limits, false);
    compare_refusals(whole.parser.refusal, cut.parser.refusal);
    fuzz_compare(&whole.log, "the whole", &cut.log, "the cut");
    fuzz_compare(&whole.body, "the body of the whole", &cut.body,
                 "the body of the cut");
    compare_reading(&whole, input.text, &limits);
    return 0;
}
