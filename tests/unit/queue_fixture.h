/* queue_fixture.h - bytes for a queue, and what it gives back. */

#ifndef TESTS_UNIT_QUEUE_FIXTURE_H
#define TESTS_UNIT_QUEUE_FIXTURE_H

#include "core/base/queue.h"
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

static inline void on_release(void *owner)
{
    struct lending *lending = owner;

    lending->lender->released[lending->id]++;
    if (lending->lender->queue != NULL) {
        xs_queue_check(lending->lender->queue);
    }
}

static inline struct xs_lent lend(struct lender *lender, struct xs_slice bytes)
{
    struct lending *lending = &lendings[lender->lent];

    assert_true(lender->lent < LENT_MAX);
    *lending = (struct lending){lender, lender->lent};
    lender->lent++;
    return (struct xs_lent){
        .bytes = bytes, .release = on_release, .owner = lending};
}

static inline void put_copy(struct xs_queue *queue, const char *text)
{
    assert_int_equal(xs_queue_copy(queue, xs_slice_str(text)), 0);
    xs_queue_check(queue);
}

static inline void put_lent(struct xs_queue *queue, struct lender *lender,
                            const char *text)
{
    struct xs_lent lent = lend(lender, xs_slice_str(text));

    assert_int_equal(xs_queue_lend(queue, &lent), 0);
    xs_queue_check(queue);
}

static inline void put_file(struct xs_queue *queue, struct lender *lender,
                            uint64_t offset, size_t len)
{
    struct xs_lent lent = lend(lender, (struct xs_slice){NULL, len});

    lent.is_file = true;
    lent.file = 7;
    lent.offset = offset;
    assert_int_equal(xs_queue_lend(queue, &lent), 0);
    xs_queue_check(queue);
}

/* All that may leave, as text; consumes nothing. */
static inline const char *ready_text(const struct xs_queue *queue)
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

static inline unsigned slice_count(const struct xs_queue *queue)
{
    struct xs_slice slices[XS_QUEUE_SLICES];

    return xs_queue_peek(queue, slices, XS_QUEUE_SLICES);
}

#endif
