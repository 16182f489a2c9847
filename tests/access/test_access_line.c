/* test_access_line.c - access/: formats and lines. */

#define _POSIX_C_SOURCE 200809L

#include "access/line.h"

#include <stdlib.h>
#include <string.h>

#include "access/format.h"
#include "access/text.h"
#include "core/base/base.h"
#include "core/base/limits.h"
#include "tests/testlib.h"

/* 2026-12-01T02:43:52.123456789Z */
#define WALL_NS ((uint64_t)1796093032123456789)

static const struct xs_io_addr client = {.host = "127.0.0.1", .port = 54321};

static struct access_format format;

static struct xs_slice request_values[XS_ACCESS_FIELDS];
static struct xs_slice response_values[XS_ACCESS_FIELDS];

static struct xs_access usual(void)
{
    memset(request_values, 0, sizeof request_values);
    memset(response_values, 0, sizeof response_values);
    return (struct xs_access){
        .peer = &client,
        .conn_id = 7,
        .method = XS_LIT("GET"),
        .target = XS_LIT("/a?b=c"),
        .request_values = request_values,
        .response_values = response_values,
        .minor = 1,
        .status = 200,
        .body_bytes = 13,
        .start_ns = 1000,
        .end_ns = 1000 + 2 * XS_SECOND_NS + 34567891,
        .why = "ok",
    };
}

static void read_format(const char *text)
{
    struct access_fault fault;

    assert_true(access_format_read(&format, xs_slice_str(text), &fault));
}

/* The line of `entry` in the format that was read, without its end. */
static const char *line_of(const struct xs_access *entry)
{
    static char *line;
    struct access_clock clock = {.process = 99};
    size_t len;

    free(line);
    line = malloc(format.line_max);
    assert_non_null(line);
    len = access_line(line, &format, entry, WALL_NS, &clock);
    assert_int_equal(line[len - 1], '\n');
    line[len - 1] = '\0';
    return line;
}

static void assert_usual(const char *text, const char *wanted)
{
    struct xs_access entry = usual();

    read_format(text);
    assert_string_equal(line_of(&entry), wanted);
}

/* ---- formats ---- */

static void format_has_gunicorn_s_atoms(void **state)
{
    (void)state;

    assert_usual("%(h)s", "127.0.0.1");
    assert_usual("%(l)s", "-");
    assert_usual("%(u)s", "-");
    assert_usual("%(t)s", "[01/Dec/2026:02:43:52 +0000]");
    assert_usual("%(r)s", "GET /a?b=c HTTP/1.1");
    assert_usual("%(m)s", "GET");
    assert_usual("%(U)s", "/a");
    assert_usual("%(q)s", "b=c");
    assert_usual("%(H)s", "HTTP/1.1");
    assert_usual("%(s)s", "200");
    assert_usual("%(B)s", "13");
    assert_usual("%(b)s", "13");
    assert_usual("%(f)s", "-");
    assert_usual("%(a)s", "-");
    assert_usual("%(T)s", "2");
    assert_usual("%(M)s", "2034");
    assert_usual("%(D)s", "2034567");
    assert_usual("%(L)s", "2.034567");
    assert_usual("%(p)s", "<99>");
    assert_usual("%({Host}i)s", "-");
    assert_usual("%({Date}o)s", "-");
}

static void format_has_atoms_of_its_own(void **state)
{
    (void)state;

    assert_usual("%({client}x)s", "127.0.0.1:54321");
    assert_usual("%({target}x)s", "/a?b=c");
    assert_usual("%({status}x)s", "200 OK");
    assert_usual("%({ms}x)s", "2034.567");
    assert_usual("%({time}x)s", "2026-12-01T02:43:52.123Z");
    assert_usual("%({end}x)s", "ok");
    assert_usual("a%({note}x)s.", "a.");
    assert_usual("%({conn}x)s", "7");
    assert_usual("%({pid}x)s", "99");
}

static void format_keeps_its_own_text(void **state)
{
    (void)state;

    assert_usual("100%% \"%(s)s\"\t\\ \xc3\xa9", "100% \"200\"\t\\ \xc3\xa9");
}

static void format_has_names(void **state)
{
    (void)state;

    assert_usual("default",
                 "INFO:     127.0.0.1:54321 - \"GET /a?b=c HTTP/1.1\" 200 OK"
                 " 13B 2034.567ms");
    assert_usual("common",
                 "127.0.0.1 - - [01/Dec/2026:02:43:52 +0000] "
                 "\"GET /a?b=c HTTP/1.1\" 200 13");
    assert_usual("combined",
                 "127.0.0.1 - - [01/Dec/2026:02:43:52 +0000] "
                 "\"GET /a?b=c HTTP/1.1\" 200 13 \"-\" \"-\"");
    assert_usual("json",
                 "{\"time\":\"2026-12-01T02:43:52.123Z\","
                 "\"client\":\"127.0.0.1\",\"method\":\"GET\","
                 "\"target\":\"/a?b=c\",\"protocol\":\"HTTP/1.1\","
                 "\"status\":200,\"bytes\":13,\"duration\":2.034567,"
                 "\"end\":\"ok\",\"referer\":null,\"user_agent\":null,"
                 "\"connection\":7,\"process\":99}");
    assert_usual("json:{\"a\":%(h)s}", "{\"a\":\"127.0.0.1\"}");
}

static void format_wants_each_field_once(void **state)
{
    (void)state;

    read_format(
        "%({X-One}i)s %(a)s %({x-one}i)s %({user-agent}i)s "
        "%({x-one}o)s");

    assert_int_equal(format.wants.request_count, 2);
    assert_slice_is(format.wants.request[0], "x-one");
    assert_slice_is(format.wants.request[1], "user-agent");
    assert_int_equal(format.wants.response_count, 1);
    assert_slice_is(format.wants.response[0], "x-one");
    assert_int_equal(format.steps[0].field, 0);
    assert_int_equal(format.steps[2].field, 1);
    assert_int_equal(format.steps[4].field, 0);
    assert_int_equal(format.steps[6].field, 1);
}

static void format_says_what_is_wrong_and_where(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        const char *what;
    } cases[] = {
        {"", 0, "neither default"},
        {"apache", 0, "neither default"},
        {"100%%", 0, "neither default"},
        {"%(h)s %", 7, "goes on with"},
        {"%h", 1, "goes on with"},
        {"a %(h", 3, "without ')'"},
        {"%(h)d", 4, "goes on with 's'"},
        {"%(h)", 4, "goes on with 's'"},
        {"%()s", 3, "there is no %()s"},
        {"%(hh)s", 3, "there is no %(hh)s"},
        {"\xc3\xa9%(e)s", 4, "there is no %(e)s"},
        {"%({HOME}e)s", 3, "there is no %({HOME}e)s"},
        {"%({}i)s", 4, "not the name of a header field"},
        {"%({a b}o)s", 4, "not the name of a header field"},
        {"%(h)s\n", 6, "a control character"},
        {"a\x7f%(h)s", 2, "a control character"},
        {"json:%(h", 6, "without ')'"},
    };
    struct access_fault fault;
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        assert_false(
            access_format_read(&format, xs_slice_str(cases[i].text), &fault));
        assert_int_equal(fault.at, cases[i].at);
        assert_non_null(strstr(fault.text, cases[i].what));
    }
}

/* `count` times `part`, which has a %c for a letter. */
static char *repeat(const char *part, unsigned count)
{
    static char text[ACCESS_FORMAT_MAX * 2];
    size_t len = 0;

    for (unsigned i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", part);
        for (char *at = strchr(text, '#'); at != NULL; at = strchr(at, '#')) {
            *at = (char)('a' + i);
        }
    }
    return text;
}

static void format_refuses_one_over_each_bound(void **state)
{
    struct access_fault fault;
    (void)state;

    read_format(repeat("%(s)s", ACCESS_STEPS_MAX));
    assert_false(access_format_read(
        &format, xs_slice_str(repeat("%(s)s", ACCESS_STEPS_MAX + 1)), &fault));
    assert_non_null(strstr(fault.text, "too many parts"));
    read_format(repeat("%({#}i)s", XS_ACCESS_FIELDS));
    assert_false(access_format_read(
        &format, xs_slice_str(repeat("%({#}i)s", XS_ACCESS_FIELDS + 1)),
        &fault));
    assert_non_null(strstr(fault.text, "too many header fields"));
    assert_false(
        access_format_read(&format, xs_slice_str(repeat("%(r)s", 40)), &fault));
    assert_non_null(strstr(fault.text, "could be too long"));
    assert_false(access_format_read(
        &format, xs_slice_str(repeat("%(s)s......", 100)), &fault));
    assert_non_null(strstr(fault.text, "longer than 1024 characters"));
    read_format(repeat("%(u)s", 25));
}

/* ---- lines ---- */

static void line_says_how_a_request_ended_that_did_not_end_well(void **state)
{
    struct xs_access entry = usual();
    (void)state;

    entry.why = "write timeout";
    read_format("default");
    assert_string_equal(line_of(&entry),
                        "INFO:     127.0.0.1:54321 - \"GET /a?b=c HTTP/1.1\""
                        " 200 OK 13B 2034.567ms [write timeout]");
    read_format("%({end}x)s");
    assert_string_equal(line_of(&entry), "write timeout");
}

static void line_has_dashes_for_what_is_not_known(void **state)
{
    struct xs_access entry = usual();
    (void)state;

    entry.method = entry.target = (struct xs_slice){NULL, 0};
    entry.status = 0;
    entry.body_bytes = 0;
    read_format(
        "%(r)s %(m)s %(U)s %({target}x)s %(s)s %({status}x)s %(b)s "
        "%(B)s");
    assert_string_equal(line_of(&entry), "- - - - - - - 0");
    read_format("json:[%(r)s,%(m)s,%(U)s,%(q)s,%(s)s,%(b)s]");
    assert_string_equal(line_of(&entry), "[null,null,null,\"\",null,0]");
}

static void line_has_the_client_in_its_usual_forms(void **state)
{
    struct xs_io_addr v6 = {.host = "2001:db8::1", .port = 80};
    struct xs_io_addr named = {.host = "1.2.3.4"};
    struct xs_io_addr path = {.is_unix = true};
    struct xs_access entry = usual();
    (void)state;

    read_format("%(h)s %({client}x)s");
    entry.peer = &v6;
    assert_string_equal(line_of(&entry), "2001:db8::1 [2001:db8::1]:80");
    entry.peer = &named;
    assert_string_equal(line_of(&entry), "1.2.3.4 1.2.3.4");
    entry.peer = &path;
    assert_string_equal(line_of(&entry), "unix unix");
}

static void line_escapes_every_byte_that_could_forge(void **state)
{
    struct xs_access entry = usual();
    uint8_t byte;
    (void)state;

    read_format("%({a}i)s");
    request_values[0] = xs_slice_of(&byte, 1);
    for (unsigned i = 0; i < 256; i++) {
        char wanted[8];
        byte = (uint8_t)i;
        (void)snprintf(
            wanted, sizeof wanted,
            i < 0x20 || i >= 0x7f || i == '"' || i == '\\' ? "\\x%02x" : "%c",
            i);
        assert_string_equal(line_of(&entry), wanted);
    }
}

static void line_of_json_is_valid_utf8(void **state)
{
    static const struct {
        const char *bytes;
        const char *wanted;
    } cases[] = {
        {"a", "a"},
        {"\"\\/", "\\\"\\\\/"},
        {"\r\n\t\x1b\x7f", "\\u000d\\u000a\\u0009\\u001b\\u007f"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\xc2\xa0", "\xc2\xa0"},
        {"\x80", "\\ufffd"},
        {"\xff\xfe", "\\ufffd\\ufffd"},
        {"\xc3", "\\ufffd"},
        {"\xc3(", "\\ufffd("},
        {"\xe2\x82", "\\ufffd\\ufffd"},
        {"\xc0\xaf", "\\ufffd\\ufffd"},
        {"\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd"},
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
        {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
        {"\xf8\x88\x80\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"},
    };
    struct xs_access entry = usual();
    char wanted[64];
    (void)state;

    read_format("json:%({a}i)s");
    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        request_values[0] = xs_slice_str(cases[i].bytes);
        (void)snprintf(wanted, sizeof wanted, "\"%s\"", cases[i].wanted);
        assert_string_equal(line_of(&entry), wanted);
    }
}

static void line_has_the_user_of_basic_authentication(void **state)
{
    static const struct {
        const char *credentials;
        const char *wanted;
    } cases[] = {
        {"Basic bWU6cGFzcw==", "me"},
        {"BASIC bWU6", "me"},
        {"Basic bWU6OmE=", "me"},
        {"Basic YSBiOg==", "a\\x20b"},
        {"Basic CiI6", "\\x0a\\x22"},
        {"Basic OnBhc3M=", "-"},
        {"Basic bWU=", "-"},
        {"Basic b:U6", "-"},
        {"Basic ", "-"},
        {"Basic", "-"},
        {"Bearer bWU6cGFzcw==", "-"},
        {"", "-"},
    };
    struct xs_access entry = usual();
    (void)state;

    read_format("%(u)s");
    for (size_t i = 0; i < XS_COUNT_OF(cases); i++) {
        request_values[0] = xs_slice_str(cases[i].credentials);
        assert_string_equal(line_of(&entry), cases[i].wanted);
    }
}

/* The longest of everything, each byte escaped to the longest. */
static void line_is_never_longer_than_its_format_says(void **state)
{
    static const char *const texts[] = {
        "default",
        "common",
        "combined",
        "json",
        "%(r)s%(m)s%(U)s%(q)s%(a)s%(u)s%({a}o)s",
        "json:%(r)s%(m)s%(U)s%(q)s%(a)s%(u)s%({a}o)s",
    };
    static char bytes[XS_ACCESS_TEXT];
    struct xs_access entry = usual();
    struct xs_io_addr long_name = {.port = 65535};
    (void)state;

    memset(bytes, 0x01, sizeof bytes);
    memset(long_name.host, ':', sizeof long_name.host - 1);
    entry.peer = &long_name;
    entry.method = xs_slice_of(bytes, XS_ACCESS_VALUE);
    entry.target = xs_slice_of(bytes, XS_ACCESS_TEXT);
    entry.why = "content-length";
    entry.body_bytes = entry.conn_id = entry.end_ns = UINT64_MAX;
    entry.start_ns = 0;
    for (unsigned i = 0; i < XS_ACCESS_FIELDS; i++) {
        request_values[i] = xs_slice_of(bytes, XS_ACCESS_VALUE);
        response_values[i] = xs_slice_of(bytes, XS_ACCESS_VALUE);
    }
    for (size_t i = 0; i < XS_COUNT_OF(texts); i++) {
        read_format(texts[i]);
        assert_true(strlen(line_of(&entry)) < format.line_max);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_has_gunicorn_s_atoms),
        cmocka_unit_test(format_has_atoms_of_its_own),
        cmocka_unit_test(format_keeps_its_own_text),
        cmocka_unit_test(format_has_names),
        cmocka_unit_test(format_wants_each_field_once),
        cmocka_unit_test(format_says_what_is_wrong_and_where),
        cmocka_unit_test(format_refuses_one_over_each_bound),
        cmocka_unit_test(line_says_how_a_request_ended_that_did_not_end_well),
        cmocka_unit_test(line_has_dashes_for_what_is_not_known),
        cmocka_unit_test(line_has_the_client_in_its_usual_forms),
        cmocka_unit_test(line_escapes_every_byte_that_could_forge),
        cmocka_unit_test(line_of_json_is_valid_utf8),
        cmocka_unit_test(line_has_the_user_of_basic_authentication),
        cmocka_unit_test(line_is_never_longer_than_its_format_says),
    };

    (void)setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
