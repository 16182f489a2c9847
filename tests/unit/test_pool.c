/* test_pool.c - core/base/pool.c: blocks of one size. */

#include "core/base/pool.h"
#include "tests/testlib.h"

static void pool_gives_the_newest_spare_block(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_pool pool;
    void *a;
    void *b;
    (void)state;

    xs_pool_init(&pool, &mem.mem, 64, 4);
    a = xs_pool_take(&pool);
    b = xs_pool_take(&pool);
    xs_pool_give(&pool, a);
    xs_pool_give(&pool, b);

    assert_ptr_equal(xs_pool_take(&pool), b);
    assert_ptr_equal(xs_pool_take(&pool), a);
    assert_int_equal(mem.calls, 2);

    xs_pool_give(&pool, a);
    xs_pool_give(&pool, b);
    xs_pool_fini(&pool);
    assert_int_equal(mem.out, 0);
}

static void pool_keeps_no_more_than_spare_max(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_pool pool;
    void *blocks[3];
    (void)state;

    xs_pool_init(&pool, &mem.mem, sizeof(void *), 2);
    for (int i = 0; i < 3; i++) {
        blocks[i] = xs_pool_take(&pool);
        assert_non_null(blocks[i]);
    }

    for (int i = 0; i < 3; i++) {
        xs_pool_give(&pool, blocks[i]);
    }

    assert_int_equal(mem.out, 2);
    assert_int_equal(pool.used, 0);
    xs_pool_fini(&pool);
    assert_int_equal(mem.out, 0);
}

static void pool_take_gives_null_without_memory_and_counts_nothing(void **state)
{
    struct test_mem mem = test_mem_of(0);
    struct xs_pool pool;
    (void)state;

    xs_pool_init(&pool, &mem.mem, 64, 4);

    assert_null(xs_pool_take(&pool));

    assert_int_equal(pool.used, 0);
    xs_pool_fini(&pool);
}

static void pool_fini_accepts_a_zeroed_pool(void **state)
{
    struct xs_pool pool = {.mem = NULL};
    (void)state;

    xs_pool_fini(&pool);

    assert_null(pool.spare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_gives_the_newest_spare_block),
        cmocka_unit_test(pool_keeps_no_more_than_spare_max),
        cmocka_unit_test(
            pool_take_gives_null_without_memory_and_counts_nothing),
        cmocka_unit_test(pool_fini_accepts_a_zeroed_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
