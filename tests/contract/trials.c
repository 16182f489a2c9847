/* trials.c - every rule in every kind of world, as cmocka tests. */

#include "tests/contract/trials.h"

#include <stdio.h>
#include <stdlib.h>

/* A rule in a kind of world. */
struct trial {
    char name[160];
    const struct outside *outside;
    const struct rule *rule;
    uint64_t seed; /* the one being tried; 0: none */
};

static void trial_run(void **state)
{
    struct trial *trial = *state;

    for (uint64_t seed = 1; seed <= trial->outside->seeds; seed++) {
        struct world world;
        trial->seed = seed;
        world_open(&world, trial->outside, seed);
        trial->rule->check(&world);
        world_close(&world);
    }
    trial->seed = 0;
}

static int trial_end(void **state)
{
    const struct trial *trial = *state;

    if (trial->seed != 0 && trial->outside->seeds > 1) {
        print_error("with seed %llu\n", (unsigned long long)trial->seed);
    }
    return 0;
}

static void trial_make(struct CMUnitTest *test, struct trial *trial,
                       const struct outside *outside, const struct rule *rule)
{
    (void)snprintf(trial->name, sizeof trial->name, "%s: %s", outside->name,
                   rule->name);
    trial->outside = outside;
    trial->rule = rule;
    *test = (struct CMUnitTest){
        .name = trial->name,
        .test_func = trial_run,
        .teardown_func = trial_end,
        .initial_state = trial,
    };
}

static size_t trials_rules(const struct trials *trials)
{
    size_t count = 0;

    for (size_t i = 0; i < trials->list_count; i++) {
        for (const struct rule *r = trials->lists[i]; r->name != NULL; r++) {
            count++;
        }
    }
    return count;
}

static void trials_make(const struct trials *trials, struct CMUnitTest *tests,
                        struct trial *all)
{
    size_t at = 0;

    for (size_t o = 0; o < trials->outside_count; o++) {
        for (size_t i = 0; i < trials->list_count; i++) {
            const struct rule *rule = trials->lists[i];
            for (; rule->name != NULL; rule++, at++) {
                trial_make(&tests[at], &all[at], trials->outsides[o], rule);
            }
        }
    }
}

int trials_run(const struct trials *trials)
{
    size_t count = trials_rules(trials) * trials->outside_count;
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    struct trial *all = calloc(count, sizeof *all);
    int failed = 1;

    if (tests != NULL && all != NULL) {
        trials_make(trials, tests, all);
        if (trials->filter != NULL) {
            cmocka_set_test_filter(trials->filter);
        }
        failed = _cmocka_run_group_tests("contract", tests, count, NULL, NULL);
    }
    free(tests);
    free(all);
    return failed != 0;
}
