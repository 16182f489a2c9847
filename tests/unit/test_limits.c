/* test_limits.c - core/base/limits.c: the defaults go together. */

#include "core/base/limits.h"
#include "tests/testlib.h"

static void limits_default_switches_every_deadline_on(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    for (unsigned i = 0; i < XS_DEADLINE_KINDS; i++) {
        assert_true(limits.timeout_ns[i] >= XS_SECOND_NS);
        assert_true(limits.timeout_ns[i] <= 600 * XS_SECOND_NS);
    }
}

static void limits_default_fits_a_head_into_a_block(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    assert_true(limits.request_line_max + limits.request_field_max <
                XS_RX_BLOCK);
    assert_true(limits.request_fields_max <= XS_FIELDS_MAX);
}

static void limits_default_wakes_the_sender_below_the_high_mark(void **state)
{
    struct xs_limits limits = xs_limits_default();
    (void)state;

    assert_true(limits.tx_low < limits.tx_high);
    assert_true(limits.tx_high > XS_TX_COPY_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_default_switches_every_deadline_on),
        cmocka_unit_test(limits_default_fits_a_head_into_a_block),
        cmocka_unit_test(limits_default_wakes_the_sender_below_the_high_mark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
