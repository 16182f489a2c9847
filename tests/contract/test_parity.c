/* test_parity.c - the simulator does nothing that a kernel does not do.
 *
 * Plays every script of parity.txt on real sockets and on the simulator. A
 * script begins with one client connected and accepted. */

#include <stdio.h>
#include <stdlib.h>

#include "tests/contract/play.h"

static const struct outside *const outsides[] = {
    &outside_tcp4,
    &outside_tcp6,
    &outside_sim,
    &outside_sim_odd,
};

/* A script in a kind of world. */
struct trial {
    char name[160];
    const struct outside *outside;
    struct script *script;
    const struct step *step; /* the one being played; NULL: none */
    uint64_t seed;
};

static void play_script(struct trial *trial)
{
    static struct play play;
    struct script *script = trial->script;

    play_open(&play, trial->outside, trial->seed);
    for (unsigned i = 0; i < script->step_count; i++) {
        struct step *step = &script->steps[i];
        const char *answer;

        trial->step = step;
        answer = play_step(&play, step);
        if (answer == NULL) {
            fail_msg("there is no such step");
        } else if (!step_allows(step, answer)) {
            fail_msg("the answer is \"%s\"", answer);
        } else {
            step_saw(step, answer);
        }
    }
    trial->step = NULL;
    play_close(&play);
}

static void trial_run(void **state)
{
    struct trial *trial = *state;

    for (trial->seed = 1; trial->seed <= trial->outside->seeds; trial->seed++) {
        play_script(trial);
    }
}

static int trial_end(void **state)
{
    const struct trial *trial = *state;

    if (trial->step != NULL) {
        print_error("parity.txt:%u: \"%s\", with seed %llu\n",
                    trial->step->line, trial->step->text,
                    (unsigned long long)trial->seed);
    }
    return 0;
}

/* An answer that nobody ever gives makes a script laxer than the world. */
static void every_answer_was_seen(void **state)
{
    struct trial *trial = *state; /* the first one; the others follow */
    unsigned unseen = 0;

    for (; trial->script != NULL; trial++) {
        for (unsigned i = 0; i < trial->script->step_count; i++) {
            const struct step *step = &trial->script->steps[i];
            for (unsigned a = 0; a < step->answer_count; a++) {
                if (!step->seen[a] && trial->outside == outsides[0]) {
                    print_error("parity.txt:%u: never \"%s\"\n", step->line,
                                step->answers[a]);
                    unseen++;
                }
            }
        }
    }
    assert_int_equal(unseen, 0);
}

static void trials_make(struct CMUnitTest *tests, struct trial *trials,
                        struct script *scripts, size_t count)
{
    size_t at = 0;

    for (size_t o = 0; o < XS_COUNT_OF(outsides); o++) {
        for (size_t i = 0; i < count; i++, at++) {
            struct trial *trial = &trials[at];
            trial->outside = outsides[o];
            trial->script = &scripts[i];
            (void)snprintf(trial->name, sizeof trial->name, "%s: %s",
                           outsides[o]->name, scripts[i].name);
            tests[at] = (struct CMUnitTest){
                .name = trial->name,
                .test_func = trial_run,
                .teardown_func = trial_end,
                .initial_state = trial,
            };
        }
    }
    tests[at] = (struct CMUnitTest){
        .name = "every_answer_was_seen",
        .test_func = every_answer_was_seen,
        .initial_state = trials,
    };
}

/* With an argument only the scripts whose names match it. */
int main(int argc, char **argv)
{
    size_t count;
    struct script *scripts = scripts_read(XS_PARITY_FILE, &count);
    size_t trial_count = count * XS_COUNT_OF(outsides);
    struct CMUnitTest *tests = calloc(trial_count + 1, sizeof *tests);
    struct trial *trials = calloc(trial_count + 1, sizeof *trials);
    int failed = 1;

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    if (scripts != NULL && tests != NULL && trials != NULL) {
        trials_make(tests, trials, scripts, count);
        failed = _cmocka_run_group_tests("parity", tests, trial_count + 1, NULL,
                                         NULL);
    }
    free(tests);
    free(trials);
    free(scripts);
    return failed != 0;
}
