/* test_fault.c - core/http1/fault.c: llhttp's complaints in our terms. */

#include "core/http1/fault.h"

#include <llhttp.h>

#include "tests/testlib.h"

static enum xs_refusal first_bytes(const char *bytes)
{
    struct xs_fault fault = {
        .err = HPE_INVALID_METHOD,
        .in_head = true,
        .bytes = xs_slice_str(bytes),
    };

    return xs_fault_refusal(&fault);
}

static void fault_tells_an_unknown_method_from_no_request(void **state)
{
    (void)state;

    assert_int_equal(first_bytes("F"), XS_REFUSE_METHOD);
    assert_int_equal(first_bytes("GETX"), XS_REFUSE_METHOD);
    assert_int_equal(first_bytes("GE "), XS_REFUSE_METHOD);
    assert_int_equal(first_bytes("g"), XS_REFUSE_METHOD);

    assert_int_equal(first_bytes(" "), XS_REFUSE_SYNTAX);
    assert_int_equal(first_bytes("GET\t"), XS_REFUSE_SYNTAX);
    assert_int_equal(first_bytes("G@"), XS_REFUSE_SYNTAX);
    assert_int_equal(first_bytes("GE  "), XS_REFUSE_SYNTAX);
    assert_int_equal(first_bytes("G\x16"), XS_REFUSE_SYNTAX);
    assert_int_equal(first_bytes("\x15"), XS_REFUSE_SYNTAX);
}

static void fault_tells_the_first_byte_of_tls(void **state)
{
    (void)state;

    assert_int_equal(first_bytes("\x16"), XS_REFUSE_TLS);
}

struct row {
    int err;
    unsigned flags;
    enum xs_refusal wanted;
};

static void fault_in_a_head_is_told_by_what_llhttp_found(void **state)
{
    static const struct row rows[] = {
        {HPE_INVALID_URL, 0, XS_REFUSE_TARGET},
        {HPE_PAUSED_H2_UPGRADE, 0, XS_REFUSE_VERSION},
        {HPE_INVALID_VERSION, 0, XS_REFUSE_SYNTAX},
        {HPE_INVALID_CONSTANT, 0, XS_REFUSE_SYNTAX},
        {HPE_INVALID_CONTENT_LENGTH, 0, XS_REFUSE_LENGTH},
        {HPE_UNEXPECTED_CONTENT_LENGTH, 0, XS_REFUSE_LENGTH},
        {HPE_UNEXPECTED_CONTENT_LENGTH, F_TRANSFER_ENCODING, XS_REFUSE_FRAMING},
        {HPE_INVALID_CONTENT_LENGTH, F_TRANSFER_ENCODING, XS_REFUSE_FRAMING},
        {HPE_INVALID_TRANSFER_ENCODING, 0, XS_REFUSE_FRAMING},
        {HPE_INVALID_HEADER_TOKEN, 0, XS_REFUSE_FIELD},
        {HPE_CR_EXPECTED, 0, XS_REFUSE_FIELD},
    };
    (void)state;

    for (size_t i = 0; i < XS_COUNT_OF(rows); i++) {
        struct xs_fault fault = {
            .err = rows[i].err,
            .flags = rows[i].flags,
            .in_head = true,
            .has_target = true,
            .has_version = true,
        };

        assert_int_equal(xs_fault_refusal(&fault), rows[i].wanted);
    }
}

static void fault_before_a_version_is_one_of_the_request_line(void **state)
{
    struct xs_fault fault = {
        .err = HPE_INVALID_CONTENT_LENGTH,
        .in_head = true,
        .has_target = true,
    };
    (void)state;

    assert_int_equal(xs_fault_refusal(&fault), XS_REFUSE_SYNTAX);
}

static void fault_of_a_foreign_method_is_one_of_the_method(void **state)
{
    struct xs_fault fault = {
        .err = HPE_INVALID_CONSTANT,
        .in_head = true,
        .has_target = true,
        .method = HTTP_DESCRIBE,
    };
    (void)state;

    assert_int_equal(xs_fault_refusal(&fault), XS_REFUSE_METHOD);

    fault.method = HTTP_GET;
    assert_int_equal(xs_fault_refusal(&fault), XS_REFUSE_SYNTAX);
    assert_true(xs_fault_is_foreign(HTTP_PRI));
    assert_false(xs_fault_is_foreign(HTTP_SOURCE));
    assert_false(xs_fault_is_foreign(HTTP_QUERY));
}

static void fault_in_a_body_is_one_of_chunk_or_trailer(void **state)
{
    struct xs_fault fault = {.err = HPE_INVALID_CHUNK_SIZE};
    (void)state;

    assert_int_equal(xs_fault_refusal(&fault), XS_REFUSE_CHUNK);

    fault.flags = F_TRAILING;
    fault.err = HPE_INVALID_HEADER_TOKEN;
    assert_int_equal(xs_fault_refusal(&fault), XS_REFUSE_FIELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_tells_an_unknown_method_from_no_request),
        cmocka_unit_test(fault_tells_the_first_byte_of_tls),
        cmocka_unit_test(fault_in_a_head_is_told_by_what_llhttp_found),
        cmocka_unit_test(fault_before_a_version_is_one_of_the_request_line),
        cmocka_unit_test(fault_of_a_foreign_method_is_one_of_the_method),
        cmocka_unit_test(fault_in_a_body_is_one_of_chunk_or_trailer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
