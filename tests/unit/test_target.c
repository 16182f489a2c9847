/* test_target.c - core/http1/target.c: request targets and authorities. */

#include "core/http1/target.h"

#include "tests/testlib.h"

static enum xs_refusal parse(struct xs_head *head, const char *method,
                             const char *target)
{
    *head = (struct xs_head){
        .method = xs_slice_str(method),
        .target = xs_slice_str(target),
        .path = XS_LIT("left over"),
        .query = XS_LIT("left over"),
        .authority = XS_LIT("left over"),
    };
    return xs_target_parse(head);
}

struct parts {
    const char *target;
    const char *path;
    const char *query;
    const char *authority;
};

static void target_is_cut_into_its_parts(void **state)
{
    static const struct parts cases[] = {
        {"/", "/", "", ""},
        {"/a/b", "/a/b", "", ""},
        {"/a?", "/a", "", ""},
        {"/a?b=c", "/a", "b=c", ""},
        {"/a?b?c", "/a", "b?c", ""},
        {"/?x", "/", "x", ""},
        {"//host/a", "//host/a", "", ""},
        {"/a;p=1/b", "/a;p=1/b", "", ""},
        {"/http://x/", "/http://x/", "", ""},
        {"http://h", "/", "", "h"},
        {"http://h/", "/", "", "h"},
        {"http://h?x=1", "/", "x=1", "h"},
        {"http://h:80/a?b", "/a", "b", "h:80"},
        {"https://h/a", "/a", "", "h"},
        {"HTTP://H/a", "/a", "", "H"},
        {"https://[::1]:8443/a", "/a", "", "[::1]:8443"},
        {"http://h/a?http://b/", "/a", "http://b/", "h"},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct xs_head head;

        assert_int_equal(parse(&head, "GET", cases[i].target), XS_REFUSE_NOT);
        assert_slice_is(head.path, cases[i].path);
        assert_slice_is(head.query, cases[i].query);
        assert_slice_is(head.authority, cases[i].authority);
    }
}

static void target_that_is_none_of_the_forms_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "a",
        "a/b",
        "h:80",
        "*",
        "*x",
        "?a",
        "http:/h/",
        "http:h",
        "http://",
        "http:///a",
        "http://?a",
        "ftp://h/",
        "http//h/",
        "https:",
        "http://u@h/",
        "http://u:p@h/",
        "http://h:x/",
        "http://[::1/",
        "/a#b",
        "/a?b#c",
        "http://h#a",
        "http://h/#",
        "#",
        "http://h:99999/",
        "mailto:a@b",
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct xs_head head;

        if (parse(&head, "GET", cases[i]) != XS_REFUSE_TARGET) {
            fail_msg("%s was taken", cases[i]);
        }
    }
}

static void target_asterisk_is_for_options_only(void **state)
{
    struct xs_head head;
    (void)state;

    assert_int_equal(parse(&head, "OPTIONS", "*"), XS_REFUSE_NOT);
    assert_slice_is(head.path, "*");

    assert_int_equal(parse(&head, "GET", "*"), XS_REFUSE_TARGET);
    assert_int_equal(parse(&head, "OPTIONS", "**"), XS_REFUSE_TARGET);
    assert_int_equal(parse(&head, "OPTIONSX", "*"), XS_REFUSE_TARGET);
}

static void target_options_for_a_whole_server_is_an_asterisk(void **state)
{
    struct xs_head head;
    (void)state;

    assert_int_equal(parse(&head, "OPTIONS", "http://h:8001"), XS_REFUSE_NOT);
    assert_slice_is(head.path, "*");

    assert_int_equal(parse(&head, "OPTIONS", "http://h:8001/"), XS_REFUSE_NOT);
    assert_slice_is(head.path, "/");
    assert_int_equal(parse(&head, "OPTIONS", "http://h?a"), XS_REFUSE_NOT);
    assert_slice_is(head.path, "/");
}

static void authority_is_a_host_and_perhaps_a_port(void **state)
{
    static const char *const good[] = {
        "a",
        "xsgi.test",
        "a_b-c~d",
        "a.",
        "127.0.0.1",
        "999.1.1.1", /* a name, if no address */
        "a:",
        "a:0",
        "a:65535",
        "a:00080",
        "a%2Fb",
        "%41",
        "a,b",
        "[::]",
        "[::1]",
        "[1::]",
        "[1::2]:80",
        "[1:2:3:4:5:6:7:8]",
        "[1:2:3:4:5:6:7::]",
        "[::2:3:4:5:6:7:8]",
        "[1:2:3:4:5:6:1.2.3.4]",
        "[::ffff:127.0.0.1]",
        "[::1.2.3.4]",
        "[2001:DB8::Ff]:",
        "[v1.a:b]",
        "[VF.~]",
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(good); i++) {
        if (!xs_target_is_authority(xs_slice_str(good[i]))) {
            fail_msg("%s was refused", good[i]);
        }
    }
}

static void authority_of_any_other_shape_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        ":",
        ":80",
        "a:b",
        "a:80:",
        "a:65536",
        "a:99999999999999999999",
        "a:-1",
        "a:8 0",
        "a b",
        " a",
        "a/b",
        "a?b",
        "a#b",
        "u@a",
        "a%",
        "a%2",
        "a%2g",
        "a\x80",
        "a\"b",
        "[",
        "[]",
        "[::1",
        "::1",
        "[::1]x",
        "[::1]80",
        "[:]",
        "[:::]",
        "[:1]",
        "[1:]",
        "[1:2]",
        "[1::2::3]",
        "[1:2:3:4:5:6:7]",
        "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4:5:6:7:8::]",
        "[1:2:3:4::5:6:7:8]",
        "[12345::]",
        "[g::]",
        "[::1%25eth0]",
        "[1.2.3.4]",
        "[::1.2.3]",
        "[::1.2.3.4.5]",
        "[::1.2.3.256]",
        "[::1.2.3.04]",
        "[::1.2.3.4:5]",
        "[1:2:3:4:5:6:7:1.2.3.4]",
        "[v]",
        "[v1]",
        "[v1.]",
        "[v.a]",
        "[vg.a]",
        "[v1.a/b]",
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(bad); i++) {
        if (xs_target_is_authority(xs_slice_str(bad[i]))) {
            fail_msg("%s was taken", bad[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(target_is_cut_into_its_parts),
        cmocka_unit_test(target_that_is_none_of_the_forms_is_refused),
        cmocka_unit_test(target_asterisk_is_for_options_only),
        cmocka_unit_test(target_options_for_a_whole_server_is_an_asterisk),
        cmocka_unit_test(authority_is_a_host_and_perhaps_a_port),
        cmocka_unit_test(authority_of_any_other_shape_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
