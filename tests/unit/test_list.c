/* test_list.c - core/base/list.h: links in what they link. */

#include "core/base/list.h"

#include "tests/testlib.h"

struct item {
    struct xs_list link;
    int n;
};

static int pop_n(struct xs_list *list)
{
    struct xs_list *link = xs_list_pop(list);

    return link == NULL ? -1 : xs_container_of(link, struct item, link)->n;
}

static void setup(struct xs_list *list, struct item *items, int count)
{
    xs_list_init(list);
    for (int i = 0; i < count; i++) {
        items[i].n = i;
        xs_list_init(&items[i].link);
        xs_list_append(list, &items[i].link);
    }
}

static void list_gives_in_the_order_of_appending(void **state)
{
    struct xs_list list;
    struct item items[3];
    (void)state;

    setup(&list, items, 3);

    assert_int_equal(pop_n(&list), 0);
    assert_int_equal(pop_n(&list), 1);
    assert_int_equal(pop_n(&list), 2);
    assert_int_equal(pop_n(&list), -1);
    assert_true(xs_list_empty(&list));
}

static void list_remove_takes_any_link_and_may_be_repeated(void **state)
{
    struct xs_list list;
    struct item items[3];
    (void)state;

    for (int gone = 0; gone < 3; gone++) {
        setup(&list, items, 3);

        xs_list_remove(&items[gone].link);
        xs_list_remove(&items[gone].link);

        assert_true(xs_list_empty(&items[gone].link));
        for (int i = 0; i < 3; i++) {
            if (i != gone) {
                assert_int_equal(pop_n(&list), i);
            }
        }
        assert_true(xs_list_empty(&list));
    }
}

static void list_splice_appends_all_and_empties_the_other(void **state)
{
    struct xs_list to;
    struct xs_list from;
    struct item items[2];
    struct item others[2];
    (void)state;

    for (int have = 0; have <= 2; have++) {
        for (int more = 0; more <= 2; more++) {
            setup(&to, items, have);
            setup(&from, others, more);

            xs_list_splice(&to, &from);

            assert_true(xs_list_empty(&from));
            for (int i = 0; i < have + more; i++) {
                assert_int_equal(pop_n(&to), i < have ? i : i - have);
            }
            assert_int_equal(pop_n(&to), -1);
        }
    }
}

static void list_pop_leaves_the_link_in_no_list(void **state)
{
    struct xs_list list;
    struct item items[1];
    (void)state;

    setup(&list, items, 1);

    assert_ptr_equal(xs_list_pop(&list), &items[0].link);

    assert_true(xs_list_empty(&items[0].link));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_gives_in_the_order_of_appending),
        cmocka_unit_test(list_remove_takes_any_link_and_may_be_repeated),
        cmocka_unit_test(list_splice_appends_all_and_empties_the_other),
        cmocka_unit_test(list_pop_leaves_the_link_in_no_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
