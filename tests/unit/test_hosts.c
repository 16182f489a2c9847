/* test_hosts.c - core/http1/hosts.c: which hosts are served here. */

#include "core/http1/hosts.h"

#include "tests/testlib.h"

struct host_case {
    const char *list;
    const char *authority;
    bool has;
};

static void hosts_have_what_is_listed_and_nothing_else(void **state)
{
    static const struct host_case cases[] = {
        {"", "a.test", true},
        {"", "", true},
        {"a.test", "", false},
        {"a.test", "a.test", true},
        {"a.test", "A.Test", true},
        {"a.test", "a.test.", true},
        {"a.test", "a.test:8000", true},
        {"a.test", "a.test.:8000", true},
        {"a.test", "a.test:", true},
        {"a.test", "b.test", false},
        {"a.test", "xa.test", false},
        {"a.test", "x.a.test", false},
        {"a.test", "a.tes", false},
        {"a.test", ".", false},
        {"a.test,b.test", "b.test", true},
        {"a.test, b.test", "b.test", true},
        {".a.test", "a.test", true},
        {".a.test", "x.a.test:1", true},
        {".a.test", "x.y.a.test", true},
        {".a.test", "xa.test", false},
        {".a.test", ".a.test", false},
        {"*.a.test", "x.a.test", true},
        {"*.a.test", "a.test", false},
        {"*.a.test", "xa.test", false},
        {"[::1]", "[::1]", true},
        {"[::1]", "[::1]:8000", true},
        {"[::1]", "[::2]:8000", false},
        {"[::1]", "[0:0:0:0:0:0:0:1]", true},
        {"[::1]", "[0000:0::0:0001]:8000", true},
        {"[::1]", "[::0.0.0.1]", true},
        {"[::1]", "[1::]", false},
        {"[::1]", "[::1:0]", false},
        {"[::1]", "[0:0:0:0:0:0:1:1]", false},
        {"[0:0:0:0:0:0:0:1]", "[::1]", true},
        {"[0:0:0:0:0:0:0:1]", "[::]", false},
        {"[::]", "[0::0]", true},
        {"[::]", "[::1]", false},
        {"[2001:db8::ab]", "[2001:DB8:0:0::AB]", true},
        {"[2001:db8::ab]", "[2001:db8::ac]", false},
        {"[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:0.7.0.8]", true},
        {"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]", true},
        {"[::2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]", true},
        {"[::ffff:102:304]", "[::FFFF:1.2.3.4]", true},
        {"[::ffff:102:304]", "[::ffff:1.2.3.5]", false},
        {"[::ffff:102:304]", "[::ffff:2.1.3.4]", false},
        {"[::1]", "[v1.1]", false},
        {"[v1.a]", "[V1.A]:1", true},
        {"[::1]", "1", false},
        {"x.a.test", "[::1]", false},
        {"127.0.0.1", "127.0.0.1:80", true},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        bool has = xs_hosts_have(xs_slice_str(cases[i].list),
                                 xs_slice_str(cases[i].authority));

        if (has != cases[i].has) {
            fail_msg("\"%s\" in \"%s\": %d", cases[i].authority, cases[i].list,
                     has);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_have_what_is_listed_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
