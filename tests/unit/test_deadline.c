/* test_deadline.c - core/base/deadline.c: many deadlines, one alarm. */

#include "core/base/deadline.h"
#include "tests/testlib.h"

#define SHORT 0u
#define LONG 1u
#define OFF 2u

struct fixture {
    struct xs_deadlines all;
    struct xs_deadline a;
    struct xs_deadline b;
    struct xs_deadline c;
};

static struct fixture *setup(void)
{
    static struct fixture f;

    xs_deadlines_init(&f.all);
    f.all.lasts_ns[SHORT] = 10;
    f.all.lasts_ns[LONG] = 100;
    xs_deadline_init(&f.a);
    xs_deadline_init(&f.b);
    xs_deadline_init(&f.c);
    return &f;
}

static void deadlines_fire_in_the_order_of_their_times(void **state)
{
    struct fixture *f = setup();
    unsigned kind = 9;
    (void)state;

    xs_deadline_arm(&f->all, &f->a, LONG, 0);   /* 100 */
    xs_deadline_arm(&f->all, &f->b, SHORT, 5);  /* 15 */
    xs_deadline_arm(&f->all, &f->c, SHORT, 95); /* 105 */

    assert_int_equal(xs_deadlines_next(&f->all), 15);
    assert_null(xs_deadlines_due(&f->all, 14, &kind));
    assert_ptr_equal(xs_deadlines_due(&f->all, 15, &kind), &f->b);
    assert_int_equal(kind, SHORT);
    assert_false(xs_deadline_armed(&f->b));
    assert_int_equal(xs_deadlines_next(&f->all), 100);
    assert_null(xs_deadlines_due(&f->all, 99, &kind));
    assert_ptr_equal(xs_deadlines_due(&f->all, 104, &kind), &f->a);
    assert_int_equal(kind, LONG);
    assert_null(xs_deadlines_due(&f->all, 104, &kind));
    assert_ptr_equal(xs_deadlines_due(&f->all, 1000, &kind), &f->c);
    assert_int_equal(xs_deadlines_next(&f->all), XS_NEVER);
}

static void deadlines_that_are_all_due_come_one_after_the_other(void **state)
{
    struct fixture *f = setup();
    unsigned kind;
    unsigned seen = 0;
    (void)state;

    xs_deadline_arm(&f->all, &f->a, LONG, 0);
    xs_deadline_arm(&f->all, &f->b, SHORT, 0);
    xs_deadline_arm(&f->all, &f->c, SHORT, 1);

    while (xs_deadlines_due(&f->all, 1000, &kind) != NULL) {
        seen++;
    }

    assert_int_equal(seen, 3);
}

static void deadline_armed_again_fires_at_the_later_time_only(void **state)
{
    struct fixture *f = setup();
    unsigned kind;
    (void)state;

    xs_deadline_arm(&f->all, &f->a, SHORT, 0);
    xs_deadline_arm(&f->all, &f->b, SHORT, 1);
    xs_deadline_arm(&f->all, &f->a, SHORT, 5);

    assert_int_equal(xs_deadlines_next(&f->all), 11);
    assert_ptr_equal(xs_deadlines_due(&f->all, 14, &kind), &f->b);
    assert_null(xs_deadlines_due(&f->all, 14, &kind));
    assert_ptr_equal(xs_deadlines_due(&f->all, 15, &kind), &f->a);
}

static void deadline_armed_with_another_kind_moves_there(void **state)
{
    struct fixture *f = setup();
    unsigned kind;
    (void)state;

    xs_deadline_arm(&f->all, &f->a, SHORT, 0);
    xs_deadline_arm(&f->all, &f->a, LONG, 0);

    assert_null(xs_deadlines_due(&f->all, 99, &kind));
    assert_ptr_equal(xs_deadlines_due(&f->all, 100, &kind), &f->a);
    assert_int_equal(kind, LONG);
}

static void deadline_of_a_kind_that_is_off_is_disarmed(void **state)
{
    struct fixture *f = setup();
    (void)state;

    xs_deadline_arm(&f->all, &f->a, SHORT, 0);
    xs_deadline_arm(&f->all, &f->a, OFF, 0);

    assert_false(xs_deadline_armed(&f->a));
    assert_int_equal(xs_deadlines_next(&f->all), XS_NEVER);
}

static void deadline_disarmed_never_fires_and_may_be_disarmed_again(
    void **state)
{
    struct fixture *f = setup();
    unsigned kind;
    (void)state;

    xs_deadline_arm(&f->all, &f->a, SHORT, 0);
    xs_deadline_disarm(&f->a);
    xs_deadline_disarm(&f->a);

    assert_false(xs_deadline_armed(&f->a));
    assert_null(xs_deadlines_due(&f->all, XS_NEVER - 1, &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_fire_in_the_order_of_their_times),
        cmocka_unit_test(deadlines_that_are_all_due_come_one_after_the_other),
        cmocka_unit_test(deadline_armed_again_fires_at_the_later_time_only),
        cmocka_unit_test(deadline_armed_with_another_kind_moves_there),
        cmocka_unit_test(deadline_of_a_kind_that_is_off_is_disarmed),
        cmocka_unit_test(
            deadline_disarmed_never_fires_and_may_be_disarmed_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
