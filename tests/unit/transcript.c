/* transcript.c - what a parser makes of some bytes, as text. */

#include "tests/unit/transcript.h"

#include "core/http1/parser.h"
#include "tests/testlib.h"
#include "tests/unit/text.h"

/* The bytes, as a connection keeps them: in a block whose end is the end of
 * the memory, so that reading on is found out. */
struct play {
    struct xs_parser parser;
    struct text text;
    struct text body;
    uint8_t *memory; /* owned */
    uint8_t *block;  /* borrowed: the input within it */
    size_t at;       /* done with */
    size_t given;    /* of the input so far */
};

#define MOVE_BY 16u

/* The block slides to lower addresses, as far as it was received. */
static void play_move(struct play *play, size_t len)
{
    uint8_t *moved = play->block - 1;

    if (moved < play->memory) {
        return;
    }
    memmove(moved, play->block, len);
    play->block = moved;
    xs_parser_rebase(&play->parser, -1);
}

static void play_take(struct play *play)
{
    struct xs_parser *parser = &play->parser;

    text_add(&play->body, (const char *)parser->body, parser->body_len);
    /* Whoever reads it again is found out. */
    memset(parser->body, 0xdd, parser->body_len);
    xs_parser_take(parser, parser->body_len);
}

static void play_end_body(struct play *play)
{
    if (play->parser.body_len > 0) {
        play_take(play);
    }
    if (play->body.len > 0) {
        text_line(&play->text, "body ",
                  xs_slice_of(play->body.data, play->body.len));
        play->body.len = 0;
    }
}

/* Feed what was given; false after a fault. */
static bool play_feed(struct play *play, const struct transcript_way *way)
{
    char some[64];

    for (;;) {
        size_t used = 0;
        size_t len = play->given - play->at;
        enum xs_parse what =
            xs_parser_feed(&play->parser, play->block + play->at, len, &used);

        assert_true(used <= len);
        play->at += used;
        if (!way->keep && play->parser.body_len > 0) {
            play_take(play);
        }
        switch (what) {
            case XS_PARSE_MORE:
                assert_int_equal(used, len);
                return true;
            case XS_PARSE_HEAD:
                text_head(&play->text, &play->parser.head);
                break;
            case XS_PARSE_END:
                play_end_body(play);
                text_str(&play->text, "end\n");
                break;
            case XS_PARSE_REFUSE:
                play_end_body(play);
                (void)snprintf(some, sizeof some, "refuse %u %s\n",
                               xs_refusal_status(play->parser.refusal),
                               xs_refusal_rule(play->parser.refusal));
                text_str(&play->text, some);
                return false;
        }
    }
}

char *transcript_of(struct xs_slice input, const struct transcript_way *way)
{
    static struct xs_field fields[XS_FIELDS_MAX];
    struct play play = {.given = 0};
    size_t next = way->first > 0 ? way->first : input.len;
    bool on = true;

    play.memory = malloc(input.len + MOVE_BY);
    assert_non_null(play.memory);
    play.block = play.memory + MOVE_BY;
    memcpy(play.block, input.data, input.len);
    xs_parser_init(&play.parser, way->limits);
    xs_parser_fields(&play.parser, fields, XS_FIELDS_MAX);
    text_str(&play.text, "");
    while (on && play.given < input.len) {
        if (way->move && play.given > 0 && play.parser.began &&
            play.parser.state == XS_PARSER_HEAD) {
            play_move(&play, input.len);
        }
        play.given = next < input.len ? next : input.len;
        next = way->each > 0 ? play.given + way->each : input.len;
        on = play_feed(&play, way);
    }
    if (on && play.parser.began) {
        play_end_body(&play);
        text_str(&play.text, "more\n");
    }
    free(play.memory);
    free(play.body.data);
    return play.text.data;
}
