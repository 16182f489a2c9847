/* test_queue.c - core/base/queue.c: order, counts, holding, releasing. */

#include "core/base/queue.h"

#include "tests/unit/queue_fixture.h"

static void queue_gives_copied_bytes_as_one_slice(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    put_copy(&queue, "head ");
    put_copy(&queue, "");
    put_copy(&queue, "body");

    assert_string_equal(ready_text(&queue), "head body");
    assert_int_equal(slice_count(&queue), 1);

    xs_queue_fini(&queue);
    assert_int_equal(mem.out, 0);
}

static void queue_keeps_the_order_of_copied_and_lent_bytes(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    put_copy(&queue, "a");
    put_lent(&queue, &lender, "BB");
    put_lent(&queue, &lender, "CC");
    put_copy(&queue, "d");
    put_lent(&queue, &lender, "EE");

    assert_string_equal(ready_text(&queue), "aBBCCdEE");
    assert_int_equal(slice_count(&queue), 5);

    xs_queue_fini(&queue);
}

/* The same pieces, written in any steps: what is left is always the rest, and
 * a lent piece comes back when its last byte is gone, not before. */
static void queue_consumes_any_count_at_any_place(void **state)
{
    static const char all[] = "abCDEfgHIJ";
    static const size_t lent_ends[] = {5, 8, 10};
    (void)state;

    for (size_t first = 1; first < sizeof all; first++) {
        for (size_t step = 1; step < sizeof all; step++) {
            struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
            struct lender lender = {.queue = NULL};
            struct xs_queue queue;
            size_t gone = 0;
            size_t next = first;

            xs_queue_init(&queue, &mem.mem);
            lender.queue = &queue;
            put_copy(&queue, "ab");
            put_lent(&queue, &lender, "CDE");
            put_copy(&queue, "fg");
            put_lent(&queue, &lender, "H");
            put_lent(&queue, &lender, "IJ");
            while (gone < sizeof all - 1) {
                size_t left = sizeof all - 1 - gone;
                next = next < left ? next : left;
                xs_queue_consume(&queue, next);
                xs_queue_check(&queue);
                gone += next;
                next = step;
                assert_string_equal(ready_text(&queue), all + gone);
                for (size_t i = 0; i < XS_COUNT_OF(lent_ends); i++) {
                    assert_int_equal(lender.released[i], gone >= lent_ends[i]);
                }
            }
            assert_int_equal(queue.count, 0);
            xs_queue_fini(&queue);
            assert_int_equal(mem.out, 0);
        }
    }
}

static void queue_takes_bytes_while_others_wait(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    unsigned in = 0;
    unsigned out = 0;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned many = round % 37 + 1;
        uint8_t *room = xs_queue_room(&queue, many);
        struct xs_slice slice;
        size_t take;

        assert_non_null(room);
        for (unsigned i = 0; i < many; i++) {
            room[i] = (uint8_t)(in++ % 251);
        }
        xs_queue_wrote(&queue, many);
        take = queue.bytes - (queue.bytes > 30 ? 30 : queue.bytes);
        assert_int_equal(xs_queue_peek(&queue, &slice, 1), 1);
        for (size_t i = 0; i < take; i++) {
            assert_int_equal(slice.data[i], out++ % 251);
        }
        xs_queue_consume(&queue, take);
        xs_queue_check(&queue);
    }

    assert_true(queue.own_cap <= 1024);
    xs_queue_fini(&queue);
}

static void queue_keeps_the_order_of_pieces_when_their_ring_grows(void **state)
{
    static const char *const texts[] = {"0", "1", "2", "3", "4", "5",
                                        "6", "7", "8", "9", "a", "b"};
    (void)state;

    for (unsigned gone = 0; gone < 8; gone++) {
        struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
        struct lender lender = {.queue = NULL};
        struct xs_queue queue;

        xs_queue_init(&queue, &mem.mem);
        for (unsigned i = 0; i < 8; i++) {
            put_lent(&queue, &lender, "x");
        }
        xs_queue_consume(&queue, gone);
        for (unsigned i = 0; i < XS_COUNT_OF(texts); i++) {
            put_lent(&queue, &lender, texts[i]);
        }

        assert_string_equal(ready_text(&queue) + 8 - gone, "0123456789ab");
        xs_queue_fini(&queue);
    }
}

static void queue_releases_once_what_fini_drops(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    for (unsigned i = 0; i < 20; i++) {
        put_lent(&queue, &lender, "lent");
        put_copy(&queue, "copied");
    }
    xs_queue_consume(&queue, 12); /* one, and half of another */
    xs_queue_hold(&queue);
    put_copy(&queue, "held");

    xs_queue_fini(&queue);

    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(lender.released[i], 1);
    }
    assert_int_equal(mem.out, 0);
}

static void queue_copies_ahead_of_what_is_held(void **state)
{
    struct xs_slice out[XS_QUEUE_SLICES];
    struct xs_queue queue;
    struct xs_mem mem = xs_mem_libc();

    (void)state;
    xs_queue_init(&queue, &mem);
    assert_int_equal(xs_queue_copy(&queue, XS_LIT("first ")), 0);
    xs_queue_hold(&queue);
    assert_int_equal(xs_queue_copy(&queue, XS_LIT("held")), 0);
    assert_int_equal(xs_queue_copy_ahead(&queue, XS_LIT("ahead ")), 0);
    assert_int_equal(xs_queue_copy(&queue, XS_LIT(" too")), 0);
    xs_queue_check(&queue);

    assert_int_equal(xs_queue_ready(&queue), 12);
    xs_queue_unhold(&queue);
    assert_int_equal(xs_queue_peek(&queue, out, XS_QUEUE_SLICES), 1);
    assert_true(xs_slice_eq(out[0], XS_LIT("first ahead held too")));
    xs_queue_fini(&queue);
}

static void queue_holds_back_and_lets_go(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    put_copy(&queue, "before ");
    xs_queue_hold(&queue);
    put_copy(&queue, "held ");
    put_copy(&queue, "too");

    assert_string_equal(ready_text(&queue), "before ");
    xs_queue_consume(&queue, 7);
    xs_queue_check(&queue);
    assert_string_equal(ready_text(&queue), "");
    xs_queue_unhold(&queue);

    assert_string_equal(ready_text(&queue), "held too");
    put_copy(&queue, "!");
    assert_string_equal(ready_text(&queue), "held too!");
    xs_queue_fini(&queue);
}

static void queue_unwrite_leaves_it_as_it_was(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    xs_queue_hold(&queue);
    put_copy(&queue, "gone");
    xs_queue_unwrite(&queue);
    xs_queue_check(&queue);
    assert_int_equal(queue.bytes, 0);
    assert_int_equal(queue.count, 0);

    put_copy(&queue, "a");
    put_lent(&queue, &lender, "B");
    xs_queue_hold(&queue);
    xs_queue_unwrite(&queue);
    xs_queue_hold(&queue);
    put_copy(&queue, "gone");
    xs_queue_unwrite(&queue);
    xs_queue_check(&queue);
    put_copy(&queue, "c");

    assert_string_equal(ready_text(&queue), "aBc");
    xs_queue_fini(&queue);
}

static void queue_peek_gives_no_more_slices_than_asked_for(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    struct xs_slice slices[3];
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    assert_int_equal(xs_queue_peek(&queue, slices, 3), 0);
    for (unsigned i = 0; i < 5; i++) {
        put_lent(&queue, &lender, "x");
    }

    assert_int_equal(xs_queue_peek(&queue, slices, 3), 3);

    xs_queue_fini(&queue);
}

static void queue_keeps_a_range_of_a_file_between_bytes(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    struct xs_slice slices[XS_QUEUE_SLICES];
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    assert_null(xs_queue_file(&queue));
    put_copy(&queue, "a");
    put_lent(&queue, &lender, "B");
    put_file(&queue, &lender, UINT64_C(1) << 40, 1000);
    put_copy(&queue, "c");

    assert_int_equal(xs_queue_ready(&queue), 1003);
    assert_null(xs_queue_file(&queue));
    assert_int_equal(xs_queue_peek(&queue, slices, XS_QUEUE_SLICES), 2);
    xs_queue_consume(&queue, 2);
    assert_int_equal(xs_queue_peek(&queue, slices, XS_QUEUE_SLICES), 0);
    assert_non_null(xs_queue_file(&queue));
    assert_int_equal(xs_queue_file(&queue)->file, 7);
    assert_true(xs_queue_file(&queue)->offset == UINT64_C(1) << 40);
    xs_queue_consume(&queue, 999);
    xs_queue_check(&queue);
    assert_true(xs_queue_file(&queue)->offset == (UINT64_C(1) << 40) + 999);
    assert_int_equal(xs_queue_file(&queue)->len, 1);
    assert_int_equal(lender.released[1], 0);
    xs_queue_consume(&queue, 1);
    assert_int_equal(lender.released[1], 1);
    assert_null(xs_queue_file(&queue));
    assert_string_equal(ready_text(&queue), "c");
    xs_queue_fini(&queue);
}

static void queue_releases_a_file_that_it_drops(void **state)
{
    struct test_mem mem = test_mem_of(TEST_MEM_ENOUGH);
    struct lender lender = {.queue = NULL};
    struct xs_queue queue;
    (void)state;

    xs_queue_init(&queue, &mem.mem);
    put_file(&queue, &lender, 0, SIZE_MAX / 4);
    xs_queue_consume(&queue, 1);
    xs_queue_fini(&queue);

    assert_int_equal(lender.released[0], 1);
    assert_int_equal(mem.out, 0);
}

static void queue_fini_accepts_a_zeroed_queue(void **state)
{
    struct xs_queue queue = {.mem = NULL};
    (void)state;

    xs_queue_fini(&queue);

    xs_queue_check(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_gives_copied_bytes_as_one_slice),
        cmocka_unit_test(queue_keeps_the_order_of_copied_and_lent_bytes),
        cmocka_unit_test(queue_consumes_any_count_at_any_place),
        cmocka_unit_test(queue_takes_bytes_while_others_wait),
        cmocka_unit_test(queue_keeps_the_order_of_pieces_when_their_ring_grows),
        cmocka_unit_test(queue_releases_once_what_fini_drops),
        cmocka_unit_test(queue_copies_ahead_of_what_is_held),
        cmocka_unit_test(queue_holds_back_and_lets_go),
        cmocka_unit_test(queue_unwrite_leaves_it_as_it_was),
        cmocka_unit_test(queue_peek_gives_no_more_slices_than_asked_for),
        cmocka_unit_test(queue_keeps_a_range_of_a_file_between_bytes),
        cmocka_unit_test(queue_releases_a_file_that_it_drops),
        cmocka_unit_test(queue_fini_accepts_a_zeroed_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
