/* fuzz_world.c - the whole server in a simulation, all choices a fuzzer's.
 *
 * An input is the bytes of the tape's lanes (sim/label.h), and behind them
 * those that the first client sends, with "\n--\n" between each and the next:
 *
 *     run -- clients -- applications -- weather -- the first client's bytes
 *
 * If the first byte of all is "!", allocations may fail.
 *
 * A byte more or less in one part moves nothing in another. A lane that has
 * ended goes on with the benign choice. What the client's bytes mean, and
 * which of its requests must be refused, another reader finds out beforehand
 * (reading.h); bytes that may be read in two ways, and a request that is not
 * whole, are left out. Without bytes it is a scripted client like the others.
 *
 *     replay_world --trace FILE        what happens
 *     replay_world --shrink=OUT FILE   the choices that matter; an input that
 *                                      has only these goes to OUT
 *     replay_world --seed=N:OUT        write what seed N does, as an input */

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/reading.h"
#include "sim/shrink.h"
#include "tests/sim/world.h"

#define MARK "\n--\n"
#define PARTS (XS_LANE_COUNT + 1)

#define SHRINK_RUNS 5000u

/* Runs of seeds have a hundred steps or two; more are only slower. */
#define STEPS_MAX 3000u

/* One run in so many is run twice. */
#define TWICE 16u

static struct {
    bool trace;
    const char *shrunk; /* borrowed; NULL: do not shrink */
} want;

/* What one input says. */
struct scene {
    struct xs_slice lanes[XS_LANE_COUNT];
    struct xs_slice said;
    bool memory_fails;
    struct reading readings[XS_PLANS_MAX];
    struct xs_plan plans[XS_PLANS_MAX];
    struct world_words words;
};

static struct scene scene;
static struct world world;

/* the input */

static void scene_cut(struct xs_slice rest)
{
    struct xs_slice parts[PARTS] = {{NULL, 0}};

    for (unsigned i = 0; i < PARTS; i++) {
        const uint8_t *mark = NULL;

        if (i + 1 < PARTS && rest.len > 0) {
            mark = memmem(rest.data, rest.len, MARK, sizeof MARK - 1);
        }
        parts[i] = rest;
        if (mark == NULL) {
            break;
        }
        parts[i].len = (size_t)(mark - rest.data);
        mark += sizeof MARK - 1;
        rest = xs_slice_of(mark, rest.len - (size_t)(mark - rest.data));
    }
    scene.memory_fails = parts[0].len > 0 && parts[0].data[0] == '!';
    if (scene.memory_fails) {
        parts[0] = xs_slice_of(parts[0].data + 1, parts[0].len - 1);
    }
    memcpy(scene.lanes, parts, sizeof scene.lanes);
    scene.said = parts[PARTS - 1];
}

/* What reading.c makes of the request behind `begin`. */
static struct xs_plan plan_of(const struct reading *in, enum reading_is is,
                              size_t begin)
{
    const size_t all = scene.said.len;

    if (is == READING_BAD && in->head_end == 0) {
        return (struct xs_plan){.method = XS_LIT("GET"),
                                .minor = 1,
                                .bad = XS_PLAN_BAD_HEAD,
                                .begin = begin,
                                .target_at = all,
                                .head_end = all,
                                .end = all};
    }
    return (struct xs_plan){
        .method = in->method,
        .minor = in->minor,
        .is_head = in->is_head,
        .keep_alive = in->keep_alive,
        .chunked = in->chunked,
        .te = in->te,
        .expect = in->expect,
        .has_body = in->chunked || in->length > 0,
        .host = reading_field(in, "host"),
        .field_count = in->field_count,
        .target_at = (size_t)(in->target.data - scene.said.data),
        .target_len = in->target.len,
        .body = in->body.data,
        .body_len = in->body.len,
        .bad = is == READING_BAD ? XS_PLAN_BAD_BODY : XS_PLAN_LEGAL,
        .begin = begin,
        .head_end = in->head_end,
        .end = is == READING_BAD ? all : in->end,
    };
}

/* A refusal has no body if it answers a HEAD, and of a bad head that is hard
 * to say. */
static bool may_be_head(size_t at)
{
    return memmem(scene.said.data + at, scene.said.len - at, "HEAD", 4) != NULL;
}

/* A bad head may be refused before its end, or only then. */
static bool head_is_over(size_t at)
{
    const uint8_t *head = scene.said.data + at;
    size_t len = scene.said.len - at;

    return memmem(head, len, "\n\r\n", 3) != NULL ||
           memmem(head, len, "\n\n", 2) != NULL;
}

/* Find out what the first client will have said. */
static void scene_read(void)
{
    const struct xs_limits limits = xs_limits_default();
    struct world_words *words = &scene.words;
    enum reading_is is = READING_WHOLE;
    size_t at = 0;

    *words = (struct world_words){.plans = scene.plans};
    while (is == READING_WHOLE && words->plan_count < XS_PLANS_MAX) {
        struct reading *in = &scene.readings[words->plan_count];

        is = reading_next(in, scene.said, at, &limits);
        if (is == READING_MORE || in->may_refuse ||
            (is == READING_BAD && in->head_end == 0 &&
             (may_be_head(at) || !head_is_over(at)))) {
            break;
        }
        scene.plans[words->plan_count] = plan_of(in, is, at);
        at = scene.plans[words->plan_count].end;
        words->plan_count++;
    }
    words->stream = xs_slice_of(scene.said.data, at);
}

/* the run */

static void scene_run(struct xs_tape *tape, FILE *trace,
                      struct world_result *result)
{
    const struct world_options options = {
        .words = scene.words.plan_count > 0 ? &scene.words : NULL,
        .memory_fails = scene.memory_fails,
        .trace = trace,
        .steps_max = STEPS_MAX,
    };

    world_run(&world, tape, &options, result);
}

/* The same input gives the same trace. */
static void check_again(struct xs_tape *tape, uint64_t hash)
{
    struct world_result again;

    xs_tape_start_bytes(tape, scene.lanes);
    scene_run(tape, NULL, &again);
    FUZZ_CHECK(again.hash == hash, "O21: the same input gives another trace");
}

/* shrinking */

/* Write choices as an input with the bytes that the first client says. */
static void write_input(const char *path, const struct xs_choice *choices,
                        size_t count)
{
    static struct xs_bytes lanes[XS_LANE_COUNT];
    FILE *file = fopen(path, "wb");

    FUZZ_CHECK(file != NULL, "cannot write %s: %s", path, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        const struct xs_choice *choice = &choices[i];
        uint32_t value = choice->value;
        unsigned width = xs_tape_width(choice->bound);
        uint8_t bytes[4];

        if (choice->bound == 2 && value == 1) {
            value = 255; /* whatever the chance was */
        }
        for (unsigned at = 0; at < width; at++) {
            bytes[at] = (uint8_t)(value >> (8 * at));
        }
        xs_bytes_add(&lanes[xs_label_lane(choice->label)],
                     xs_slice_of(bytes, width));
    }
    (void)fwrite("!", 1, scene.memory_fails, file);
    for (unsigned lane = 0; lane < XS_LANE_COUNT; lane++) {
        struct xs_bytes *bytes = &lanes[lane];

        while (bytes->len > 0 && bytes->data[bytes->len - 1] == 0) {
            bytes->len--; /* it goes on with zeros in any case */
        }
        (void)fwrite(bytes->data, 1, bytes->len, file);
        (void)fwrite(MARK, 1, sizeof MARK - 1, file);
    }
    (void)fwrite(scene.words.stream.data, 1, scene.words.stream.len, file);
    FUZZ_CHECK(fclose(file) == 0, "cannot write %s", path);
}

/* A failure that is being shrunk. */
struct prey {
    struct xs_tape tape;
    enum xs_oracle oracle;
};

static bool still_fails(void *user, const struct xs_choice *choices,
                        size_t count)
{
    struct prey *prey = user;
    struct world_result result;

    xs_tape_start_replay(&prey->tape, choices, count);
    scene_run(&prey->tape, NULL, &result);
    return result.verdict.oracle == prey->oracle;
}

/* Say what the run on the tape, which fails, comes down to. */
static void scene_shrink(const struct xs_tape *tape, enum xs_oracle oracle)
{
    struct prey prey = {.oracle = oracle};
    struct xs_shrink shrink = {
        .fails = still_fails, .user = &prey, .runs_max = SHRINK_RUNS};

    xs_tape_init(&prey.tape);
    shrink.choices = xs_tape_dump(tape, &shrink.count);
    xs_shrink(&shrink);
    for (size_t i = 0; i < shrink.count; i++) {
        const struct xs_choice *choice = &shrink.choices[i];

        if (choice->value != 0) {
            (void)printf("    choice %zu  %-16s %" PRIu32 " of %" PRIu32
                         "  %s\n",
                         i, xs_label_word(choice->label), choice->value,
                         choice->bound, xs_label_text(choice->label));
        }
    }
    write_input(want.shrunk, shrink.choices, shrink.count);
    free(shrink.choices);
    xs_tape_fini(&prey.tape);
}

/* What seed `number` does, as an input: the first ones of a corpus. */
static void write_seed(uint64_t number, const char *path)
{
    struct xs_tape tape;
    struct world_result result;

    xs_tape_init(&tape);
    xs_tape_start_seed(&tape, number);
    scene_run(&tape, NULL, &result);
    write_input(path, tape.record, tape.record_count);
    xs_tape_fini(&tape);
}

bool fuzz_option(const char *name)
{
    char *path = NULL;
    uint64_t number;

    if (strcmp(name, "trace") == 0) {
        want.trace = true;
    } else if (strncmp(name, "shrink=", 7) == 0) {
        want.shrunk = name + 7;
    } else if (strncmp(name, "seed=", 5) == 0) {
        number = strtoull(name + 5, &path, 10);
        if (*path != ':') {
            return false;
        }
        write_seed(number, path + 1);
    } else {
        return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct xs_tape tape; /* its memory is kept */
    struct world_result result;

    if (tape.record == NULL) {
        /* Memory that goes back to the system comes back as page faults. */
        (void)mallopt(M_TRIM_THRESHOLD, 256 << 20);
        (void)mallopt(M_MMAP_THRESHOLD, 256 << 20);
    }
    scene_cut(xs_slice_of(data, size));
    scene_read();
    xs_tape_start_bytes(&tape, scene.lanes);
    scene_run(&tape, want.trace ? stdout : NULL, &result);
    if (result.verdict.oracle != XS_ORACLE_NONE) {
        if (want.shrunk != NULL) {
            scene_shrink(&tape, result.verdict.oracle);
        }
        fuzz_fail("%s: %s\n%s", xs_oracle_id(result.verdict.oracle),
                  xs_oracle_text(result.verdict.oracle), result.verdict.text);
    }
    if (result.hash % TWICE == 0) {
        check_again(&tape, result.hash);
    }
    return 0;
}
