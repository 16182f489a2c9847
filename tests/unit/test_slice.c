/* test_slice.c - core/base/slice.c: runs of bytes. */

#include "core/base/slice.h"

#include "tests/testlib.h"

static void slice_eq_compares_bytes_and_length(void **state)
{
    (void)state;

    assert_true(xs_slice_eq(XS_LIT("abc"), xs_slice_str("abc")));
    assert_true(xs_slice_eq(XS_LIT(""), (struct xs_slice){NULL, 0}));
    assert_false(xs_slice_eq(XS_LIT("abc"), XS_LIT("abd")));
    assert_false(xs_slice_eq(XS_LIT("abc"), XS_LIT("ab")));
    assert_true(xs_slice_eq(XS_LIT("a\0b"), XS_LIT("a\0b")));
    assert_false(xs_slice_eq(XS_LIT("a\0b"), XS_LIT("a\0c")));
}

static void slice_eq_lower_ignores_the_case_of_letters_only(void **state)
{
    (void)state;

    assert_true(xs_slice_eq_lower(XS_LIT("HoSt"), XS_LIT("host")));
    assert_true(xs_slice_eq_lower(XS_LIT(""), XS_LIT("")));
    assert_false(xs_slice_eq_lower(XS_LIT("host "), XS_LIT("host")));
    assert_false(xs_slice_eq_lower(XS_LIT("hos"), XS_LIT("host")));
    assert_false(xs_slice_eq_lower(XS_LIT("@"), XS_LIT("`")));
    assert_false(xs_slice_eq_lower(XS_LIT("["), XS_LIT("{")));
    assert_false(xs_slice_eq_lower(XS_LIT("\r"), XS_LIT("-")));
}

static void slice_trim_takes_blanks_off_both_ends(void **state)
{
    (void)state;

    assert_slice_is(xs_slice_trim(XS_LIT(" \t a b\t ")), "a b");
    assert_slice_is(xs_slice_trim(XS_LIT("a")), "a");
    assert_slice_is(xs_slice_trim(XS_LIT(" \t ")), "");
    assert_slice_is(xs_slice_trim(XS_LIT("")), "");
    assert_slice_is(xs_slice_trim(XS_LIT("\va\r")), "\va\r");
}

static void slice_list_next_gives_each_element_trimmed(void **state)
{
    struct xs_slice rest = XS_LIT("a,  bc\t,,d ");
    struct xs_slice out;
    static const char *const wanted[] = {"a", "bc", "", "d"};
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(wanted); i++) {
        assert_true(xs_slice_list_next(&rest, &out));
        assert_slice_is(out, wanted[i]);
    }

    assert_false(xs_slice_list_next(&rest, &out));
    assert_false(xs_slice_list_next(&rest, &out));
}

static void slice_list_next_gives_what_follows_the_last_comma(void **state)
{
    struct xs_slice rest = XS_LIT("a,");
    struct xs_slice out;
    (void)state;

    assert_true(xs_slice_list_next(&rest, &out));
    assert_slice_is(out, "a");

    assert_true(xs_slice_list_next(&rest, &out));

    assert_slice_is(out, "");
    assert_false(xs_slice_list_next(&rest, &out));
}

static void slice_extend_reaches_from_the_begin_to_the_end(void **state)
{
    const uint8_t *bytes = (const uint8_t *)"abcdef";
    struct xs_slice slice = {NULL, 0};
    (void)state;

    xs_slice_extend(&slice, bytes + 1, 2);
    assert_true(xs_slice_eq(slice, XS_LIT("bc")));
    xs_slice_extend(&slice, bytes + 3, 2);
    assert_true(xs_slice_eq(slice, XS_LIT("bcde")));
}

static void slice_move_leaves_what_is_nothing(void **state)
{
    const uint8_t *bytes = (const uint8_t *)"abcdef";
    struct xs_slice slice = {bytes, 2};
    struct xs_slice none = {NULL, 0};
    (void)state;

    xs_slice_move(&slice, 3);
    xs_slice_move(&none, 3);

    assert_true(xs_slice_eq(slice, XS_LIT("de")));
    assert_null(none.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_eq_compares_bytes_and_length),
        cmocka_unit_test(slice_eq_lower_ignores_the_case_of_letters_only),
        cmocka_unit_test(slice_trim_takes_blanks_off_both_ends),
        cmocka_unit_test(slice_list_next_gives_each_element_trimmed),
        cmocka_unit_test(slice_list_next_gives_what_follows_the_last_comma),
        cmocka_unit_test(slice_extend_reaches_from_the_begin_to_the_end),
        cmocka_unit_test(slice_move_leaves_what_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
