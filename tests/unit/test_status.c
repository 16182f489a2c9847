/* test_status.c - core/http1/status.c: codes and phrases. */

#include "core/http1/status.h"

#include "tests/testlib.h"

static void status_line_says_code_and_phrase(void **state)
{
    (void)state;

    assert_slice_is(xs_status_line(200), "HTTP/1.1 200 OK\r\n");
    assert_slice_is(xs_status_line(511),
                    "HTTP/1.1 511 Network Authentication Required\r\n");
    assert_slice_is(xs_status_phrase(404), "Not Found");
    assert_slice_is(xs_status_phrase(418), "I'm a Teapot");
}

static void status_without_a_phrase_gives_nothing(void **state)
{
    (void)state;

    for (unsigned status = 0; status < 100; status++) {
        assert_int_equal(xs_status_line(status).len, 0);
    }
    for (unsigned status = 512; status < 1200; status++) {
        assert_int_equal(xs_status_line(status).len, 0);
    }
    assert_int_equal(xs_status_phrase(299).len, 0);
    assert_int_equal(xs_status_phrase(0).len, 0);
}

static void status_line_begins_with_its_own_code(void **state)
{
    unsigned known = 0;
    (void)state;

    for (unsigned status = 100; status < 512; status++) {
        struct xs_slice line = xs_status_line(status);
        char wanted[32];

        if (line.len == 0) {
            continue;
        }
        known++;
        (void)snprintf(wanted, sizeof wanted, "HTTP/1.1 %u ", status);
        assert_memory_equal(line.data, wanted, strlen(wanted));
        assert_memory_equal(line.data + line.len - 2, "\r\n", 2);
        assert_int_equal(xs_status_phrase(status).len,
                         line.len - strlen(wanted) - 2);
    }
    assert_true(known > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_line_says_code_and_phrase),
        cmocka_unit_test(status_without_a_phrase_gives_nothing),
        cmocka_unit_test(status_line_begins_with_its_own_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
