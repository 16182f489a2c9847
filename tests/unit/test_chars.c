/* test_chars.c - core/http1/chars.c: the table, from the grammar. */

#include "core/http1/chars.h"

#include <ctype.h>

#include "tests/testlib.h"

static bool in(int c, const char *set)
{
    return c > 0 && c < 0x80 && strchr(set, c) != NULL;
}

static bool is_alnum(int c)
{
    return c < 0x80 && isalnum(c) != 0;
}

static void chars_table_is_the_grammar(void **state)
{
    (void)state;

    for (int c = 0; c < 256; c++) {
        uint8_t byte = (uint8_t)c;
        bool token = is_alnum(c) || in(c, "!#$%&'*+-.^_`|~");
        bool host = is_alnum(c) || in(c, "-._~!$&'()*+,;=");
        bool hex = in(c, "0123456789abcdefABCDEF");
        bool text = c == '\t' || (c >= ' ' && c != 0x7f);

        assert_int_equal(xs_char_is(byte, XS_CHAR_TOKEN), token);
        assert_int_equal(xs_char_is(byte, XS_CHAR_HOST), host);
        assert_int_equal(xs_char_is(byte, XS_CHAR_HEX), hex);
        assert_int_equal(xs_char_is(byte, XS_CHAR_TEXT), text);
        assert_int_equal(xs_char_is_digit(byte), c >= '0' && c <= '9');
    }
}

static void chars_all_wants_every_byte(void **state)
{
    (void)state;

    assert_true(xs_chars_all(XS_LIT("x-name"), XS_CHAR_TOKEN));
    assert_true(xs_chars_all(XS_LIT(""), XS_CHAR_TOKEN));
    assert_false(xs_chars_all(XS_LIT(" x-name"), XS_CHAR_TOKEN));
    assert_false(xs_chars_all(XS_LIT("x name"), XS_CHAR_TOKEN));
    assert_false(xs_chars_all(XS_LIT("x-name:"), XS_CHAR_TOKEN));
    /* "(" is of a host, "g" of a token: neither is of both. */
    assert_false(xs_chars_all(XS_LIT("g("), XS_CHAR_TOKEN));

    for (size_t len = 1; len < 14; len++) {
        for (size_t at = 0; at < len; at++) {
            uint8_t bytes[14];

            memset(bytes, 'a', sizeof bytes);
            assert_true(xs_chars_all(xs_slice_of(bytes, len), XS_CHAR_TOKEN));
            bytes[at] = ' ';
            assert_false(xs_chars_all(xs_slice_of(bytes, len), XS_CHAR_TOKEN));
        }
    }
}

/* Each byte in each place of runs of any length: only three end a line. */
static void chars_have_line_end_finds_it_anywhere(void **state)
{
    uint8_t bytes[32];
    (void)state;

    assert_false(xs_chars_have_line_end(XS_LIT("")));
    for (size_t len = 1; len <= sizeof bytes; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                bool wanted = byte == 0 || byte == '\r' || byte == '\n';

                memset(bytes, (int)(0xfe + len % 2), sizeof bytes);
                bytes[at] = (uint8_t)byte;
                assert_int_equal(
                    xs_chars_have_line_end(xs_slice_of(bytes, len)), wanted);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chars_table_is_the_grammar),
        cmocka_unit_test(chars_all_wants_every_byte),
        cmocka_unit_test(chars_have_line_end_finds_it_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
