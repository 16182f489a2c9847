/* test_extra.c - core/http1/extra.c: what chunks have besides data. */

#include "core/http1/extra.h"

#include "tests/testlib.h"

#define MAX ((size_t)100)

static uint8_t input[4096];

static struct xs_limits limits_of_test(void)
{
    struct xs_limits limits = xs_limits_default();

    limits.chunk_extra_max = MAX;
    limits.request_trailer_max = MAX;
    return limits;
}

static void extra_takes_plain_framing_for_ever(void **state)
{
    const struct xs_limits limits = limits_of_test();
    struct xs_extra extra = {.owed = 0};
    (void)state;

    for (unsigned i = 0; i < 10000; i++) {
        xs_extra_input(&extra, input);
        assert_int_equal(
            xs_extra_data(&extra, &limits, input + XS_CHUNK_FRAMING, 1),
            XS_REFUSE_NOT);
    }
    assert_int_equal(extra.owed, 0);
}

static void extra_takes_max_bytes_and_not_one_more(void **state)
{
    const struct xs_limits limits = limits_of_test();
    struct xs_extra extra = {.owed = 0};
    const uint8_t *at = input + XS_CHUNK_FRAMING + MAX;
    (void)state;

    xs_extra_input(&extra, input);
    assert_int_equal(xs_extra_end(&extra, &limits, at), XS_REFUSE_NOT);

    xs_extra_input(&extra, input);
    assert_int_equal(xs_extra_end(&extra, &limits, input + 1),
                     XS_REFUSE_CHUNK_EXTRA);
    extra = (struct xs_extra){.mark = input};
    assert_int_equal(xs_extra_data(&extra, &limits, at + 1, 1),
                     XS_REFUSE_CHUNK_EXTRA);
    extra = (struct xs_extra){.mark = input};
    assert_int_equal(xs_extra_trailer(&extra, &limits, at + 1),
                     XS_REFUSE_CHUNK_EXTRA);
}

static void extra_counts_what_is_cut_like_what_is_not(void **state)
{
    const struct xs_limits limits = limits_of_test();
    const size_t len = XS_CHUNK_FRAMING + 20;
    (void)state;

    for (size_t cut = 0; cut <= len; cut++) {
        struct xs_extra whole = {.mark = input};
        struct xs_extra parts = {.mark = input};

        assert_int_equal(xs_extra_data(&whole, &limits, input + len, 3),
                         XS_REFUSE_NOT);
        assert_int_equal(xs_extra_end(&parts, &limits, input + cut),
                         XS_REFUSE_NOT);
        xs_extra_input(&parts, input + cut);
        assert_int_equal(xs_extra_data(&parts, &limits, input + len, 3),
                         XS_REFUSE_NOT);

        assert_int_equal(parts.owed, whole.owed);
        assert_int_equal(whole.owed, 20 * XS_CHUNK_EXTRA_SHARE - 3);
        assert_ptr_equal(parts.mark, input + len + 3);
    }
}

static void extra_forgives_a_sixteenth_of_the_data(void **state)
{
    const struct xs_limits limits = limits_of_test();
    struct xs_extra extra = {.mark = input};
    (void)state;

    assert_int_equal(
        xs_extra_data(&extra, &limits, input + XS_CHUNK_FRAMING + MAX,
                      MAX * XS_CHUNK_EXTRA_SHARE),
        XS_REFUSE_NOT);
    assert_int_equal(extra.owed, 0);
}

static void extra_counts_the_trailer_apart_and_from_its_begin(void **state)
{
    const struct xs_limits limits = limits_of_test();
    struct xs_extra extra = {.mark = input};
    const uint8_t *at = input + XS_CHUNK_FRAMING + MAX;
    (void)state;

    assert_int_equal(xs_extra_trailer(&extra, &limits, at), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_trailer(&extra, &limits, at + 50), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_end(&extra, &limits, at + MAX), XS_REFUSE_NOT);
    xs_extra_input(&extra, input);
    assert_int_equal(xs_extra_end(&extra, &limits, input), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_end(&extra, &limits, input + 1),
                     XS_REFUSE_TRAILER_SIZE);
}

static void extra_refuses_a_name_or_value_of_no_bytes(void **state)
{
    struct xs_extra extra = {.word = 0};
    (void)state;

    assert_int_equal(xs_extra_word(&extra, XS_LIT("a")), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_word(&extra, XS_LIT("")), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_word_end(&extra), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_word(&extra, XS_LIT("")), XS_REFUSE_NOT);
    assert_int_equal(xs_extra_word_end(&extra), XS_REFUSE_CHUNK);
}

static void extra_refuses_a_quote_behind_something_else(void **state)
{
    const struct xs_slice quoted = XS_LIT("\"a\"");
    (void)state;

    for (size_t cut = 0; cut <= quoted.len; cut++) {
        struct xs_extra extra = {.word = 0};
        struct xs_slice rest = xs_slice_of(quoted.data + cut, quoted.len - cut);

        assert_int_equal(xs_extra_word(&extra, xs_slice_of(quoted.data, cut)),
                         XS_REFUSE_NOT);
        assert_int_equal(xs_extra_word(&extra, rest), XS_REFUSE_NOT);
        assert_int_equal(xs_extra_word_end(&extra), XS_REFUSE_NOT);
        assert_int_equal(xs_extra_word(&extra, XS_LIT("b")), XS_REFUSE_NOT);
        assert_int_equal(xs_extra_word(&extra, quoted), XS_REFUSE_CHUNK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extra_takes_plain_framing_for_ever),
        cmocka_unit_test(extra_takes_max_bytes_and_not_one_more),
        cmocka_unit_test(extra_counts_what_is_cut_like_what_is_not),
        cmocka_unit_test(extra_forgives_a_sixteenth_of_the_data),
        cmocka_unit_test(extra_counts_the_trailer_apart_and_from_its_begin),
        cmocka_unit_test(extra_refuses_a_name_or_value_of_no_bytes),
        cmocka_unit_test(extra_refuses_a_quote_behind_something_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
