/* play.c - a script being played in a world. */

#include "tests/contract/play.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One side of one connection. */
struct side {
    struct play *play;
    struct step *step;
    struct pair *pair;
    struct flow *in;
    struct flow *out;
    bool is_server;
};

static const char *word_of(int64_t result)
{
    switch (result) {
        case 0:
            return "end";
        case XS_EAGAIN:
            return "again";
        case XS_ERESET:
            return "reset";
        case XS_EPIPE:
            return "pipe";
        default:
            return result > 0 ? "bytes" : "unknown";
    }
}

/* All that is on its way arrives. Nobody is told of anything meanwhile, so
 * virtual time can pass. */
static void play_settle(struct play *play)
{
    struct world *world = &play->world;

    for (int i = 0; i < 10000; i++) {
        if (!world->outside->is_virtual) {
            world_run(world, i < 4 ? 0 : XS_MS_NS / 2);
            if (i >= 5) {
                return;
            }
        } else if (world->drive->ops->next(world->drive) == XS_NEVER) {
            return;
        } else {
            world_run(world, XS_SECOND_NS);
        }
    }
    fail_msg("the world does not come to rest");
}

/* A file with the first `len` bytes of the pattern; of the play's. */
static int play_file(struct play *play, size_t len)
{
    uint8_t data[1000];
    char path[] = "/tmp/xsgi-play-XXXXXX";

    if (play->file == 0) {
        play->file = mkstemp(path);
        assert_true(play->file > 0);
        assert_int_equal(unlink(path), 0);
    }
    while (play->file_len < len) {
        pattern_fill(data, play->file_len, sizeof data);
        assert_int_equal(write(play->file, data, sizeof data), sizeof data);
        play->file_len += sizeof data;
    }
    return play->file;
}

static int64_t side_write(struct side *side, size_t len)
{
    static uint8_t data[64 * 1024];
    struct xs_slice bytes;
    int64_t n;

    len = len < sizeof data ? len : sizeof data;
    pattern_fill(data, side->out->sent, len);
    if (side->is_server) {
        bytes = xs_slice_of(data, len);
        n = side->play->world.io->ops->writev(side->pair->conn, &bytes, 1);
    } else {
        n = side->play->world.outside->write(side->pair->peer, data, len);
    }
    side->out->sent += n > 0 ? (size_t)n : 0;
    return n;
}

static int64_t side_read(struct side *side, size_t len)
{
    static uint8_t data[64 * 1024];
    int64_t n;

    len = len < sizeof data ? len : sizeof data;
    if (side->is_server) {
        n = side->play->world.io->ops->recv(side->pair->conn, data, len);
    } else {
        n = side->play->world.outside->read(side->pair->peer, data, len);
    }
    if (n > 0) {
        pattern_check(data, side->in->got, (size_t)n);
        side->in->got += (size_t)n;
    }
    return n;
}

/* "Again" may be odd weather, or a slow machine, if the script says that there
 * is something; when it stays, it is the answer. */
#define TRIES 100

static bool side_waits(struct side *side, int64_t n, unsigned *tries)
{
    if (n != XS_EAGAIN || ++*tries == TRIES ||
        step_allows(side->step, "again")) {
        return false;
    }
    play_settle(side->play);
    return true;
}

static const char *side_write_all(struct side *side, size_t len)
{
    size_t end = side->out->sent + len;
    unsigned tries = 0;
    int64_t n = 0;

    while (side->out->sent < end) {
        n = side_write(side, end - side->out->sent);
        if (n < 0 && !side_waits(side, n, &tries)) {
            return word_of(n);
        }
    }
    return "ok";
}

/* The next `len` bytes of the stream, out of a file that has them. */
static const char *side_file(struct side *side, size_t len)
{
    struct pair *pair = side->pair;
    size_t end = side->out->sent + len;
    unsigned tries = 0;

    while (side->out->sent < end) {
        int64_t n = side->play->world.io->ops->sendfile(
            pair->conn, play_file(side->play, end), side->out->sent,
            end - side->out->sent);
        side->out->sent += n > 0 ? (size_t)n : 0;
        if (n <= 0 && !side_waits(side, n, &tries)) {
            return word_of(n);
        }
    }
    return "ok";
}

/* What stays full is full. */
#define FULL_TRIES 20

static const char *side_fill(struct side *side)
{
    unsigned tries = 0;

    while (tries < FULL_TRIES) {
        if (side_write(side, SIZE_MAX) > 0) {
            tries = 0;
        } else {
            tries++;
            play_settle(side->play);
        }
    }
    return "ok";
}

static int64_t side_read_some(struct side *side, size_t len)
{
    unsigned tries = 0;
    int64_t n;

    do {
        n = side_read(side, len);
    } while (side_waits(side, n, &tries));
    return n;
}

static const char *side_read_all(struct side *side, size_t len)
{
    size_t end = side->in->got + len;

    while (side->in->got < end) {
        int64_t n = side_read_some(side, end - side->in->got);
        if (n <= 0) {
            return word_of(n);
        }
    }
    return "ok";
}

static const char *side_drain(struct side *side, bool all)
{
    int64_t n;

    do {
        n = side_read_some(side, SIZE_MAX);
    } while (n > 0);
    if (all && side->in->got != side->in->sent) {
        return "lost";
    }
    return word_of(n);
}

/* What both sides know how to do; NULL if it is none of these. */
static const char *side_step(struct side *side, const struct step *step)
{
    const char *verb = step->words[1];
    const char *arg = step->word_count > 2 ? step->words[2] : "";
    size_t len = (size_t)strtoul(arg, NULL, 10);

    if (strcmp(verb, "send") == 0 || strcmp(verb, "write") == 0) {
        return side_write_all(side, len);
    }
    if (strcmp(verb, "read") == 0) {
        return side_read_all(side, len);
    }
    if (strcmp(verb, "catch") == 0) {
        return side_read_all(side, side->in->sent - side->in->got);
    }
    if (strcmp(verb, "recv") == 0) {
        return word_of(side_read_some(side, 1000));
    }
    if (strcmp(verb, "drain") == 0) {
        return side_drain(side, strcmp(arg, "all") == 0);
    }
    if (strcmp(verb, "fill") == 0) {
        return side_fill(side);
    }
    return NULL;
}

static const char *client_open(struct play *play, struct pair *pair)
{
    struct world *world = &play->world;
    struct xs_io_addr at = {.host = "127.0.0.1", .port = 1};

    pair->world = world;
    if (world->listener != NULL) {
        at = world->listener->local;
    }
    pair->peer = world->outside->connect(world, &at);
    return pair->peer != NULL ? "ok" : "refused";
}

static const char *client_step(struct side *side, const struct step *step)
{
    const struct outside *outside = side->play->world.outside;
    struct pair *pair = side->pair;
    const char *verb = step->words[1];

    if (strcmp(verb, "open") == 0) {
        return client_open(side->play, pair);
    }
    if (strcmp(verb, "shut") == 0) {
        outside->shutdown(pair->peer);
        return "ok";
    }
    if (strcmp(verb, "reset") == 0) {
        outside->reset(pair->peer);
        return "ok";
    }
    if (strcmp(verb, "close") == 0) {
        pair_close_peer(pair);
        return "ok";
    }
    return side_step(side, step);
}

static void on_told(struct xs_io_conn *conn, unsigned events)
{
    struct pair *pair = conn->user;

    pair->events |= events;
    pair_want(pair, 0); /* else virtual time would stand still */
}

static const char *server_accept(struct side *side)
{
    struct world *world = &side->play->world;
    struct pair *pair = side->pair;
    unsigned tries = 0;
    int err;

    do {
        err = world->io->ops->accept(world->listener, &pair->conn);
        err = err == XS_EMFILE ? XS_EAGAIN : err; /* odd weather */
    } while (side_waits(side, err, &tries));
    if (err != 0) {
        return word_of(err);
    }
    pair->world = world;
    pair->conn->on_ready = on_told;
    pair->conn->user = pair;
    return "ok";
}

static unsigned events_of(const char *letters)
{
    return (strchr(letters, 'r') != NULL ? (unsigned)XS_IO_READ : 0u) |
           (strchr(letters, 'w') != NULL ? (unsigned)XS_IO_WRITE : 0u) |
           (strchr(letters, 'h') != NULL ? (unsigned)XS_IO_HANGUP : 0u);
}

/* Events may be told in parts, one after the other. After this many turns with
 * the right ones no others will come. In odd weather there may be some too
 * many, which is legal. */
#define TOLD_TURNS 4

static const char *server_told(struct side *side)
{
    static const char *const words[] = {"-", "r",  "w",  "rw",
                                        "h", "rh", "wh", "rwh"};
    struct step *step = side->step;
    struct pair *pair = side->pair;
    bool is_odd = side->play->world.outside->seeds > 1;
    unsigned right = 0;

    assert_int_equal(step->word_count, 3);
    assert_int_equal(step->answer_count, 1);
    pair->events = 0;
    for (unsigned i = 0; i < TRIES && right < TOLD_TURNS; i++) {
        pair_want(pair, events_of(step->words[2]));
        play_settle(side->play);
        right += step_allows(step, words[pair->events]);
    }
    pair_want(pair, 0);
    if (is_odd && (events_of(step->answers[0]) & ~pair->events) == 0) {
        return step->answers[0];
    }
    return words[pair->events];
}

static const char *server_step(struct side *side, const struct step *step)
{
    const struct xs_io_ops *ops = side->play->world.io->ops;
    struct pair *pair = side->pair;
    const char *verb = step->words[1];
    int64_t n;

    if (strcmp(verb, "accept") == 0) {
        return server_accept(side);
    }
    if (strcmp(verb, "told") == 0) {
        return server_told(side);
    }
    if (strcmp(verb, "file") == 0) {
        return side_file(side, (size_t)strtoul(step->words[2], NULL, 10));
    }
    if (strcmp(verb, "shut") == 0) {
        n = ops->shutdown_wr(pair->conn);
        return n == 0 ? "ok" : word_of(n);
    }
    if (strcmp(verb, "close") == 0 || strcmp(verb, "abort") == 0) {
        pair_close_conn(pair, verb[0] == 'a');
        return "ok";
    }
    if (strcmp(verb, "unacked") == 0) {
        n = ops->unacked(pair->conn);
        if (n == XS_EUNKNOWN) {
            return step->answers[0];
        }
        return n == 0 ? "none" : "some";
    }
    return side_step(side, step);
}

static void on_waiting(struct world *world)
{
    world->io->ops->accept_want(world->listener, false);
}

static const char *listener_step(struct play *play, const struct step *step)
{
    struct world *world = &play->world;
    const char *verb = step->words[1];

    if (strcmp(verb, "close") == 0) {
        world->io->ops->unlisten(world->listener);
        world->listener = NULL;
        return "ok";
    }
    if (strcmp(verb, "told") == 0) {
        world->accepts = 0;
        world->io->ops->accept_want(world->listener, true);
        play_settle(play);
        world->io->ops->accept_want(world->listener, false);
        return world->accepts > 0 ? "yes" : "no";
    }
    return NULL;
}

static const char *play_who(struct play *play, struct step *step)
{
    char who = step->words[0][0];
    unsigned at = who == 'd' || who == 't' ? 1 : 0;
    struct side side = {.play = play, .step = step, .pair = &play->pairs[at]};

    assert_int_equal(step->words[0][1], '\0');
    switch (who) {
        case 'c':
        case 'd':
            side.in = &play->down[at];
            side.out = &play->up[at];
            return client_step(&side, step);
        case 's':
        case 't':
            side.is_server = true;
            side.in = &play->up[at];
            side.out = &play->down[at];
            return server_step(&side, step);
        case 'l':
            return listener_step(play, step);
        default:
            return NULL;
    }
}

void play_open(struct play *play, const struct outside *outside, uint64_t seed)
{
    struct step accept = {.text = "s accept"};
    struct side side = {.play = play, .step = &accept, .pair = &play->pairs[0]};

    memset(play, 0, sizeof *play);
    world_open(&play->world, outside, seed);
    play->world.do_accept = on_waiting;
    play->world.io->ops->accept_want(play->world.listener, false);
    assert_string_equal(client_open(play, &play->pairs[0]), "ok");
    play_settle(play);
    assert_string_equal(server_accept(&side), "ok");
}

void play_close(struct play *play)
{
    pair_close(&play->pairs[0]);
    pair_close(&play->pairs[1]);
    world_close(&play->world);
    if (play->file > 0) {
        (void)close(play->file);
    }
}

const char *play_step(struct play *play, struct step *step)
{
    play_settle(play);
    return play_who(play, step);
}
