/* test_error.c - core/base/error.c: names and texts of all codes. */

#include "core/base/error.h"
#include "tests/testlib.h"

static const int codes[] = {
#define X(name, value, text) name,
    XS_ERRORS(X)
#undef X
};

static void error_codes_are_negative_and_different(void **state)
{
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(codes); i++) {
        assert_true(codes[i] < 0);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(codes[i], codes[j]);
        }
    }
}

static void error_text_and_name_differ_for_each_code(void **state)
{
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(codes); i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(xs_error_text(codes[i]),
                                    xs_error_text(codes[j]));
            assert_string_not_equal(xs_error_name(codes[i]),
                                    xs_error_name(codes[j]));
        }
    }
}

static void error_name_is_the_name_of_the_code(void **state)
{
    (void)state;

    assert_string_equal(xs_error_name(XS_EAGAIN), "XS_EAGAIN");
    assert_string_equal(xs_error_text(XS_ENOMEM), "out of memory");
}

static void error_zero_is_ok_and_others_are_unknown(void **state)
{
    (void)state;

    assert_string_equal(xs_error_name(0), "ok");
    assert_string_equal(xs_error_text(0), "ok");
    assert_string_equal(xs_error_name(-9999), "unknown");
    assert_string_equal(xs_error_text(1), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_codes_are_negative_and_different),
        cmocka_unit_test(error_text_and_name_differ_for_each_code),
        cmocka_unit_test(error_name_is_the_name_of_the_code),
        cmocka_unit_test(error_zero_is_ok_and_others_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
