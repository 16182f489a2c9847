/* test_http_cases.c - every case in tests/http through the parser: whole, byte
 * by byte, and cut in two at each offset. */

#include "tests/testlib.h"
#include "tests/unit/cases.h"
#include "tests/unit/transcript.h"

/* Longer cases are cut at this many places only. */
#define CUTS_MAX 2000u

static void assert_case(const char *document, const struct http_case *one,
                        const struct transcript_way *way)
{
    const char *wanted = http_case_events(one);
    char *got = transcript_of(http_case_bytes(one), way);

    if (strcmp(got, wanted) != 0) {
        fail_msg(
            "%s: \"%s\"\ncut at %zu, then every %zu\n--- wanted\n%s--- got\n%s",
            document, one->title, way->first, way->each, wanted, got);
    }
    free(got);
}

static void play(const char *document, const struct http_case *one)
{
    const struct xs_limits limits = xs_limits_default();
    size_t len = http_case_bytes(one).len;
    size_t step = len / CUTS_MAX + 1;
    struct transcript_way way = {.limits = &limits};

    assert_case(document, one, &way);
    for (way.first = 1; way.first < len; way.first += step) {
        assert_case(document, one, &way);
    }
    way = (struct transcript_way){
        .limits = &limits, .first = 1, .each = 1, .move = true, .keep = true};
    assert_case(document, one, &way);
}

static void document_holds(const char *document)
{
    struct http_cases cases;
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", XS_CASES, document);
    http_cases_load(&cases, path);
    for (size_t i = 0; i < cases.count; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(cases.list[i].title, cases.list[j].title);
        }
        play(document, &cases.list[i]);
    }
    http_cases_free(&cases);
}

static void request_line_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("request-line.md");
}

static void target_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("target.md");
}

static void host_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("host.md");
}

static void fields_are_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("fields.md");
}

static void content_length_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("content-length.md");
}

static void transfer_encoding_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("transfer-encoding.md");
}

static void chunks_are_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("chunks.md");
}

static void connection_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("connection.md");
}

static void smuggling_is_read_as_the_document_says(void **state)
{
    (void)state;
    document_holds("smuggling.md");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_line_is_read_as_the_document_says),
        cmocka_unit_test(target_is_read_as_the_document_says),
        cmocka_unit_test(host_is_read_as_the_document_says),
        cmocka_unit_test(fields_are_read_as_the_document_says),
        cmocka_unit_test(content_length_is_read_as_the_document_says),
        cmocka_unit_test(transfer_encoding_is_read_as_the_document_says),
        cmocka_unit_test(chunks_are_read_as_the_document_says),
        cmocka_unit_test(connection_is_read_as_the_document_says),
        cmocka_unit_test(smuggling_is_read_as_the_document_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
