/* test_date.c - core/http1/date.c: the time of day. */

/* gmtime_r and strftime are the reference. */
#define _POSIX_C_SOURCE 200809L

#include "core/http1/date.h"

#include <time.h>

#include "core/base/limits.h"
#include "tests/testlib.h"

static void assert_date_is(uint64_t seconds, const char *wanted)
{
    uint8_t text[XS_DATE_LEN + 1];

    text[XS_DATE_LEN] = '?';
    assert_ptr_equal(xs_date_put(text, seconds * XS_SECOND_NS + 999999999),
                     text + XS_DATE_LEN);
    assert_int_equal(text[XS_DATE_LEN], '?');
    assert_slice_is(xs_slice_of(text, XS_DATE_LEN), wanted);
}

static void date_is_written_like_the_rfc_does(void **state)
{
    (void)state;

    assert_date_is(784111777, "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_date_is(0, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_date_is(951782399, "Mon, 28 Feb 2000 23:59:59 GMT");
    assert_date_is(951782400, "Tue, 29 Feb 2000 00:00:00 GMT");
    assert_date_is(4107542400, "Mon, 01 Mar 2100 00:00:00 GMT");
}

static void date_is_the_c_librarys_for_every_day_until_2150(void **state)
{
    (void)state;

    for (time_t day = 0; day < 180 * 366; day++) {
        time_t seconds = day * 86400 + (day * 7919) % 86400;
        char wanted[64];
        struct tm tm;

        assert_non_null(gmtime_r(&seconds, &tm));
        assert_int_equal(
            strftime(wanted, sizeof wanted, "%a, %d %b %Y %H:%M:%S GMT", &tm),
            XS_DATE_LEN);
        assert_date_is((uint64_t)seconds, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(date_is_written_like_the_rfc_does),
        cmocka_unit_test(date_is_the_c_librarys_for_every_day_until_2150),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
