/* test_tape.c - sim/tape.c, sim/faults.c, sim/shrink.c: choices. */

#include "sim/faults.h"
#include "sim/shrink.h"
#include "sim/tape.h"
#include "tests/testlib.h"

#define T XS_LABEL_TEST
#define OTHER XS_LABEL_RANDOM

static const struct xs_ratio one_in_four = {1, 4};

static void tape_of_zeros_is_always_benign(void **state)
{
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);

    assert_int_equal(xs_choose(&tape, T, 10), 0);
    assert_int_equal(xs_size(&tape, T, 10), 0);
    assert_false(xs_flip(&tape, T, (struct xs_ratio){1, 1}));
    assert_int_equal(tape.asked[T], 3);
    assert_int_equal(tape.fired[T], 0);
    xs_tape_fini(&tape);
}

static void tape_gives_the_same_choices_for_the_same_seed(void **state)
{
    struct xs_tape tape;
    uint32_t first[100];
    unsigned differ = 0;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_seed(&tape, 7);
    for (unsigned i = 0; i < 100; i++) {
        first[i] = xs_choose(&tape, T, 1000);
    }

    xs_tape_start_seed(&tape, 7);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(xs_choose(&tape, T, 1000), first[i]);
    }
    xs_tape_start_seed(&tape, 8);
    for (unsigned i = 0; i < 100; i++) {
        differ += xs_choose(&tape, T, 1000) != first[i];
    }
    assert_true(differ > 80);
    xs_tape_fini(&tape);
}

static void tape_choice_is_not_moved_by_other_labels(void **state)
{
    struct xs_tape tape;
    uint32_t first[50];
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_seed(&tape, 3);
    for (unsigned i = 0; i < 50; i++) {
        first[i] = xs_choose(&tape, T, 1000);
    }

    xs_tape_start_seed(&tape, 3);
    for (unsigned i = 0; i < 50; i++) {
        (void)xs_choose(&tape, OTHER, 10);
        assert_int_equal(xs_choose(&tape, T, 1000), first[i]);
    }
    xs_tape_fini(&tape);
}

static void tape_flip_keeps_to_its_ratio(void **state)
{
    struct xs_tape tape;
    unsigned fired = 0;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_seed(&tape, 1);

    for (unsigned i = 0; i < 40000; i++) {
        fired += xs_flip(&tape, T, one_in_four);
    }

    assert_true(fired >= 9500);
    assert_true(fired <= 10500);
    assert_int_equal(tape.fired[T], fired);
    xs_tape_fini(&tape);
}

static void tape_size_prefers_the_edges(void **state)
{
    unsigned seen[101] = {0};
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_seed(&tape, 1);
    for (unsigned i = 0; i < 8000; i++) {
        uint32_t size = xs_size(&tape, T, 100);

        assert_true(size <= 100);
        seen[size]++;
    }

    assert_true(seen[0] > 800);
    assert_true(seen[1] > 800);
    assert_true(seen[99] > 800);
    assert_true(seen[100] > 800);
    for (unsigned size = 0; size <= 100; size++) {
        assert_true(seen[size] > 0);
    }
    assert_int_equal(xs_size(&tape, T, 0), 0);
    xs_tape_fini(&tape);
}

/* Some choices of every kind. */
static uint64_t choose_some(struct xs_tape *tape)
{
    uint64_t sum = 0;

    for (unsigned i = 1; i < 50; i++) {
        sum = sum * 31 + xs_choose(tape, T, i);
        sum = sum * 31 + xs_size(tape, OTHER, i * 7);
        sum = sum * 31 + xs_flip(tape, T, one_in_four);
    }
    return sum;
}

static void tape_replays_what_it_recorded(void **state)
{
    struct xs_tape tape;
    struct xs_choice *choices;
    size_t count;
    uint64_t sum;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_seed(&tape, 99);
    sum = choose_some(&tape);
    choices = xs_tape_dump(&tape, &count);

    xs_tape_start_replay(&tape, choices, count);

    assert_int_equal(choose_some(&tape), sum);
    assert_false(tape.misaligned);
    assert_int_equal(tape.at, count);
    assert_int_equal(xs_choose(&tape, T, 9), 0);
    assert_false(tape.misaligned);
    free(choices);
    xs_tape_fini(&tape);
}

static void tape_tells_where_a_replay_no_longer_fits(void **state)
{
    const struct xs_choice choices[] = {{1, 2, T}, {1, 2, T}, {3, 4, OTHER}};
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_replay(&tape, choices, 3);

    assert_int_equal(xs_choose(&tape, T, 2), 1);
    assert_false(tape.misaligned);
    assert_int_equal(xs_choose(&tape, T, 3), 1);
    assert_true(tape.misaligned);
    assert_int_equal(xs_choose(&tape, OTHER, 2), 1);
    assert_int_equal(tape.misfit_at, 1);
    xs_tape_fini(&tape);
}

static void tape_of_bytes_uses_one_a_flip_and_ends_in_zeros(void **state)
{
    const uint8_t bytes[] = {0, 255, 7, 0x34, 0x12};
    const struct xs_slice lanes[XS_LANE_COUNT] = {
        [XS_LANE_WORLD] = {bytes, sizeof bytes}};
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_bytes(&tape, lanes);

    assert_false(xs_flip(&tape, T, (struct xs_ratio){99, 100}));
    assert_true(xs_flip(&tape, T, (struct xs_ratio){1, 10000}));
    assert_int_equal(xs_choose(&tape, T, 5), 2);
    assert_int_equal(xs_choose(&tape, T, 0x10000), 0x1234);
    assert_false(xs_flip(&tape, T, (struct xs_ratio){1, 1}));
    assert_int_equal(xs_choose(&tape, T, 5), 0);
    xs_tape_fini(&tape);
}

static void tape_of_bytes_gives_each_lane_its_own(void **state)
{
    const struct xs_slice lanes[XS_LANE_COUNT] = {
        [XS_LANE_PEER] = XS_LIT("\1\2"),
        [XS_LANE_APP] = XS_LIT("\3"),
        [XS_LANE_WEATHER] = XS_LIT("\4\5"),
    };
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    xs_tape_start_bytes(&tape, lanes);

    assert_int_equal(xs_choose(&tape, XS_LABEL_PEER_COUNT, 256), 1);
    assert_int_equal(xs_choose(&tape, XS_LABEL_APP_WRONG, 256), 3);
    assert_int_equal(xs_choose(&tape, XS_LABEL_ORDER_READY, 256), 4);
    assert_int_equal(xs_choose(&tape, XS_LABEL_PEER_END, 256), 2);
    assert_int_equal(xs_choose(&tape, XS_LABEL_APP_BODY, 256), 0);
    assert_int_equal(xs_choose(&tape, XS_LABEL_NET_HOLE, 256), 5);
    assert_int_equal(xs_choose(&tape, XS_LABEL_WORLD, 256), 0);
    xs_tape_fini(&tape);
}

static void tape_next_visits_every_run_once(void **state)
{
    struct xs_choice choices[8];
    size_t count = 0;
    bool seen[3][2] = {{false}};
    unsigned runs = 0;
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    do {
        uint32_t a, b = 0;

        xs_tape_start_replay(&tape, choices, count);
        a = xs_choose(&tape, T, 3);
        if (a != 1) { /* a run need not ask the same */
            b = xs_choose(&tape, T, 2);
        }
        assert_false(seen[a][b]);
        seen[a][b] = true;
        runs++;
        count = tape.record_count;
        memcpy(choices, tape.record, count * sizeof choices[0]);
    } while (xs_tape_next(choices, &count));

    assert_int_equal(runs, 5);
    xs_tape_fini(&tape);
}

static void faults_of_a_calm_tape_are_none(void **state)
{
    struct xs_faults faults;
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    memset(&faults, 1, sizeof faults);

    xs_faults_draw(&faults, &tape);

    for (unsigned i = 0; i < XS_LABEL_COUNT; i++) {
        assert_int_equal(faults.percent[i], 0);
    }
    xs_tape_fini(&tape);
}

static void faults_kill_in_less_than_half_of_the_runs(void **state)
{
    unsigned with[XS_LABEL_COUNT] = {0};
    unsigned kills = 0;
    struct xs_faults faults;
    struct xs_tape tape;
    (void)state;

    xs_tape_init(&tape);
    for (uint64_t seed = 0; seed < 1000; seed++) {
        bool kill = false;

        xs_tape_start_seed(&tape, seed);
        xs_faults_draw(&faults, &tape);
        for (unsigned i = 0; i < XS_LABEL_COUNT; i++) {
            with[i] += faults.percent[i] > 0;
            kill = kill || (faults.percent[i] > 0 &&
                            xs_label_class((enum xs_label)i) == XS_CLASS_KILL);
        }
        kills += kill;
    }

    assert_true(kills >= 250);
    assert_true(kills <= 500);
    assert_true(with[XS_LABEL_RECV_SHORT] >= 400);
    assert_true(with[XS_LABEL_RECV_SHORT] <= 550);
    assert_int_equal(with[XS_LABEL_MEM_FAIL], 0);
    assert_int_equal(with[XS_LABEL_PEER_COUNT], 0);
    xs_tape_fini(&tape);
}

/* Fails if some choice is over 6 and another one, later, is not 0. */
static bool fails_with_two(void *user, const struct xs_choice *choices,
                           size_t count)
{
    bool over = false;
    (void)user;

    for (size_t i = 0; i < count; i++) {
        if (over && choices[i].value != 0) {
            return true;
        }
        over = over || choices[i].value > 6;
    }
    return false;
}

static void shrink_leaves_only_what_matters(void **state)
{
    struct xs_choice choices[100];
    struct xs_shrink shrink = {.choices = choices,
                               .count = 100,
                               .fails = fails_with_two,
                               .runs_max = 1000};
    uint64_t rng = 5;
    (void)state;

    for (unsigned i = 0; i < 100; i++) {
        choices[i] =
            (struct xs_choice){.value = (uint32_t)(xs_rng_next(&rng) % 50),
                               .bound = 50,
                               .label = T};
    }

    xs_shrink(&shrink);

    assert_true(fails_with_two(NULL, shrink.choices, shrink.count));
    assert_int_equal(xs_shrink_weight(shrink.choices, shrink.count), 2);
    assert_int_equal(shrink.choices[shrink.count - 1].value, 1);
    assert_true(shrink.runs < 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tape_of_zeros_is_always_benign),
        cmocka_unit_test(tape_gives_the_same_choices_for_the_same_seed),
        cmocka_unit_test(tape_choice_is_not_moved_by_other_labels),
        cmocka_unit_test(tape_flip_keeps_to_its_ratio),
        cmocka_unit_test(tape_size_prefers_the_edges),
        cmocka_unit_test(tape_replays_what_it_recorded),
        cmocka_unit_test(tape_tells_where_a_replay_no_longer_fits),
        cmocka_unit_test(tape_of_bytes_uses_one_a_flip_and_ends_in_zeros),
        cmocka_unit_test(tape_of_bytes_gives_each_lane_its_own),
        cmocka_unit_test(tape_next_visits_every_run_once),
        cmocka_unit_test(faults_of_a_calm_tape_are_none),
        cmocka_unit_test(shrink_leaves_only_what_matters),
        cmocka_unit_test(faults_kill_in_less_than_half_of_the_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
