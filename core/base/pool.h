/* pool.h - blocks of one size, kept for the next who needs one.
 *
 * The newest block given back is the next one given out: it is still in the
 * cache. At most `spare_max` blocks are kept; more go back to the memory. */

#ifndef XS_BASE_POOL_H
#define XS_BASE_POOL_H

#include <stddef.h>

#include "core/base/base.h"
#include "core/base/mem.h"

struct xs_pool {
    struct xs_mem *mem; /* borrowed */
    void *spare;        /* owned: the first spare block, each holds the next */
    size_t block_size;
    unsigned spare_count;
    unsigned spare_max;
    unsigned used; /* blocks that are out */
};

/* `block_size` is at least the size of a pointer. */
void xs_pool_init(struct xs_pool *pool, struct xs_mem *mem, size_t block_size,
                  unsigned spare_max);

/* Free the spare blocks. All blocks are back. Accepts a zeroed pool. */
void xs_pool_fini(struct xs_pool *pool);

/* A block, its bytes not set; owned by the caller until given back. NULL if
 * there is no memory. */
XS_MUST_CHECK void *xs_pool_take(struct xs_pool *pool);

/* Takes `block`, which came from this pool. */
void xs_pool_give(struct xs_pool *pool, void *block);

#endif
