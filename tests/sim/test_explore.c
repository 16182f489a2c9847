/* test_explore.c - all runs that there are, each once. */

#include "sim/explore.h"

#include "tests/testlib.h"

/* A number below `bound`, for the tests of the tape itself. */
static uint32_t choose(struct xs_tape *tape, uint32_t bound)
{
    return xs_choose(tape, XS_LABEL_TEST, bound);
}

/* A tree whose branches differ in length and width: of 1 + 3 * 2 + 4 leaves.
 * The number of the leaf. */
static unsigned walk(struct xs_tape *tape)
{
    switch (choose(tape, 3)) {
        case 0:
            return 0;
        case 1: {
            unsigned leaf = 1 + 2 * choose(tape, 3);

            return leaf + choose(tape, 2);
        }
        default:
            return 7 + choose(tape, 4);
    }
}

static void exploration_visits_each_leaf_of_a_tree_once(void **state)
{
    struct xs_explore explore = {.runs = 0};
    unsigned visits[11] = {0};
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);

    while (xs_explore_next(&explore, &tape)) {
        visits[walk(&tape)]++;
    }

    assert_int_equal(explore.runs, 11);
    for (unsigned i = 0; i < XS_COUNT_OF(visits); i++) {
        assert_int_equal(visits[i], 1);
    }
    xs_explore_fini(&explore);
    xs_tape_fini(&tape);
}

static void exploration_of_a_run_without_choices_is_one_run(void **state)
{
    struct xs_explore explore = {.runs = 0};
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);

    assert_true(xs_explore_next(&explore, &tape));
    assert_false(xs_explore_next(&explore, &tape));

    assert_int_equal(explore.runs, 1);
    xs_explore_fini(&explore);
    xs_tape_fini(&tape);
}

static void exploration_goes_through_runs_longer_than_all_before(void **state)
{
    struct xs_explore explore = {.runs = 0};
    struct xs_tape tape;
    unsigned longest = 0;
    (void)state;

    xs_tape_init(&tape);

    /* As long as it says 1: one leaf for each length. */
    while (xs_explore_next(&explore, &tape)) {
        unsigned len = 0;

        while (len < 1000 && choose(&tape, 2) == 1) {
            len++;
        }
        longest = len > longest ? len : longest;
    }

    assert_int_equal(longest, 1000);
    assert_int_equal(explore.runs, 1001);
    xs_explore_fini(&explore);
    xs_tape_fini(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exploration_visits_each_leaf_of_a_tree_once),
        cmocka_unit_test(exploration_of_a_run_without_choices_is_one_run),
        cmocka_unit_test(exploration_goes_through_runs_longer_than_all_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
