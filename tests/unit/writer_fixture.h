/* writer_fixture.h - a writer, its queue, and what has left it. */

#ifndef TESTS_UNIT_WRITER_FIXTURE_H
#define TESTS_UNIT_WRITER_FIXTURE_H

#include "core/base/limits.h"
#include "core/http1/writer.h"
#include "tests/testlib.h"

#define COMMON "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nserver: xsgi\r\n"
#define NOW_NS (784111777 * XS_SECOND_NS)
#define NONE ((struct xs_slice){NULL, 0})

static uint8_t big[XS_TX_COPY_MAX + 1];

struct fixture {
    struct test_mem mem;
    struct xs_queue queue;
    struct xs_writer writer;
    unsigned released;
    char text[3 * sizeof big];
};

/* What the request was like. */
struct request {
    unsigned minor;
    bool is_head;
    bool keep_alive;
};

#define GET_1_1 ((struct request){1, false, true})
#define GET_1_0 ((struct request){0, false, false})
#define GET_1_0_ALIVE ((struct request){0, false, true})
#define HEAD_1_1 ((struct request){1, true, true})

static inline struct fixture *setup(struct request request)
{
    static struct fixture f;

    memset(big, 'B', sizeof big);
    f.mem = test_mem_of(TEST_MEM_ENOUGH);
    f.released = 0;
    xs_queue_init(&f.queue, &f.mem.mem);
    xs_writer_begin(&f.writer, request.minor, request.is_head,
                    request.keep_alive, XS_LIT(COMMON));
    return &f;
}

static inline void teardown(struct fixture *f)
{
    xs_queue_check(&f->queue);
    xs_queue_fini(&f->queue);
    assert_int_equal(f->mem.out, 0);
}

static inline void on_release(void *owner)
{
    unsigned *released = owner;

    (*released)++;
}

static inline int start(struct fixture *f, unsigned status)
{
    return xs_writer_start(&f->writer, &f->queue, status, NONE);
}

static inline int header(struct fixture *f, const char *name, const char *value)
{
    return xs_writer_header(&f->writer, &f->queue, xs_slice_str(name),
                            xs_slice_str(value));
}

static inline int body(struct fixture *f, struct xs_slice bytes, bool more)
{
    struct xs_lent lent = {
        .bytes = bytes, .release = on_release, .owner = &f->released};
    int err = xs_writer_body(&f->writer, &f->queue, &lent, more);

    xs_queue_check(&f->queue);
    return err;
}

static inline int body_text(struct fixture *f, const char *text, bool more)
{
    return body(f, xs_slice_str(text), more);
}

/* All that may leave. */
static inline const char *sent(struct fixture *f)
{
    struct xs_slice slices[XS_QUEUE_SLICES];
    unsigned n = xs_queue_peek(&f->queue, slices, XS_QUEUE_SLICES);
    size_t len = 0;

    for (unsigned i = 0; i < n; i++) {
        assert_true(len + slices[i].len < sizeof f->text);
        memcpy(f->text + len, slices[i].data, slices[i].len);
        len += slices[i].len;
    }
    f->text[len] = '\0';
    return f->text;
}

static inline unsigned slice_count(struct fixture *f)
{
    struct xs_slice slices[XS_QUEUE_SLICES];

    return xs_queue_peek(&f->queue, slices, XS_QUEUE_SLICES);
}

#endif
