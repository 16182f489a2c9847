/* test_queue.c - core/base/queue.c: bytes that wait for a socket. */

#include "core/base/queue.h"

#include "core/base/error.h"
#include "core/base/limits.h"
#include "tests/testlib.h"

#define LENT_MAX 64

/* Lends bytes and counts how often each came back. */
struct lender {
    struct xs_queue *queue; /* if set: checked at each release */
    unsigned released[LENT_MAX];
    unsigned lent;
};

struct lending {
    struct lender *lender;
    unsigned id;
};

static struct lending lendings[LENT_MAX];

static void on_release(void *owner)
{
    struct lending *lending = owner;

    lending->lender->released[lending->id]++;
    if (lending->lender->queue != NULL) {
        xs_queue_check(lending->lender->queue);
    }
}

static struct xs_lent lend(struct lender *lender, struct xs_slice bytes)
{
    struct lending *lending = &lendings[lender->lent];

    assert_true(lender->lent < LENT_MAX);
    *lending = (struct lending){lender, lender->lent};
    lender->lent++;
    return (struct xs_lent){bytes, on_release, lending};
}

static void put_copy(struct xs_queue *queue, const char *text)
{
    assert_int_equal(xs_queue_copy(queue, xs_slice_str(text)), 0);
    xs_queue_check(queue);
}

static void put_lent(struct xs_queue *queue, struct lender *lender,
                     const char *text)
{
    struct xs_lent lent = lend(lender, xs_slice_str(text));

    assert_int_equal(xs_queue_lend(queue, &lent), 0);
    xs_queue_check(queue);
}

/* All that may leave, as text; consumes nothing. */
static const char *ready_text(const struct xs_queue *queue)
{
    static char text[4096];
    struct xs_slice slices[XS_QUEUE_SLICES];
    unsigned n = xs_queue_peek(queue, slices, XS_QUEUE_SLICES);
    size_t len = 0;

    for (unsigned i = 0; i < n; i++) {
        assert_true(slices[i].len > 0);
        assert_true(len + slices[i].len < sizeof text);
        memcpy(text + len, slices[i].data, slices[i].len);
        len += slices[i].len;
    }
    text[len] = '\0';
    assert_int_equal(len, xs_queue_ready(queue));
    return text;
}

static unsigned slice_count(const struct xs_queue *queue)
{
    struct xs_slice slices[XS_QUEUE_SLICES];

    return xs_queue_peek(queue, slices, XS_QUEUE_SLICES);
}

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
    static const char all[] = "aaBBBccDEE";
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
            put_copy(&queue, "aa");
            put_lent(&queue, &lender, "BBB");
            put_copy(&queue, "cc");
            put_lent(&queue, &lender, "D");
            put_lent(&queue, &lender, "EE");
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
        cmocka_unit_test(queue_releases_once_what_fini_drops),
        cmocka_unit_test(queue_holds_back_and_lets_go),
        cmocka_unit_test(queue_unwrite_leaves_it_as_it_was),
        cmocka_unit_test(queue_peek_gives_no_more_slices_than_asked_for),
        cmocka_unit_test(queue_shrinks_when_it_is_empty),
        cmocka_unit_test(queue_keeps_its_memory_when_shrinking_fails),
        cmocka_unit_test(queue_needs_no_memory_for_one_response_after_another),
        cmocka_unit_test(queue_trim_frees_an_empty_queue_and_no_other),
        cmocka_unit_test(queue_without_memory_stays_as_it_was),
        cmocka_unit_test(queue_reserve_lets_the_next_calls_succeed),
        cmocka_unit_test(queue_refuses_a_length_that_cannot_be),
        cmocka_unit_test(queue_fini_accepts_a_zeroed_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
