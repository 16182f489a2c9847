/* test_mem.c - core/base/mem.c: memory that may fail. */

#include "core/base/mem.h"
#include "tests/testlib.h"

static void mem_new_gives_zeroed_bytes(void **state)
{
    struct test_mem mem = test_mem_of(1);
    uint8_t *bytes;
    (void)state;

    bytes = xs_mem_new(&mem.mem, 100);

    assert_non_null(bytes);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(bytes[i], 0);
    }
    xs_mem_free(&mem.mem, bytes);
    assert_int_equal(mem.out, 0);
}

static void mem_new_gives_null_when_there_is_none(void **state)
{
    struct test_mem mem = test_mem_of(0);
    (void)state;

    assert_null(xs_mem_new(&mem.mem, 100));
}

static void mem_free_accepts_null(void **state)
{
    struct test_mem mem = test_mem_of(0);
    (void)state;

    xs_mem_free(&mem.mem, NULL);

    assert_int_equal(mem.out, 0);
}

static void mem_libc_resizes_like_realloc(void **state)
{
    struct xs_mem mem = xs_mem_libc();
    char *text;
    (void)state;

    text = mem.resize(&mem, NULL, 3);
    assert_non_null(text);
    memcpy(text, "ab", 3);
    text = mem.resize(&mem, text, 10000);
    assert_non_null(text);
    assert_string_equal(text, "ab");

    assert_null(mem.resize(&mem, text, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mem_new_gives_zeroed_bytes),
        cmocka_unit_test(mem_new_gives_null_when_there_is_none),
        cmocka_unit_test(mem_free_accepts_null),
        cmocka_unit_test(mem_libc_resizes_like_realloc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
