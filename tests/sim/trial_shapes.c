/* trial_shapes.c - what the answers are that are tried, and how thoroughly. */

#include <string.h>

#include "tests/sim/trial.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\n\r\n"
#define OLD_KEPT "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
#define HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define TE "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n"
#define POST                                                 \
    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n" \
    "Content-Length: 2\r\n\r\n|" TRIAL_REQUEST_BODY

const struct trial_shape trial_shapes[] = {
    /* Content-Length: said, or known since all is said in one go. */
    {"fixed in one go", GET, "s2."},
    {"fixed, empty", GET, "s0."},
    {"fixed", GET, "sl111."},
    {"fixed, end apart", GET, "sl20."},
    {"fixed, last", LAST, "sl11."},
    {"fixed, closing", GET, "scl11."},
    {"fixed, flushed", GET, "sl1f1."},
    {"fixed, old", OLD_KEPT, "sl11."},
    {"fixed, lent", GET, "slL1."},
    /* Chunks: of an empty piece there is none. */
    {"chunked", GET, "s12."},
    {"chunked, empty between", GET, "s0100."},
    {"chunked, two and an end", GET, "s110."},
    {"chunked, only an end", GET, "s00."},
    {"chunked, last", LAST, "s10."},
    {"chunked, flushed", GET, "sf1f0."},
    {"chunked, lent", GET, "sL10."},
    {"chunked, lent at the end", GET, "s1L0."},
    /* Until the connection closes. */
    {"close", OLD, "s12."},
    {"close, empty between", OLD, "s100."},
    {"close, kept if it could", OLD_KEPT, "s10."},
    {"close, lent", OLD, "sL1."},
    /* Ranges of a file. */
    {"file, fixed", GET, "slF12."},
    {"file in one go", GET, "sF3."},
    {"file, chunked", GET, "sF110."},
    {"file, close", OLD, "sF12."},
    {"file, last", LAST, "slF20."},
    {"file behind bytes", GET, "s1F10."},
    /* No body. */
    {"head", HEAD, "sl12."},
    {"head, no length", HEAD, "s10."},
    {"head, file", HEAD, "slF3."},
    {"no content", GET, "n10."},
    /* What may be in front. */
    {"continue", POST, "rsl11."},
    {"continue behind the start", POST, "sr10."},
    {"continue behind a piece", POST, "s1r0."},
    {"continue, body not read", POST, "sl11."},
    {"hint", GET, "hsl11."},
    {"hints, chunked", GET, "hhs10."},
    {"hint, old", OLD, "hs10."},
    {"hint and continue", POST, "hrs1."},
    /* What may be behind. */
    {"trailers", TE, "st10.x."},
    {"trailers in two", TE, "st1.xx."},
    {"trailers unasked", GET, "st10.x."},
    {"trailers of a file", TE, "stF1.x."},
    /* The next request. */
    {"two, fixed", GET GET, "sl1./sl2."},
    {"two, chunked", GET GET, "s10./s10."},
    {"two, the next comes later", GET "|" GET, "s10./sl1."},
    {"two, files", GET GET, "slF11./sF2."},
    {"two, the first is the last", LAST "|" GET, "sl11./s0."},
    {"two, head", HEAD HEAD, "sl11./s0."},
};
const unsigned trial_shape_count = XS_COUNT_OF(trial_shapes);

#define ANY 1000u

const struct trial_plan trial_plans[] = {
    {.name = "a failure and a cut", .cuts = 1, .pauses = 1, .kills = 1},
    {.name = "a failure and pauses", .pauses = ANY, .kills = 1},
    {.name = "pauses and a cut", .cuts = 1, .tail = true, .pauses = ANY},
    {.name = "two cuts", .cuts = 2},
    {.name = "two cuts and a pause", .cuts = 2, .pauses = 1, .whole_max = 60},
    {.name = "three cuts", .cuts = 3, .whole_max = 50},
    {.name = "every split",
     .cuts = ANY,
     .tail = true,
     .between = true,
     .tail_max = 17},
};
const unsigned trial_plan_count = XS_COUNT_OF(trial_plans);

/* reading one */

static struct trial_word word_of(char what, bool file)
{
    if (what >= '0' && what <= '3') {
        return (struct trial_word){
            .what = 'p', .file = file, .len = (size_t)(what - '0')};
    }
    if (what == 'L') {
        return (struct trial_word){
            .what = 'p', .file = file, .len = TRIAL_LENT};
    }
    return (struct trial_word){.what = what};
}

static void read_script(struct trial *trial, const char *script)
{
    unsigned call = 0;
    bool file = false;

    trial->word_counts[0] = 0;
    for (; *script != '\0'; script++) {
        unsigned *count = &trial->word_counts[call];

        if (*script == '/') {
            XS_ASSERT(call + 1 < TRIAL_CALLS_MAX);
            trial->word_counts[++call] = 0;
            file = false;
        } else if (*script == 'F') {
            file = true;
        } else if (*script == '.') {
            trial->words[call][*count - 1].last = true;
        } else {
            XS_ASSERT(*count < TRIAL_WORDS_MAX);
            trial->words[call][(*count)++] = word_of(*script, file);
        }
    }
    trial->call_count = call + 1;
}

/* What the client wants, as far as an answer depends on it. */
static void read_request(struct trial *trial, const char *request)
{
    const char *begin = request;
    const char *end;

    trial->minor = strstr(request, " HTTP/1.0\r\n") != NULL ? 0 : 1;
    trial->is_head = strncmp(request, "HEAD ", 5) == 0;
    trial->te = strstr(request, "TE: trailers") != NULL;
    trial->expects = strstr(request, "Expect:") != NULL;
    trial->keeps = trial->minor > 0
                       ? strstr(request, "Connection: close") == NULL
                       : strstr(request, "Connection: keep-alive") != NULL;
    trial->segment_count = 0;
    do {
        end = strchr(begin, '|');
        XS_ASSERT(trial->segment_count < XS_COUNT_OF(trial->segments));
        trial->segments[trial->segment_count++] = xs_slice_of(
            begin, end != NULL ? (size_t)(end - begin) : strlen(begin));
        begin = end + 1;
    } while (end != NULL);
}

void trial_read(struct trial *trial, const struct trial_shape *shape)
{
    read_script(trial, shape->script);
    read_request(trial, shape->request);
}

/* drawing one */

/* What is drawn is longer: pieces that are lent, and bodies that a sink takes
 * in many parts. */
#define DRAWN_PIECES_MAX 6u
#define DRAWN_PIECE_MAX 40000u
#define DRAWN_CUTS_MAX 40u

/* One in so many. */
static bool rarely(struct xs_tape *tape, enum xs_label label, uint32_t in)
{
    return xs_flip(tape, label, (struct xs_ratio){1, in});
}

static void draw_word(struct trial *trial, struct trial_word word)
{
    unsigned *count = &trial->word_counts[trial->call_count - 1];

    XS_ASSERT(*count < TRIAL_WORDS_MAX);
    trial->words[trial->call_count - 1][(*count)++] = word;
}

static void draw_letter(struct trial *trial, char what)
{
    draw_word(trial, (struct trial_word){.what = what});
}

static void draw_pieces(struct trial *trial, struct xs_tape *tape)
{
    unsigned count = 1 + xs_choose(tape, XS_LABEL_APP_PIECE, DRAWN_PIECES_MAX);
    bool flush = xs_choose(tape, XS_LABEL_APP_FLUSH, 2) != 0;
    bool files = xs_choose(tape, XS_LABEL_APP_FILE, 2) != 0;

    for (unsigned i = 1; i <= count; i++) {
        draw_word(trial,
                  (struct trial_word){
                      .what = 'p',
                      .last = i == count,
                      .file = files && !rarely(tape, XS_LABEL_APP_FILE, 4),
                      .len = xs_size(tape, XS_LABEL_APP_PIECE, DRAWN_PIECE_MAX),
                  });
        if (flush && i < count) {
            draw_letter(trial, 'f');
        }
    }
}

static void draw_call(struct trial *trial, struct xs_tape *tape)
{
    bool trailing = rarely(tape, XS_LABEL_APP_HINT, 4);
    unsigned reads = xs_choose(tape, XS_LABEL_APP_BODY, 3);

    trial->word_counts[trial->call_count++] = 0;
    if (rarely(tape, XS_LABEL_APP_HINT, 4)) {
        draw_letter(trial, 'h');
    }
    if (trial->expects && reads == 0) {
        draw_letter(trial, 'r');
    }
    draw_letter(trial, rarely(tape, XS_LABEL_APP_HEAD, 8) ? 'n' : 's');
    if (xs_choose(tape, XS_LABEL_APP_HEAD, 2) == 0) {
        draw_letter(trial, 'l');
    }
    if (rarely(tape, XS_LABEL_APP_FIELD, 8)) {
        draw_letter(trial, 'c');
    }
    if (trailing) {
        draw_letter(trial, 't');
    }
    if (trial->expects && reads == 1) {
        draw_letter(trial, 'r');
    }
    draw_pieces(trial, tape);
    if (trailing) {
        draw_letter(trial, 'x');
        draw_word(trial, (struct trial_word){.what = 'x', .last = true});
    }
}

void trial_draw(struct trial *trial, struct xs_tape *tape)
{
    static const char *const requests[] = {
        GET, LAST, OLD, OLD_KEPT, HEAD, TE, POST, GET GET, GET "|" GET, TE TE,
    };
    uint32_t pick =
        xs_choose(tape, XS_LABEL_PEER_REQUEST, XS_COUNT_OF(requests));

    read_request(trial, requests[pick]);
    trial->call_count = 0;
    draw_call(trial, tape);
    if (pick >= 7) {
        draw_call(trial, tape);
    }
    trial->plan = (struct trial_plan){
        .name = "drawn",
        .cuts = xs_size(tape, XS_LABEL_NET_SEND_BUFFER, DRAWN_CUTS_MAX),
        .cut_far = true,
        .pauses = xs_choose(tape, XS_LABEL_APP_PACE, 2) * ANY,
        .kills = xs_choose(tape, XS_LABEL_SWARM_KILL, 3),
    };
}
