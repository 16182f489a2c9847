/* testlib.h - what every C test needs: cmocka, failing memory, slices. */

#ifndef TESTS_TESTLIB_H
#define TESTS_TESTLIB_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/mem.h"
#include "core/base/slice.h"

/* Memory that says no after `left` more allocations, and counts what is out.
 * Every resize moves, so that whoever keeps an old pointer is caught. */
struct test_mem {
    struct xs_mem mem; /* first */
    unsigned left;     /* allocations that succeed before all others fail */
    unsigned out;      /* blocks not freed */
    unsigned calls;    /* allocations asked for */
};

/* Not inlined: gcc 15 guesses that any resize is this one, and would warn of
 * what it then sees in memory that is not a test's. */
__attribute__((noinline, unused)) static void *test_mem_resize(
    struct xs_mem *mem, void *ptr, size_t size)
{
    struct test_mem *test = (struct test_mem *)mem;
    size_t *block = ptr == NULL ? NULL : (size_t *)ptr - 2;
    size_t *moved;

    if (size == 0) {
        test->out -= block != NULL;
        free(block);
        return NULL;
    }
    test->calls++;
    if (test->left == 0) {
        return NULL;
    }
    test->left--;
    moved = malloc(size + 2 * sizeof *moved);
    assert_non_null(moved);
    moved[0] = size;
    memset(moved + 2, 0xa5, size);
    if (block != NULL) {
        memcpy(moved + 2, ptr, block[0] < size ? block[0] : size);
        free(block);
    } else {
        test->out++;
    }
    return moved + 2;
}

static inline struct test_mem test_mem_of(unsigned left)
{
    return (struct test_mem){.mem = {test_mem_resize}, .left = left};
}

#define TEST_MEM_ENOUGH 1000000u

/* `bytes` are exactly those of the string `text`. */
static inline void assert_slice_is(struct xs_slice bytes, const char *text)
{
    if (!xs_slice_eq(bytes, xs_slice_str(text))) {
        fail_msg("got \"%.*s\", wanted \"%s\"", (int)bytes.len,
                 bytes.len > 0 ? (const char *)bytes.data : "", text);
    }
}

#endif
