/* mem.h - where memory comes from: one function, which may fail.
 *
 * The backend provides it (xs_io.mem), so that the simulator can refuse any
 * single allocation. */

#ifndef XS_BASE_MEM_H
#define XS_BASE_MEM_H

#include <stddef.h>

struct xs_mem {
    /* Like realloc: `ptr` NULL allocates, `size` 0 frees and gives NULL.
     * On failure gives NULL and leaves `ptr` as it was. */
    void *(*resize)(struct xs_mem *mem, void *ptr, size_t size);
};

/* `size` bytes, all zero. NULL if there are none. */
void *xs_mem_new(struct xs_mem *mem, size_t size);

/* Give `ptr` back. Accepts NULL. */
void xs_mem_free(struct xs_mem *mem, void *ptr);

/* Memory from the C library. */
struct xs_mem xs_mem_libc(void);

#endif
