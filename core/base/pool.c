/* pool.c - blocks of one size, kept for the next who needs one. */

#include "core/base/pool.h"

void xs_pool_init(struct xs_pool *pool, struct xs_mem *mem, size_t block_size,
                  unsigned spare_max)
{
    XS_ASSERT(block_size >= sizeof(void *));
    *pool = (struct xs_pool){
        .mem = mem, .block_size = block_size, .spare_max = spare_max};
}

void xs_pool_fini(struct xs_pool *pool)
{
    XS_ASSERT(pool->used == 0);
    while (pool->spare != NULL) {
        void *block = pool->spare;
        pool->spare = *(void **)block;
        xs_mem_free(pool->mem, block);
    }
    pool->spare_count = 0;
}

void *xs_pool_take(struct xs_pool *pool)
{
    void *block = pool->spare;

    if (block != NULL) {
        pool->spare = *(void **)block;
        pool->spare_count--;
    } else {
        block = pool->mem->resize(pool->mem, NULL, pool->block_size);
        if (block == NULL) {
            return NULL;
        }
    }
    pool->used++;
    return block;
}

void xs_pool_give(struct xs_pool *pool, void *block)
{
    XS_ASSERT(pool->used > 0);
    pool->used--;
    if (pool->spare_count >= pool->spare_max) {
        xs_mem_free(pool->mem, block);
        return;
    }
    *(void **)block = pool->spare;
    pool->spare = block;
    pool->spare_count++;
}
