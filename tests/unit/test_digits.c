/* test_digits.c - core/http1/digits.c: numbers as text, and back. */

#include "core/http1/digits.h"

#include <inttypes.h>

#include "core/base/error.h"
#include "tests/testlib.h"

static void assert_put(uint64_t value)
{
    char wanted[32];
    uint8_t out[32];
    uint64_t back = 0;
    size_t len;

    (void)snprintf(wanted, sizeof wanted, "%" PRIu64, value);
    len = (size_t)(xs_digits_put(out, value) - out);
    assert_slice_is(xs_slice_of(out, len), wanted);
    assert_int_equal(xs_digits_get(xs_slice_of(out, len), &back), 0);
    assert_true(back == value);
    (void)snprintf(wanted, sizeof wanted, "%" PRIx64, value);
    len = (size_t)(xs_digits_put_hex(out, value) - out);
    assert_slice_is(xs_slice_of(out, len), wanted);
}

static void digits_put_writes_like_printf(void **state)
{
    (void)state;

    for (uint64_t value = 0; value < 20000; value++) {
        assert_put(value);
    }
    for (unsigned bits = 0; bits < 64; bits++) {
        assert_put((uint64_t)1 << bits);
        assert_put(((uint64_t)1 << bits) - 1);
    }
    assert_put(UINT64_MAX);
}

static void digits_put_two_writes_the_last_two(void **state)
{
    uint8_t out[3] = {0};
    (void)state;

    for (unsigned value = 0; value < 300; value++) {
        char wanted[8];

        (void)snprintf(wanted, sizeof wanted, "%02u", value % 100);
        assert_ptr_equal(xs_digits_put_two(out, value), out + 2);
        assert_string_equal((const char *)out, wanted);
    }
}

static void digits_get_takes_decimal_digits_only(void **state)
{
    static const char *const bad[] = {"",   "+5",  "-5",  " 5",  "5 ",  "0x5",
                                      "5a", "1_0", "5.0", "5,5", "\xb2"};
    uint64_t value = 77;
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(bad); i++) {
        assert_int_equal(xs_digits_get(xs_slice_str(bad[i]), &value),
                         XS_ESYNTAX);
        assert_true(value == 77);
    }
    assert_int_equal(xs_digits_get(XS_LIT("007"), &value), 0);
    assert_true(value == 7);
}

static void digits_get_refuses_one_over_the_maximum(void **state)
{
    uint64_t value = 0;
    (void)state;

    assert_int_equal(xs_digits_get(XS_LIT("18446744073709551615"), &value), 0);
    assert_true(value == UINT64_MAX);

    assert_int_equal(xs_digits_get(XS_LIT("18446744073709551616"), &value),
                     XS_ESYNTAX);
    assert_int_equal(xs_digits_get(XS_LIT("99999999999999999999"), &value),
                     XS_ESYNTAX);
    assert_int_equal(xs_digits_get(XS_LIT("184467440737095516150"), &value),
                     XS_ESYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_put_writes_like_printf),
        cmocka_unit_test(digits_put_two_writes_the_last_two),
        cmocka_unit_test(digits_get_takes_decimal_digits_only),
        cmocka_unit_test(digits_get_refuses_one_over_the_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
