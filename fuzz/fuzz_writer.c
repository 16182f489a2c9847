/* fuzz_writer.c - responses: what is said, what goes out, what a client reads.
 *
 * The text is a list of calls, one a record; 0x1e ends a record, 0x1f parts
 * what is in it:
 *
 *     S 200 0x1f reason      start         B data   a piece, copied
 *     H name 0x1f value      a field       L data   a piece, lent
 *     R 3                    refuse        E data   the last piece, copied
 *     C                      100 Continue  X data   the last piece, lent
 *     N                      next request  P 20000  a piece of that length
 *     W 5000                 so many bytes leave
 *     Q 20000, Z 20000       a piece, the last piece, as a range of a file
 *     I name 0x1f value 0x1f name ...   an early hint
 *     K                      trailers are expected (K-: not by the client)
 *     T, U                   trailers, the last ones; as with I
 *     F 2                    the memory fails after so many allocations, until
 *                            the next record has been played
 *
 * Each call must give what gateway.h says, and what leaves must be what the
 * reference serialisation says (sim/model.h). What a client can read is read
 * by a strict one (sim/oracle_client.h).
 *
 * Knobs: 0 to 7, in turn, what each request was like; 8 the second of the day;
 * 12 which common fields there are. */

#include <string.h>

#include "core/base/limits.h"
#include "core/base/mem.h"
#include "core/http1/aside.h"
#include "core/http1/writer.h"
#include "fuzz/asides.h"
#include "fuzz/fuzz.h"
#include "fuzz/grammar.h"
#include "fuzz/scarce.h"
#include "sim/model.h"
#include "sim/oracle_client.h"

#define RECORD_END '\x1e'
#define PART_END '\x1f'

/* Where in their file all ranges begin. */
#define FILE_AT ((uint64_t)7 << 33)

/* The knob of a request. */
#define IS_HEAD 1u
#define IS_OLD 2u /* HTTP/1.0 */
#define IS_LAST 4u

struct play {
    struct fuzz_input input;
    struct scarce mem;
    struct xs_queue queue;
    struct xs_writer writer;
    struct xs_model model;
    struct xs_reader reader;
    struct xs_verdict verdict;
    char common[XS_COMMON_MAX];
    struct xs_slice common_used; /* of `common` */
    uint64_t wall_s;
    unsigned requests;
    unsigned lent;
    unsigned released;
    uint64_t body_bytes; /* of this response, accepted */
    bool keep_alive;     /* the request lets the connection live on */
    size_t trailer_len;  /* of this response, accepted */
    bool whole;          /* its body is */
    bool readable;       /* the strict client can know all that is said */
};

static void check_verdict(const struct play *play)
{
    FUZZ_CHECK(play->verdict.oracle == XS_ORACLE_NONE, "%s: %s",
               xs_oracle_id(play->verdict.oracle), play->verdict.text);
}

static void check_result(const struct play *play, const char *call, int got,
                         int wanted)
{
    bool no_memory = got == XS_ENOMEM && play->mem.left == 0 && wanted == 0;

    FUZZ_CHECK(got == wanted || no_memory, "%s gives %s, not %s", call,
               xs_error_name(got), xs_error_name(wanted));
    xs_queue_check(&play->queue);
}

static struct xs_model_ties ties_of(const struct play *play)
{
    return (struct xs_model_ties){.must_close = !play->keep_alive,
                                  .must_keep = play->keep_alive};
}

/* A new request. */
static void play_next(struct play *play)
{
    uint8_t knob = play->input.knobs[play->requests % 8];
    unsigned minor = (knob & IS_OLD) != 0 ? 0 : 1;
    bool is_head = (knob & IS_HEAD) != 0;

    play->requests++;
    play->keep_alive = (knob & IS_LAST) == 0;
    play->body_bytes = 0;
    play->trailer_len = 0;
    play->whole = false;
    xs_writer_begin(&play->writer, minor, is_head, play->keep_alive,
                    play->common_used);
    xs_model_request(&play->model, minor, is_head, play->wall_s);
    xs_reader_ask(&play->reader, is_head);
}

/* The head that was begun is no more. */
static void play_forget(struct play *play)
{
    xs_model_request(&play->model, play->writer.minor, play->writer.is_head,
                     play->wall_s);
}

/* calls */

static void play_start(struct play *play, struct xs_slice rest)
{
    enum xs_writer_state before = play->writer.state;
    struct xs_slice digits;
    uint64_t status;
    int wanted = 0;
    int err;

    (void)grammar_cut(&rest, PART_END, &digits);
    if (!grammar_number(digits, 10, &status) || status > UINT32_MAX) {
        status = 200;
    }
    if (before > XS_WRITER_HEAD) {
        wanted = XS_ESTATE;
    } else if (status < 200 || status > 999 || !grammar_is_text(rest)) {
        wanted = XS_EINVALID;
    }
    err = xs_writer_start(&play->writer, &play->queue, (unsigned)status, rest);
    check_result(play, "start", err, wanted);
    if (err == 0) {
        xs_model_start(&play->model, (unsigned)status, rest);
        play->readable &= rest.len < XS_READER_LINE_MAX / 2;
    } else if (err == XS_ENOMEM) {
        play_forget(play);
    }
}

/* What the rules of gateway.h say to a field. */
static int field_result(const struct play *play, struct xs_slice name,
                        struct xs_slice value)
{
    struct xs_slice trimmed = grammar_trim(value);
    uint64_t length;

    if (play->writer.state != XS_WRITER_HEAD) {
        return XS_ESTATE;
    }
    if (!grammar_is_token(name) || grammar_has_line_end(value) ||
        (grammar_is(name, "transfer-encoding") &&
         !grammar_is(trimmed, "chunked")) ||
        (grammar_is(name, "content-length") &&
         (play->model.response.has_length ||
          !grammar_number(trimmed, 10, &length)))) {
        return XS_EINVALID;
    }
    return 0;
}

static void play_field(struct play *play, struct xs_slice rest)
{
    struct xs_slice name;
    int wanted;
    int err;

    (void)grammar_cut(&rest, PART_END, &name);
    wanted = field_result(play, name, rest);
    err = xs_writer_header(&play->writer, &play->queue, name, rest);
    check_result(play, "header", err, wanted);
    if (err == 0) {
        xs_model_field(&play->model, name, rest);
        play->readable &= name.len + rest.len < XS_READER_LINE_MAX / 2 &&
                          grammar_is_text(rest) &&
                          (!grammar_is(name, "content-length") ||
                           grammar_trim(rest).len <= 15);
    }
}

static void on_release(void *owner)
{
    struct play *play = owner;

    play->released++;
    FUZZ_CHECK(play->released <= play->lent, "released more often than lent");
}

enum play_how { COPIED, LENT, OF_FILE };

static void play_body(struct play *play, struct xs_slice piece,
                      enum play_how how, bool more)
{
    struct xs_lent lent = {.bytes = piece};
    const bool lend = how != COPIED;
    const struct xs_model_ties ties = ties_of(play);
    int wanted = 0;
    int err;

    if (lend) {
        lent.release = on_release;
        lent.owner = play;
        play->lent++;
    }
    if (how == OF_FILE && piece.len > 0) {
        lent.bytes.data = NULL;
        lent.is_file = true;
        lent.offset = FILE_AT;
    }
    if (play->writer.state != XS_WRITER_HEAD &&
        play->writer.state != XS_WRITER_BODY) {
        wanted = XS_ESTATE;
    } else if (!xs_model_fits(&play->model, piece.len, more)) {
        wanted = XS_ELENGTH;
    }
    err = xs_writer_body(&play->writer, &play->queue, &lent, more);
    check_result(play, "body", err, wanted);
    if (err == 0) {
        xs_model_body(&play->model, piece, more, play->wall_s, &ties);
        play->body_bytes += piece.len;
        play->whole = !more;
        FUZZ_CHECK(play->writer.body_bytes == play->body_bytes,
                   "the body is counted wrongly");
    } else {
        play->lent -= lend;
    }
}

static void play_refuse(struct play *play, uint64_t number)
{
    const enum xs_refusal why =
        (enum xs_refusal)(1 + number % (unsigned)XS_REFUSE_FAILED);
    const struct xs_model_ties ties = ties_of(play);
    int err;

    if (play->writer.state > XS_WRITER_HEAD) {
        return; /* nobody asks for that */
    }
    err = xs_writer_refuse(&play->writer, &play->queue, why);
    check_result(play, "refuse", err, 0);
    if (err == 0) {
        xs_model_refuse(&play->model, xs_refusal_status(why),
                        xs_slice_str(xs_refusal_text(why)), play->wall_s,
                        &ties);
    } else {
        play_forget(play);
    }
}

static void play_continue(struct play *play)
{
    int err;

    if (play->writer.state != XS_WRITER_IDLE) {
        return; /* nobody asks for that */
    }
    err = xs_writer_continue(&play->queue);
    check_result(play, "continue", err, 0);
    if (err == 0) {
        xs_model_continue(&play->model, true);
    }
}

/* hints and trailers */

static void play_hint(struct play *play, struct xs_slice rest)
{
    const struct asides fields = asides_of(rest, PART_END);
    int wanted = XS_ESTATE;
    int err;

    if (play->writer.state == XS_WRITER_IDLE) {
        wanted = asides_result(&fields, ASIDES_HINT, SIZE_MAX);
    }
    err = xs_aside_hint(&play->writer, &play->queue, fields.all, fields.count);
    check_result(play, "hint", err, wanted);
    if (err == 0) {
        xs_model_hint(&play->model, fields.all, fields.count);
        play->readable &= asides_are_text(&fields, XS_READER_LINE_MAX / 2);
    }
}

static void play_expect(struct play *play, bool wanted)
{
    bool now = play->writer.state == XS_WRITER_HEAD;
    int err = xs_aside_expect(&play->writer, wanted);

    check_result(play, "expect", err, now ? 0 : XS_ESTATE);
    if (err == 0) {
        xs_model_expect(&play->model, wanted);
        if (wanted) {
            xs_reader_ask_trailers(&play->reader);
        }
    }
}

static void play_trailers(struct play *play, struct xs_slice rest, bool more)
{
    const struct asides fields = asides_of(rest, PART_END);
    int wanted = XS_ESTATE;
    int err;

    if (play->model.response.trailing && play->whole &&
        !play->model.response.done) {
        wanted = asides_result(&fields, ASIDES_TRAILER,
                               XS_ASIDE_MAX - play->trailer_len);
    }
    err = xs_aside_trailers(&play->writer, &play->queue, fields.all,
                            fields.count, more);
    check_result(play, "trailers", err, wanted);
    if (err == 0) {
        xs_model_trailers(&play->model, fields.all, fields.count, more);
        play->trailer_len += fields.len;
        if (play->model.response.sends_trailers) {
            play->readable &= asides_are_text(&fields, XS_READER_LINE_MAX / 2);
        }
    }
}

static struct xs_slice pattern_of(uint64_t len)
{
    static uint8_t pattern[20480]; /* more than is copied */

    if (pattern[0] == 0) {
        for (size_t i = 0; i < sizeof pattern; i++) {
            pattern[i] = (uint8_t)(1 + i % 251);
        }
    }
    return xs_slice_of(pattern, len % sizeof pattern);
}

/* Up to `max` bytes leave. False if there are none. */
static bool play_leave(struct play *play, size_t max)
{
    struct xs_slice slices[XS_QUEUE_SLICES];
    unsigned count = xs_queue_peek(&play->queue, slices, XS_QUEUE_SLICES);
    const struct xs_piece *file = xs_queue_file(&play->queue);
    size_t left = 0;

    if (file != NULL) {
        FUZZ_CHECK(count == 0, "bytes come before a file that is first");
        slices[0] = xs_slice_of(pattern_of(0).data + (file->offset - FILE_AT),
                                file->len);
        count = 1;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t len = slices[i].len < max - left ? slices[i].len : max - left;
        struct xs_slice bytes = xs_slice_of(slices[i].data, len);

        FUZZ_CHECK(slices[i].len > 0, "an empty slice is to be written");
        xs_model_wrote(&play->model, bytes);
        if (play->readable) {
            xs_reader_feed(&play->reader, bytes);
        }
        left += len;
        check_verdict(play);
    }
    xs_queue_consume(&play->queue, left);
    return left > 0;
}

/* A number, and no number is `otherwise`. */
static uint64_t number_of(struct xs_slice text, uint64_t otherwise)
{
    uint64_t number;

    return grammar_number(text, 10, &number) ? number : otherwise;
}

/* True if the next record is to be played with the memory as it is. */
static bool play_record(struct play *play, struct xs_slice record)
{
    struct xs_slice rest = xs_slice_of(record.data + 1, record.len - 1);

    switch (record.data[0]) {
        case 'S':
            play_start(play, rest);
            break;
        case 'H':
            play_field(play, rest);
            break;
        case 'B':
        case 'L':
            play_body(play, rest, record.data[0] == 'L' ? LENT : COPIED, true);
            break;
        case 'E':
        case 'X':
            play_body(play, rest, record.data[0] == 'X' ? LENT : COPIED, false);
            break;
        case 'P':
            play_body(play, pattern_of(number_of(rest, 20000)), LENT, true);
            break;
        case 'Q':
        case 'Z':
            play_body(play, pattern_of(number_of(rest, 20000)), OF_FILE,
                      record.data[0] == 'Q');
            break;
        case 'R':
            play_refuse(play, number_of(rest, 0));
            break;
        case 'C':
            play_continue(play);
            break;
        case 'I':
            play_hint(play, rest);
            break;
        case 'K':
            play_expect(play, rest.len == 0);
            break;
        case 'T':
        case 'U':
            play_trailers(play, rest, record.data[0] == 'T');
            break;
        case 'N':
            if (play->writer.state == XS_WRITER_DONE &&
                play->writer.keep_alive && play->requests < XS_RESPONSES_MAX) {
                play_next(play);
            }
            break;
        case 'W':
            (void)play_leave(play, number_of(rest, 1));
            xs_queue_check(&play->queue);
            break;
        case 'F':
            play->mem.left = number_of(rest, 0) % 4;
            return true;
        default:
            break;
    }
    return false;
}

static void play_begin(struct play *play)
{
    const uint8_t *knobs = play->input.knobs;
    struct xs_slice server = (knobs[12] & 1) == 0 ? XS_LIT("xsgi") : XS_LIT("");
    bool date = (knobs[12] & 2) == 0;
    size_t skip = date ? 0 : sizeof "date: \r\n" - 1 + 29;
    uint32_t second;
    size_t len;

    memcpy(&second, knobs + 8, sizeof second);
    play->wall_s = (uint64_t)second * 4; /* up to the year 2514 */
    len = xs_writer_common(play->common, play->wall_s * XS_SECOND_NS, server);
    play->common_used = xs_slice_of(play->common + skip, len - skip);
    play->mem =
        (struct scarce){.mem = {fuzz_scarce_resize}, .left = SCARCE_NEVER};
    play->verdict = (struct xs_verdict){.oracle = XS_ORACLE_NONE};
    play->requests = 0;
    play->lent = 0;
    play->released = 0;
    play->readable = true;
    xs_queue_init(&play->queue, &play->mem.mem);
    xs_model_init(&play->model, &play->verdict, server, date);
    xs_reader_init(&play->reader, &play->verdict);
    play_next(play);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct play play;
    struct xs_slice rest;
    bool more = true;

    play.input = fuzz_split(data, size);
    play_begin(&play);
    rest = play.input.text;
    while (more) {
        struct xs_slice record;

        more = grammar_cut(&rest, RECORD_END, &record);
        if (record.len > 0 && !play_record(&play, record)) {
            play.mem.left = SCARCE_NEVER;
        }
    }
    play.mem.left = SCARCE_NEVER;
    while (play_leave(&play, 5000)) {
    }
    xs_queue_check(&play.queue);
    FUZZ_CHECK(xs_model_is_complete(&play.model), "something is held back");
    if (play.readable && play.writer.state == XS_WRITER_DONE) {
        FUZZ_CHECK(xs_reader_end(&play.reader), "the end comes too early");
        FUZZ_CHECK(play.reader.complete == play.requests,
                   "%u responses are read of %u", play.reader.complete,
                   play.requests);
    }
    xs_queue_fini(&play.queue);
    FUZZ_CHECK(play.released == play.lent, "%u of %u were released",
               play.released, play.lent);
    return 0;
}
