/* test_rules.c - core/http1/rules.c: the rules across fields. */

#include "core/http1/rules.h"

#include "tests/testlib.h"

#define FIELDS_MAX 8

/* A request that is legal; each test changes what it is about. */
struct fixture {
    struct xs_head head;
    struct xs_rules_seen seen;
    struct xs_limits limits;
    struct xs_field fields[FIELDS_MAX];
};

static void add(struct fixture *f, const char *name, const char *value)
{
    assert_true(f->head.field_count < FIELDS_MAX);
    f->fields[f->head.field_count++] = (struct xs_field){
        xs_slice_str(name),
        xs_slice_str(value),
    };
}

/* The fields come as pairs; NULL ends them. */
static void setup(struct fixture *f, const char *const *fields)
{
    *f = (struct fixture){
        .head = {.method = XS_LIT("POST"), .target = XS_LIT("/a?b")},
        .seen = {.major = 1, .minor = 1},
        .limits = xs_limits_default(),
    };
    f->head.fields = f->fields;
    for (; *fields != NULL; fields += 2) {
        add(f, fields[0], fields[1]);
    }
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static enum xs_refusal apply(struct fixture *f)
{
    return xs_rules_apply(&f->head, &f->seen, &f->limits);
}

static void rules_fill_in_a_plain_request(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("host", "xsgi.test", "X-A", "v \t"));

    assert_int_equal(apply(&f), XS_REFUSE_NOT);

    assert_slice_is(f.head.path, "/a");
    assert_slice_is(f.head.query, "b");
    assert_slice_is(f.head.fields[1].value, "v");
    assert_int_equal(f.head.minor, 1);
    assert_int_equal(f.head.framing, XS_FRAMING_NONE);
    assert_true(f.head.keep_alive);
    assert_false(f.head.expect_continue);
    assert_false(f.head.is_head);
}

static void rules_know_who_takes_trailers(void **state)
{
    static const struct {
        const char *te;
        bool takes;
    } cases[] = {{"trailers", true},   {"gzip;q=0.5 , TRAILERS", true},
                 {"gzip", false},      {"trailers;q=1", false},
                 {"trailersx", false}, {"", false}};
    struct fixture f;
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        setup(&f, FIELDS("host", "xsgi.test", "Te", cases[i].te));

        assert_int_equal(apply(&f), XS_REFUSE_NOT);
        assert_int_equal(f.head.trailers, cases[i].takes);
    }
}

struct version {
    unsigned major;
    unsigned minor;
    enum xs_refusal wanted;
    unsigned wanted_minor;
};

static void rules_take_versions_of_http_1_only(void **state)
{
    static const struct version cases[] = {
        {1, 0, XS_REFUSE_NOT, 0},     {1, 1, XS_REFUSE_NOT, 1},
        {1, 2, XS_REFUSE_NOT, 1},     {1, 9, XS_REFUSE_NOT, 1},
        {0, 9, XS_REFUSE_VERSION, 0}, {2, 0, XS_REFUSE_VERSION, 0},
        {9, 9, XS_REFUSE_VERSION, 0},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct fixture f;

        setup(&f, FIELDS("Host", "a"));
        f.seen.major = cases[i].major;
        f.seen.minor = cases[i].minor;
        assert_int_equal(apply(&f), cases[i].wanted);
        assert_int_equal(f.head.minor, cases[i].wanted_minor);
    }
}

static void rules_want_exactly_one_valid_host(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("X", "a"));
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", "a", "hOST", "a"));
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", ""));
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", "a/b"));
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", " a"));
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", "a:80 "));
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
}

static void rules_let_http_1_0_leave_host_out_but_not_repeat_it(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("X", "a"));
    f.seen.minor = 0;
    assert_int_equal(apply(&f), XS_REFUSE_NOT);

    setup(&f, FIELDS("Host", "a", "Host", "a"));
    f.seen.minor = 0;
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", "a b"));
    f.seen.minor = 0;
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
}

static void rules_put_the_authority_of_the_target_into_host(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("X", "a", "Host", "proxy.test"));
    f.head.target = XS_LIT("http://real.test:81/a");

    assert_int_equal(apply(&f), XS_REFUSE_NOT);

    assert_slice_is(f.head.fields[1].value, "real.test:81");
    assert_slice_is(f.head.fields[0].value, "a");
    /* It must be there, and valid, all the same. */
    setup(&f, FIELDS("X", "a"));
    f.head.target = XS_LIT("http://real.test:81/a");
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
    setup(&f, FIELDS("Host", "?"));
    f.head.target = XS_LIT("http://real.test:81/a");
    assert_int_equal(apply(&f), XS_REFUSE_HOST);
}

struct coding {
    const char *value;
    enum xs_refusal wanted;
};

static void rules_take_chunked_alone(void **state)
{
    static const struct coding cases[] = {
        {"chunked", XS_REFUSE_NOT},
        {"ChunKed", XS_REFUSE_NOT},
        {"chunked ", XS_REFUSE_NOT},
        {"gzip, chunked", XS_REFUSE_CODING},
        {"gzip,deflate , chunked", XS_REFUSE_CODING},
        {"identity, chunked", XS_REFUSE_CODING},
        {"gzip", XS_REFUSE_FRAMING},
        {"identity", XS_REFUSE_FRAMING},
        {"chunked, gzip", XS_REFUSE_FRAMING},
        {"chunked, chunked", XS_REFUSE_FRAMING},
        {"gzip, chunked, chunked", XS_REFUSE_FRAMING},
        {", chunked", XS_REFUSE_FRAMING},
        {"chunked,", XS_REFUSE_FRAMING},
        {"", XS_REFUSE_FRAMING},
        {"chunkedx", XS_REFUSE_FRAMING},
        {"xchunked", XS_REFUSE_FRAMING},
        {"chunked;q=1", XS_REFUSE_FRAMING},
        {"\"chunked\"", XS_REFUSE_FRAMING},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct fixture f;
        enum xs_refusal why;

        setup(&f, FIELDS("Host", "a", "Transfer-Encoding", cases[i].value));
        f.seen.has_coding = true;
        f.seen.is_chunked = true;
        why = apply(&f);
        if (why != cases[i].wanted) {
            fail_msg("%s gave %d", cases[i].value, why);
        }
        if (why == XS_REFUSE_NOT) {
            assert_int_equal(f.head.framing, XS_FRAMING_CHUNKED);
        }
    }
}

static void rules_refuse_two_answers_to_where_the_body_ends(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("Host", "a", "Transfer-Encoding", "chunked"));
    f.seen.has_coding = f.seen.is_chunked = true;
    f.seen.has_length = true;
    f.seen.length = 5;
    assert_int_equal(apply(&f), XS_REFUSE_FRAMING);

    setup(&f, FIELDS("Host", "a", "Transfer-Encoding", "chunked",
                     "transfer-encoding", "chunked"));
    f.seen.has_coding = f.seen.is_chunked = true;
    assert_int_equal(apply(&f), XS_REFUSE_FRAMING);

    setup(&f, FIELDS("Host", "a", "Transfer-Encoding", "chunked"));
    f.seen.has_coding = f.seen.is_chunked = true;
    f.seen.minor = 0;
    assert_int_equal(apply(&f), XS_REFUSE_FRAMING);

    /* Whoever read the syntax and the rules must be of one mind. */
    setup(&f, FIELDS("Host", "a", "Transfer-Encoding", "chunked"));
    assert_int_equal(apply(&f), XS_REFUSE_FRAMING);
    setup(&f, FIELDS("Host", "a"));
    f.seen.has_coding = f.seen.is_chunked = true;
    assert_int_equal(apply(&f), XS_REFUSE_FRAMING);
}

static void rules_bound_the_declared_length(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("Host", "a"));
    f.limits.request_body_max = 100;
    f.seen.has_length = true;
    f.seen.length = 100;
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_int_equal(f.head.framing, XS_FRAMING_LENGTH);
    assert_int_equal(f.head.length, 100);

    f.seen.length = 101;
    assert_int_equal(apply(&f), XS_REFUSE_BODY_SIZE);

    f.seen.length = 0;
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_int_equal(f.head.framing, XS_FRAMING_NONE);
}

struct life {
    unsigned minor;
    const char *connection;
    bool wanted;
};

static void rules_tell_whether_the_connection_lives_on(void **state)
{
    static const struct life cases[] = {
        {1, "keep-alive", true},
        {1, "close", false},
        {1, "CLOSE", false},
        {1, "x, close", false},
        {1, "close\t, x", false},
        {1, ",close", false},
        {1, "close, keep-alive", false},
        {1, "closed", true},
        {1, "x close", true},
        {1, "", true},
        {0, "keep-alive", true},
        {0, "Keep-Alive", true},
        {0, "x, keep-alive", true},
        {0, "keep-alive, close", false},
        {0, "", false},
        {0, "keep-alived", false},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct fixture f;

        setup(&f, FIELDS("Host", "a", "ConnectioN", cases[i].connection));
        f.seen.minor = cases[i].minor;
        assert_int_equal(apply(&f), XS_REFUSE_NOT);
        if (f.head.keep_alive != cases[i].wanted) {
            fail_msg("%s of 1.%u", cases[i].connection, cases[i].minor);
        }
    }
}

static void rules_see_close_in_any_connection_field(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("Host", "a", "Connection", "close", "Connection", "x"));
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_false(f.head.keep_alive);

    setup(&f, FIELDS("Host", "a"));
    f.seen.minor = 0;
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_false(f.head.keep_alive);
}

struct upgrade {
    const char *connection;
    unsigned minor;
    bool wanted;
};

static void rules_see_an_offer_of_another_protocol(void **state)
{
    static const struct upgrade cases[] = {
        {"Upgrade", 1, true},
        {"keep-alive, upgrade", 1, true},
        {"close, UPGRADE, x", 1, true},
        {"upgrade", 0, false},
        {"keep-alive", 1, false},
        {"upgrades", 1, false},
        {"", 1, false},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct fixture f;

        setup(&f, FIELDS("Host", "a", "Connection", cases[i].connection));
        f.seen.minor = cases[i].minor;
        assert_int_equal(apply(&f), XS_REFUSE_NOT);
        assert_int_equal(f.head.upgrade, cases[i].wanted);
    }
}

struct forwarded {
    const char *name;
    bool wanted;
};

static void rules_see_what_proxies_say(void **state)
{
    static const struct forwarded cases[] = {
        {"Forwarded", true},         {"X-Forwarded-For", true},
        {"x-forwarded-proto", true}, {"forwardes", false},
        {"X-Forwarded-Fox", false},  {"X-Forwarded-Prote", false},
        {"X-Forwarded-Host", false},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        struct fixture f;

        setup(&f, FIELDS("Host", "a", cases[i].name, "b"));
        assert_int_equal(apply(&f), XS_REFUSE_NOT);
        assert_int_equal(f.head.forwarded, cases[i].wanted);
    }
}

static void rules_know_one_expectation(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("Host", "a", "Expect", "100-Continue"));
    f.seen.has_length = true;
    f.seen.length = 1;
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_true(f.head.expect_continue);

    f.seen.length = 0; /* nothing to wait for */
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_false(f.head.expect_continue);

    f.seen.length = 1;
    f.seen.minor = 0; /* HTTP/1.0 does not know it */
    assert_int_equal(apply(&f), XS_REFUSE_NOT);
    assert_false(f.head.expect_continue);

    setup(&f, FIELDS("Host", "a", "Expect", "100-continue, x"));
    assert_int_equal(apply(&f), XS_REFUSE_EXPECT);
    setup(&f, FIELDS("Host", "a", "Expect", "x", "Expect", "100-continue"));
    assert_int_equal(apply(&f), XS_REFUSE_EXPECT);
}

static void rules_know_head(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("Host", "a"));
    f.head.method = XS_LIT("HEAD");

    assert_int_equal(apply(&f), XS_REFUSE_NOT);

    assert_true(f.head.is_head);
}

static void rules_refuse_a_bad_target(void **state)
{
    struct fixture f;
    (void)state;

    setup(&f, FIELDS("Host", "a"));
    f.head.target = XS_LIT("*");

    assert_int_equal(apply(&f), XS_REFUSE_TARGET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_fill_in_a_plain_request),
        cmocka_unit_test(rules_know_who_takes_trailers),
        cmocka_unit_test(rules_take_versions_of_http_1_only),
        cmocka_unit_test(rules_want_exactly_one_valid_host),
        cmocka_unit_test(rules_let_http_1_0_leave_host_out_but_not_repeat_it),
        cmocka_unit_test(rules_put_the_authority_of_the_target_into_host),
        cmocka_unit_test(rules_take_chunked_alone),
        cmocka_unit_test(rules_refuse_two_answers_to_where_the_body_ends),
        cmocka_unit_test(rules_bound_the_declared_length),
        cmocka_unit_test(rules_tell_whether_the_connection_lives_on),
        cmocka_unit_test(rules_see_close_in_any_connection_field),
        cmocka_unit_test(rules_see_an_offer_of_another_protocol),
        cmocka_unit_test(rules_see_what_proxies_say),
        cmocka_unit_test(rules_know_one_expectation),
        cmocka_unit_test(rules_know_head),
        cmocka_unit_test(rules_refuse_a_bad_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
