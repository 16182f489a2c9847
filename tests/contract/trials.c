/* trials.c - every rule in every kind of world, as cmocka tests. */

#include "tests/contract/trials.h"

#include <fnmatch.h>
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

static bool trials_want(const struct trials *trials, const char *name)
{
    return trials->filter == NULL || fnmatch(trials->filter, name, 0) == 0;
}

/* How many are to be run. */
static size_t trials_make(const struct trials *trials, struct CMUnitTest *tests,
                          struct trial *all)
{
    size_t at = 0;

    for (size_t o = 0; o < trials->outside_count; o++) {
        for (size_t i = 0; i < trials->list_count; i++) {
            const struct rule *rule = trials->lists[i];
            for (; rule->name != NULL; rule++) {
                trial_make(&tests[at], &all[at], trials->outsides[o], rule);
                at += trials_want(trials, tests[at].name);
            }
        }
    }
    return at;
}

int trials_run(const struct trials *trials)
{
    size_t count = trials_rules(trials) * trials->outside_count;
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    struct trial *all = calloc(count, sizeof *all);
    int failed = 1;

    if (tests != NULL && all != NULL) {
        count = trials_make(trials, tests, all);
        if (count > 0) {
            failed =
                _cmocka_run_group_tests("contract", tests, count, NULL, NULL);
        } else {
            print_error("no rule matches '%s'\n", trials->filter);
        }
    }
    free(tests);
    free(all);
    return failed != 0;
}
