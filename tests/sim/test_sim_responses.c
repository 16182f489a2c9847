/* test_sim_responses.c - answers, and all that can befall them.
 *
 *     test_sim_responses                      all shapes under all plans, then
 *                                             the usual seeds
 *     test_sim_responses --shape NAME         those whose names begin so
 *     test_sim_responses --seed N             one drawn trial, as it goes
 *     test_sim_responses --seeds FROM:COUNT   these
 *
 * What is tried exhaustively is short (trial_shapes.c has the shapes and the
 * plans): heads of 38 bytes and more, bodies of a few. For every shape, with
 * high and with low marks of the queue:
 *
 *   - a failure at every step, with one cut at every offset and one pause at
 *     every word, and with pauses at every set of words;
 *   - a cut at every offset behind the head, with pauses at every set of words;
 *   - two cuts at every two offsets.
 *
 * If it is short enough, also two cuts with a pause at every word, three cuts
 * at every three offsets, and every way to split what is behind the head. In
 * pieces of more than SINK_SMALL bytes offsets are those near its ends. Where a
 * pause ends or more of the requests comes while the sink takes nothing, each
 * is first once. Longer answers, more cuts and two failures are drawn from
 * seeds. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trial.h"

/* All shapes under all plans are so many runs, or more: not fewer unnoticed. */
#define RUNS_LEAST 4500000u
#define SEEDS_USUAL 400000u

struct campaign {
    struct trial trial;
    struct xs_tape tape;
    const char *program; /* static: how it was called */
    const char *shape;   /* static: how the names begin; NULL: all */
    uint64_t from;
    uint64_t count;
    bool shapes; /* go through them */
    bool trace;
};

/* A number at `text`, and `after` behind it: what follows, or NULL. */
static const char *parse_number(const char *text, char after, uint64_t *number)
{
    char *end = NULL;

    errno = 0;
    *number = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || errno != 0 || *end != after) {
        return NULL;
    }
    return end + 1;
}

static bool parse_args(struct campaign *campaign, int argc, char **argv)
{
    const char *rest;

    campaign->shapes = argc == 1;
    campaign->count = SEEDS_USUAL;
    if (argc == 1) {
        return true;
    }
    if (argc != 3) {
        return false;
    }
    if (strcmp(argv[1], "--shape") == 0) {
        campaign->shapes = true;
        campaign->shape = argv[2];
        campaign->count = 0;
        return true;
    }
    if (strcmp(argv[1], "--seed") == 0) {
        campaign->count = 1;
        campaign->trace = true;
        return parse_number(argv[2], '\0', &campaign->from) != NULL;
    }
    if (strcmp(argv[1], "--seeds") == 0) {
        rest = parse_number(argv[2], ':', &campaign->from);
        return rest != NULL &&
               parse_number(rest, '\0', &campaign->count) != NULL;
    }
    return false;
}

static bool is_well(const struct campaign *campaign)
{
    return campaign->trial.verdict.oracle == XS_ORACLE_NONE;
}

/* The same run again, as it goes. */
static void show_again(struct campaign *campaign)
{
    size_t count;
    struct xs_choice *choices = xs_tape_dump(&campaign->tape, &count);

    campaign->trial.trace = stdout;
    xs_tape_start_replay(&campaign->tape, choices, count);
    trial_run(&campaign->trial, &campaign->tape);
    campaign->trial.trace = NULL;
    free(choices);
}

/* The runs of all plans; stops at the first that fails. */
static uint64_t run_shape(struct campaign *campaign,
                          const struct trial_shape *shape)
{
    struct trial *trial = &campaign->trial;
    uint64_t runs = 0;

    for (unsigned i = 0; i < trial_plan_count && is_well(campaign); i++) {
        trial_take(trial, shape, &trial_plans[i]);
        runs += trial_explore(trial, &campaign->tape);
        if (!is_well(campaign)) {
            (void)printf(
                "FAIL %s, %s: %s %s\n", shape->name, trial_plans[i].name,
                xs_oracle_id(trial->verdict.oracle), trial->verdict.text);
            show_again(campaign);
        }
    }
    (void)printf("%9" PRIu64 "  %s\n", runs, shape->name);
    return runs;
}

/* What never happens is not tried: O23. */
static bool all_have_fired(const struct campaign *campaign)
{
    static const enum xs_label labels[] = {
        XS_LABEL_WRITE_AGAIN, XS_LABEL_WRITE_SHORT,     XS_LABEL_APP_PACE,
        XS_LABEL_APP_FAIL,    XS_LABEL_PEER_END,        XS_LABEL_ORDER_READY,
        XS_LABEL_FILE_FAILS,  XS_LABEL_NET_RESET_WRITE, XS_LABEL_MEM_FAIL,
    };
    bool ok = true;

    for (unsigned i = 0; i < XS_COUNT_OF(labels); i++) {
        if (campaign->tape.fired[labels[i]] == 0) {
            (void)printf("FAIL O23 %s has never fired\n",
                         xs_label_word(labels[i]));
            ok = false;
        }
    }
    return ok;
}

static bool run_shapes(struct campaign *campaign)
{
    uint64_t runs = 0;

    for (unsigned i = 0; i < trial_shape_count && is_well(campaign); i++) {
        const struct trial_shape *shape = &trial_shapes[i];

        if (campaign->shape == NULL || strncmp(shape->name, campaign->shape,
                                               strlen(campaign->shape)) == 0) {
            runs += run_shape(campaign, shape);
        }
    }
    (void)printf("%9" PRIu64 " runs are all that there are\n", runs);
    if (is_well(campaign) && campaign->shape == NULL && runs < RUNS_LEAST) {
        (void)printf("FAIL there were more once: %u\n", RUNS_LEAST);
        return false;
    }
    return is_well(campaign) &&
           (campaign->shape != NULL || all_have_fired(campaign));
}

static bool run_seeds(struct campaign *campaign)
{
    struct trial *trial = &campaign->trial;

    trial->trace = campaign->trace ? stdout : NULL;
    for (uint64_t i = 0; i < campaign->count; i++) {
        uint64_t seed = campaign->from + i;

        xs_tape_start_seed(&campaign->tape, seed);
        trial_run_drawn(trial, &campaign->tape);
        if (!is_well(campaign)) {
            (void)printf("FAIL seed %" PRIu64
                         ": %s %s | replay: %s --seed "
                         "%" PRIu64 "\n",
                         seed, xs_oracle_id(trial->verdict.oracle),
                         trial->verdict.text, campaign->program, seed);
            return false;
        }
    }
    (void)printf("%9" PRIu64 " seeds\n", campaign->count);
    return true;
}

int main(int argc, char **argv)
{
    static struct campaign campaign;
    bool ok;

    campaign.program = argv[0];
    if (!parse_args(&campaign, argc, argv)) {
        (void)fprintf(stderr,
                      "usage: test_sim_responses [--shape NAME | "
                      "--seed N | --seeds FROM:COUNT]\n");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    trial_init(&campaign.trial);
    xs_tape_init(&campaign.tape);
    ok = !campaign.shapes || run_shapes(&campaign);
    ok = ok && run_seeds(&campaign);
    xs_tape_fini(&campaign.tape);
    trial_fini(&campaign.trial);
    return ok ? 0 : 1;
}
