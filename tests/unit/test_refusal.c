/* test_refusal.c - core/http1/refusal.c: reasons to refuse a request. */

#include "core/http1/refusal.h"

#include "core/http1/status.h"
#include "tests/testlib.h"

static const enum xs_refusal all[] = {
#define X(name, status, rule, text) name,
    XS_REFUSALS(X)
#undef X
};

static void refusal_has_an_error_status_with_a_phrase(void **state)
{
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(all); i++) {
        assert_true(xs_refusal_status(all[i]) >= 400);
        assert_true(xs_refusal_status(all[i]) <= 599);
        assert_true(xs_status_phrase(xs_refusal_status(all[i])).len > 0);
    }
    assert_int_equal(xs_refusal_status(XS_REFUSE_LINE_SIZE), 414);
}

static void refusal_rules_are_different_and_texts_are_sentences(void **state)
{
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(all); i++) {
        assert_true(strlen(xs_refusal_text(all[i])) > 10);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(xs_refusal_rule(all[i]),
                                    xs_refusal_rule(all[j]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusal_has_an_error_status_with_a_phrase),
        cmocka_unit_test(refusal_rules_are_different_and_texts_are_sentences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
