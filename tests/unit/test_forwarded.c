/* test_forwarded.c - core/http1/forwarded.c: who the client is. */

#include "core/http1/forwarded.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/limits.h"
#include "tests/testlib.h"

static unsigned looks;

/* An address has digits, dots and colons only; trusted are those with "10." at
 * the front, and "fd::1". In its usual spelling it has no leading zero. */
static enum xs_hop look(void *user, struct xs_slice address,
                        char out[XS_ADDRESS_MAX])
{
    bool *all = user;
    size_t from = address.len > 1 && address.data[0] == '0';

    looks++;
    if (address.len == 0 || address.len >= XS_ADDRESS_MAX) {
        return XS_HOP_UNKNOWN;
    }
    for (size_t i = 0; i < address.len; i++) {
        if (memchr("0123456789.:fd", address.data[i], 14) == NULL) {
            return XS_HOP_UNKNOWN;
        }
    }
    memcpy(out, address.data + from, address.len - from);
    out[address.len - from] = '\0';
    return *all || strncmp(out, "10.", 3) == 0 || strcmp(out, "fd::1") == 0
               ? XS_HOP_TRUSTED
               : XS_HOP_CLIENT;
}

/* What comes of fields "name: value", one a line, as "host port scheme". The
 * values are copied to memory of their own size. */
static char *read_fields(bool rfc7239, bool all, const char *lines)
{
    static char result[XS_ADDRESS_MAX + 32];
    static const char *const schemes[] = {"?", "http", "https"};
    struct xs_field fields[64];
    struct xs_head head = {.fields = fields};
    struct xs_forwarded out;
    const struct xs_proxies proxies = {
        .look = look,
        .user = &all,
        .rfc7239 = rfc7239,
    };

    while (*lines != '\0') {
        const char *colon = strchr(lines, ':');
        const char *end = strchr(lines, '\n');
        size_t len = (size_t)(end - colon - 2);
        uint8_t *value = malloc(len + 1);

        assert_non_null(value);
        memcpy(value, colon + 2, len);
        value = realloc(value, len > 0 ? len : 1);
        assert_true(head.field_count < XS_COUNT_OF(fields));
        fields[head.field_count++] = (struct xs_field){
            .name = xs_slice_of(lines, (size_t)(colon - lines)),
            .value = xs_slice_of(value, len),
        };
        lines = end + 1;
    }
    looks = 0;
    xs_forwarded_read(&out, &head, &proxies);
    for (unsigned i = 0; i < head.field_count; i++) {
        free((void *)(uintptr_t)fields[i].value.data);
    }
    (void)snprintf(result, sizeof result, "%s %u %s",
                   out.host[0] == '\0' ? "-" : out.host, (unsigned)out.port,
                   schemes[out.scheme]);
    return result;
}

static void assert_legacy(const char *lines, const char *wanted)
{
    assert_string_equal(read_fields(false, false, lines), wanted);
}

static void assert_rfc7239(const char *value, const char *wanted)
{
    char line[4096];

    (void)snprintf(line, sizeof line, "Forwarded: %s\n", value);
    assert_string_equal(read_fields(true, false, line), wanted);
}

static void assert_for(const char *value, const char *wanted)
{
    char line[4096];

    (void)snprintf(line, sizeof line, "X-Forwarded-For: %s\n", value);
    assert_legacy(line, wanted);
}

static void forwarded_says_nothing_without_its_fields(void **state)
{
    (void)state;

    assert_legacy("", "- 0 ?");
    assert_legacy("Host: 1.2.3.4\n", "- 0 ?");
    assert_legacy("X_Forwarded_For: 1.2.3.4\n", "- 0 ?");
    assert_legacy("X-Forwarded-For: \nX-Forwarded-Proto: \n", "- 0 ?");
    assert_rfc7239("", "- 0 ?");
}

static void forwarded_for_takes_the_last_that_is_not_trusted(void **state)
{
    (void)state;

    assert_for("1.2.3.4", "1.2.3.4 0 ?");
    assert_for("1.2.3.4, 10.0.0.2", "1.2.3.4 0 ?");
    assert_for("9.9.9.9, 1.2.3.4, 10.0.0.2, 10.0.0.1", "1.2.3.4 0 ?");
    assert_for("9.9.9.9, 10.0.0.3, 1.2.3.4", "1.2.3.4 0 ?");
    assert_for("10.0.0.3,10.0.0.2 ,10.0.0.1", "10.0.0.3 0 ?");
    assert_for("01.2.3.4", "1.2.3.4 0 ?");
}

static void forwarded_for_takes_the_first_if_all_are_trusted(void **state)
{
    (void)state;

    assert_string_equal(
        read_fields(false, true, "x-forwarded-for: 1.1.1.1, 2.2.2.2\n"),
        "1.1.1.1 0 ?");
}

static void forwarded_for_reads_lines_as_one_list(void **state)
{
    (void)state;

    assert_legacy(
        "x-forwarded-for: 9.9.9.9\nhost: h\nX-FORWARDED-FOR: 1.2.3.4\n"
        "x-forwarded-for: 10.0.0.1, 10.0.0.2\n",
        "1.2.3.4 0 ?");
    assert_legacy("x-forwarded-for: 1.2.3.4\nx-forwarded-for: \n",
                  "1.2.3.4 0 ?");
}

static void forwarded_for_skips_empty_elements(void **state)
{
    (void)state;

    assert_for(", 1.2.3.4,, 10.0.0.1 , ", "1.2.3.4 0 ?");
    assert_for(",,,", "- 0 ?");
}

static void forwarded_for_understands_ports_and_brackets(void **state)
{
    (void)state;

    assert_for("1.2.3.4:4711", "1.2.3.4 4711 ?");
    assert_for("1.2.3.4:65535", "1.2.3.4 65535 ?");
    assert_for("1.2.3.4:65536", "1.2.3.4 0 ?");
    assert_for("1.2.3.4:_port", "1.2.3.4 0 ?");
    assert_for("1.2.3.4:", "1.2.3.4 0 ?");
    assert_for("2::1", "2::1 0 ?");
    assert_for("[2::1]", "2::1 0 ?");
    assert_for("[2::1]:80", "2::1 80 ?");
    assert_for("2::2, [fd::1]:80", "2::2 0 ?");
    assert_for("1.2.3.4:4711, 10.0.0.1:5", "1.2.3.4 4711 ?");
    assert_for("1.2.3.4, 10.0.0.1:5", "1.2.3.4 0 ?");
}

static void forwarded_for_ends_at_what_makes_no_sense(void **state)
{
    static const char *const senseless[] = {
        "unknown", "_hidden",  "proxy", "[2::1",     "[2::1]80",
        "[",       "[]",       ":80",   "\"1.1.1.1", "1.1.1.1\"",
        "1.1.1 1", "<script>", "%",     "1.1.1.1;a",
    };
    char value[256];
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(senseless); i++) {
        assert_for(senseless[i], "- 0 ?");
        (void)snprintf(value, sizeof value, "9.9.9.9, %s, 10.0.0.1",
                       senseless[i]);
        assert_for(value, "10.0.0.1 0 ?");
    }
}

/* "7.7.7.7" behind `proxies` of ours, as a line. */
static const char *line_of_hops(unsigned proxies)
{
    static char line[1024];
    size_t len = 0;

    len += (size_t)snprintf(line, sizeof line, "x-forwarded-for: 7.7.7.7");
    for (unsigned i = 0; i < proxies; i++) {
        len += (size_t)snprintf(line + len, sizeof line - len, ",10.0.0.1");
    }
    (void)snprintf(line + len, sizeof line - len, "\n");
    return line;
}

static void forwarded_for_looks_at_hops_max_and_no_more(void **state)
{
    (void)state;

    assert_legacy(line_of_hops(XS_HOPS_MAX - 1), "7.7.7.7 0 ?");
    assert_int_equal(looks, XS_HOPS_MAX);
    assert_legacy(line_of_hops(XS_HOPS_MAX), "10.0.0.1 0 ?");
    assert_int_equal(looks, XS_HOPS_MAX);
}

static void forwarded_proto_is_the_last_of_its_list(void **state)
{
    (void)state;

    assert_legacy("x-forwarded-proto: https\n", "- 0 https");
    assert_legacy("x-forwarded-proto: HTTP\n", "- 0 http");
    assert_legacy("x-forwarded-proto: wss\n", "- 0 https");
    assert_legacy("x-forwarded-proto: ws\n", "- 0 http");
    assert_legacy("x-forwarded-proto: https, http\n", "- 0 http");
    assert_legacy("x-forwarded-proto: http\nx-forwarded-proto: https\n",
                  "- 0 https");
    assert_legacy("x-forwarded-proto: javascript\n", "- 0 ?");
    assert_legacy("x-forwarded-proto: https, x\n", "- 0 ?");
    assert_legacy("x-forwarded-proto: https\nx-forwarded-for: 1.2.3.4\n",
                  "1.2.3.4 0 https");
}

static void forwarded_believes_one_family_only(void **state)
{
    static const char lines[] =
        "forwarded: for=1.1.1.1;proto=http\n"
        "x-forwarded-for: 2.2.2.2\nx-forwarded-proto: https\n";
    (void)state;

    assert_string_equal(read_fields(false, false, lines), "2.2.2.2 0 https");
    assert_string_equal(read_fields(true, false, lines), "1.1.1.1 0 http");
    assert_string_equal(read_fields(false, false, "forwarded: for=1.1.1.1\n"),
                        "- 0 ?");
    assert_string_equal(read_fields(true, false, "x-forwarded-for: 1.1.1.1\n"),
                        "- 0 ?");
}

static void forwarded_takes_an_element_apart(void **state)
{
    (void)state;

    assert_rfc7239("for=1.2.3.4", "1.2.3.4 0 ?");
    assert_rfc7239("For=1.2.3.4;Proto=HTTPS", "1.2.3.4 0 https");
    assert_rfc7239("proto=http; by=10.0.0.1 ;for=\"1.2.3.4:47\";host=h",
                   "1.2.3.4 47 http");
    assert_rfc7239("for=\"[2::1]:47\"", "2::1 47 ?");
    assert_rfc7239("for=\"[2::1]\"", "2::1 0 ?");
    assert_rfc7239("for=1.2.3.4;secret=_xyz;;", "1.2.3.4 0 ?");
    assert_rfc7239("host=\"a,b;for=9.9.9.9\\\"\";for=1.2.3.4", "1.2.3.4 0 ?");
    assert_rfc7239("for=1.2.3.4;x=\"\\\\\"", "1.2.3.4 0 ?");
}

static void forwarded_walks_from_the_right_over_trusted_hops(void **state)
{
    (void)state;

    assert_rfc7239(
        "for=9.9.9.9;proto=http, for=1.2.3.4;proto=https, "
        "for=10.0.0.1;proto=http",
        "1.2.3.4 0 https");
    assert_rfc7239("for=1.2.3.4, for=10.0.0.1;proto=https", "1.2.3.4 0 https");
    assert_string_equal(
        read_fields(true, false,
                    "forwarded: for=1.2.3.4;proto=https\n"
                    "forwarded: for=\"[fd::1]\", for=10.0.0.1\n"),
        "1.2.3.4 0 https");
}

static void forwarded_keeps_what_a_hidden_client_s_proxy_says(void **state)
{
    (void)state;

    assert_rfc7239("for=_hidden;proto=https", "- 0 https");
    assert_rfc7239("for=9.9.9.9, for=unknown;proto=https, for=10.0.0.1",
                   "10.0.0.1 0 https");
    assert_rfc7239("proto=https", "- 0 https");
}

static void forwarded_is_not_swallowed_by_a_quote_of_the_client_s(void **state)
{
    (void)state;

    assert_rfc7239("for=\"9.9.9.9, for=1.2.3.4;proto=https", "1.2.3.4 0 https");
    assert_rfc7239("for=\"9.9.9.9;x=\\, for=1.2.3.4", "1.2.3.4 0 ?");
    assert_string_equal(
        read_fields(true, false, "forwarded: for=\"\nforwarded: for=1.2.3.4\n"),
        "1.2.3.4 0 ?");
}

static void forwarded_ends_at_an_element_that_makes_no_sense(void **state)
{
    static const char *const senseless[] = {
        "for",
        "=1.1.1.1;for",
        "for=1.1.1.1;for=1.1.1.1",
        "for=\"1.1.1.1",
        "for=1.1.1.1\"",
        "for=\"1.1.\\1.1\"",
        "for=\"1.1.1.1\"\"\"",
        "for=\"\"",
        "for=",
        "for= 1.1.1.1",
        "for=1.1.1.1 for=1.1.1.1",
        "1.1.1.1",
    };
    char value[256];
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(senseless); i++) {
        assert_rfc7239(senseless[i], "- 0 ?");
        (void)snprintf(value, sizeof value, "for=9.9.9.9, %s, for=10.0.0.1",
                       senseless[i]);
        assert_rfc7239(value, "10.0.0.1 0 ?");
    }
    assert_rfc7239("for=1.1.1.1;proto=http;proto=https", "- 0 ?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forwarded_says_nothing_without_its_fields),
        cmocka_unit_test(forwarded_for_takes_the_last_that_is_not_trusted),
        cmocka_unit_test(forwarded_for_takes_the_first_if_all_are_trusted),
        cmocka_unit_test(forwarded_for_reads_lines_as_one_list),
        cmocka_unit_test(forwarded_for_skips_empty_elements),
        cmocka_unit_test(forwarded_for_understands_ports_and_brackets),
        cmocka_unit_test(forwarded_for_ends_at_what_makes_no_sense),
        cmocka_unit_test(forwarded_for_looks_at_hops_max_and_no_more),
        cmocka_unit_test(forwarded_proto_is_the_last_of_its_list),
        cmocka_unit_test(forwarded_believes_one_family_only),
        cmocka_unit_test(forwarded_takes_an_element_apart),
        cmocka_unit_test(forwarded_walks_from_the_right_over_trusted_hops),
        cmocka_unit_test(forwarded_keeps_what_a_hidden_client_s_proxy_says),
        cmocka_unit_test(forwarded_is_not_swallowed_by_a_quote_of_the_client_s),
        cmocka_unit_test(forwarded_ends_at_an_element_that_makes_no_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
