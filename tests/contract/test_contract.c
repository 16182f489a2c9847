/* test_contract.c - every rule of io.h and drive.h on every backend. */

#include <stdio.h>
#include <stdlib.h>

#include "tests/contract/contract.h"

static const struct outside *const outsides[] = {
    &outside_tcp4,  &outside_tcp6, &outside_unix,
    &outside_guest, &outside_sim,  &outside_sim_odd,
};

static const struct rule *const lists[] = {
    rules_accept, rules_close, rules_data, rules_drive,
    rules_post,   rules_ready, rules_time,
};

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

static size_t trials_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < XS_COUNT_OF(lists); i++) {
        for (const struct rule *rule = lists[i]; rule->name != NULL; rule++) {
            count++;
        }
    }
    return count * XS_COUNT_OF(outsides);
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

/* With an argument only the tests whose names match it ("*defer*"). */
int main(int argc, char **argv)
{
    size_t count = trials_count();
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    struct trial *trials = calloc(count, sizeof *trials);
    size_t at = 0;
    int failed;

    if (tests == NULL || trials == NULL) {
        return 1;
    }
    for (size_t o = 0; o < XS_COUNT_OF(outsides); o++) {
        for (size_t i = 0; i < XS_COUNT_OF(lists); i++) {
            for (const struct rule *r = lists[i]; r->name != NULL; r++) {
                trial_make(&tests[at], &trials[at], outsides[o], r);
                at++;
            }
        }
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    failed = _cmocka_run_group_tests("contract", tests, count, NULL, NULL);
    free(tests);
    free(trials);
    return failed != 0;
}
