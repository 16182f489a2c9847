/* date.c - the time of day as HTTP writes it. */

#include "core/http1/date.h"

#include <string.h>

#include "core/base/limits.h"
#include "core/http1/digits.h"

#define SECONDS_A_DAY 86400u

struct date {
    unsigned year;
    unsigned month; /* 1 to 12 */
    unsigned day;   /* 1 to 31 */
};

/* Days are counted from 1 March of year 0, so that the leap day comes last in
 * its year, four-year and 400-year period. */
static struct date date_of_day(uint64_t days_since_1970)
{
    uint64_t days = days_since_1970 + 719468;
    uint64_t era = days / 146097; /* 400 years */
    unsigned in_era = (unsigned)(days % 146097);
    unsigned year_in_era =
        (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    unsigned in_year =
        in_era - (365 * year_in_era + year_in_era / 4 - year_in_era / 100);
    unsigned month = (5 * in_year + 2) / 153; /* 0: March */
    struct date date = {
        .year = (unsigned)era * 400 + year_in_era,
        .month = month < 10 ? month + 3 : month - 9,
        .day = in_year - (153 * month + 2) / 5 + 1,
    };

    if (date.month <= 2) {
        date.year++;
    }
    return date;
}

static uint8_t *put_text(uint8_t *out, const char *text, size_t len)
{
    memcpy(out, text, len);
    return out + len;
}

uint8_t *xs_date_put(uint8_t *out, uint64_t wall_ns)
{
    uint64_t seconds = wall_ns / XS_SECOND_NS;
    uint64_t days = seconds / SECONDS_A_DAY;
    unsigned time = (unsigned)(seconds % SECONDS_A_DAY);
    struct date date = date_of_day(days);

    /* 1 January 1970 was a Thursday. */
    out = put_text(out, &"ThuFriSatSunMonTueWed"[days % 7 * 3], 3);
    out = put_text(out, ", ", 2);
    out = xs_digits_put_two(out, date.day);
    out = put_text(out, " ", 1);
    out = put_text(
        out, &"JanFebMarAprMayJunJulAugSepOctNovDec"[(date.month - 1) * 3], 3);
    out = put_text(out, " ", 1);
    out = xs_digits_put_two(out, date.year / 100);
    out = xs_digits_put_two(out, date.year);
    out = put_text(out, " ", 1);
    out = xs_digits_put_two(out, time / 3600);
    out = put_text(out, ":", 1);
    out = xs_digits_put_two(out, time / 60 % 60);
    out = put_text(out, ":", 1);
    out = xs_digits_put_two(out, time % 60);
    return put_text(out, " GMT", 4);
}
