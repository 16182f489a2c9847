/* test_queue_memory.c - core/base/queue.c: what it keeps, and no memory. */

#include "core/base/queue.h"

#include "core/base/error.h"
#include "core/base/limits.h"
#include "tests/unit/queue_fixture.h"

static void queue_shrinks_when_it_is_empty(void **state)
{
    static uint8_t big[40000];
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    assert_int_equal(xs_queue_copy(&queue, xs_slice_of(big, sizeof big)), 0);
    put_lent(&queue, &lender, "x");
    xs_queue_consume(&queue, sizeof big);
    assert_true(queue.own_cap >= sizeof big);

    xs_queue_consume(&queue, 1);

    assert_true(queue.own_cap <= XS_TX_KEEP);
    xs_queue_check(&queue);
    put_copy(&queue, "again");
    assert_string_equal(ready_text(&queue), "again");
    xs_queue_fini(&queue);
    assert_int_equal(mem.out, 0);
}

static void queue_keeps_its_memory_when_shrinking_fails(void **state)
{
    static uint8_t big[40000];
    struct test_mem mem = test_mem_of(2);
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    assert_int_equal(xs_queue_copy(&queue, xs_slice_of(big, sizeof big)), 0);

    xs_queue_consume(&queue, sizeof big);

    xs_queue_check(&queue);
    put_copy(&queue, "fits");
    assert_string_equal(ready_text(&queue), "fits");
    xs_queue_fini(&queue);
    assert_int_equal(mem.out, 0);
}

static void queue_needs_no_memory_for_one_response_after_another(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    unsigned calls;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    put_copy(&queue, "first");
    xs_queue_consume(&queue, 5);
    calls = mem.calls;

    for (unsigned i = 0; i < 100; i++) {
        put_copy(&queue, "another response");
        xs_queue_consume(&queue, 16);
    }

    assert_int_equal(mem.calls, calls);
    xs_queue_fini(&queue);
}

static void queue_trim_frees_an_empty_queue_and_no_other(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    put_copy(&queue, "a");
    xs_queue_trim(&queue);
    assert_string_equal(ready_text(&queue), "a");
    xs_queue_consume(&queue, 1);

    xs_queue_trim(&queue);

    assert_int_equal(mem.out, 0);
    put_copy(&queue, "b");
    assert_string_equal(ready_text(&queue), "b");
    xs_queue_fini(&queue);
}

/* Each allocation fails once: the call says so and changes nothing. */
static void queue_without_memory_stays_as_it_was(void **state)
{
    static uint8_t big[3000];
    (void)state;

    for (unsigned left = 0; left < 12; left++) {
        struct test_mem mem = test_mem_of(left);
        struct lender lender = {.queue = NULL};
        struct xs_queue queue;
        size_t bytes = 0;
        unsigned refused = 0;

        xs_queue_init(&queue, &mem.mem);
        for (unsigned i = 0; i < 30; i++) {
            struct xs_lent lent = lend(&lender, XS_LIT("lent"));
            int err;

            err = xs_queue_copy(&queue, xs_slice_of(big, i * 100));
            bytes += err == 0 ? i * 100 : 0;
            refused += err != 0;
            assert_true(err == 0 || err == XS_ENOMEM);
            xs_queue_check(&queue);
            err = xs_queue_lend(&queue, &lent);
            bytes += err == 0 ? 4 : 0;
            refused += err != 0;
            if (err != 0) {
                assert_int_equal(lender.released[i], 0);
                lender.released[i] = 1;
            }
            xs_queue_check(&queue);
            assert_int_equal(queue.bytes, bytes);
        }
        assert_true(left > 8 || refused > 0);
        xs_queue_fini(&queue);
        for (unsigned i = 0; i < lender.lent; i++) {
            assert_int_equal(lender.released[i], 1);
        }
        assert_int_equal(mem.out, 0);
    }
}

static void queue_gives_a_large_ring_back_when_it_is_empty(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    unsigned large;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    assert_int_equal(xs_queue_reserve(&queue, 0, 1000), 0);
    large = queue.cap;

    put_copy(&queue, "x");
    xs_queue_consume(&queue, 1);

    assert_true(large >= 1000);
    assert_true(queue.cap < 100);
    xs_queue_check(&queue);
    xs_queue_fini(&queue);
    assert_int_equal(mem.out, 0);
}

static void queue_reserve_lets_the_next_calls_succeed(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    for (unsigned i = 0; i < 7; i++) {
        put_lent(&queue, &lender, "x");
    }
    assert_int_equal(xs_queue_reserve(&queue, 2000, 20), 0);
    mem.left = 0;

    for (unsigned i = 0; i < 10; i++) {
        put_copy(&queue, "0123456789");
        put_lent(&queue, &lender, "x");
    }

    assert_int_equal(queue.bytes, 7 + 110);
    xs_queue_fini(&queue);
}

static void queue_refuses_a_length_that_cannot_be(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);

    assert_int_equal(xs_queue_reserve(&queue, SIZE_MAX, 1), XS_ENOMEM);
    assert_int_equal(xs_queue_reserve(&queue, 1, UINT32_MAX), XS_ENOMEM);

    xs_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_shrinks_when_it_is_empty),
        cmocka_unit_test(queue_keeps_its_memory_when_shrinking_fails),
        cmocka_unit_test(queue_needs_no_memory_for_one_response_after_another),
        cmocka_unit_test(queue_trim_frees_an_empty_queue_and_no_other),
        cmocka_unit_test(queue_without_memory_stays_as_it_was),
        cmocka_unit_test(queue_gives_a_large_ring_back_when_it_is_empty),
        cmocka_unit_test(queue_reserve_lets_the_next_calls_succeed),
        cmocka_unit_test(queue_refuses_a_length_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
