/* scarce.h - memory that fails. */

#ifndef FUZZ_SCARCE_H
#define FUZZ_SCARCE_H

#include <stdint.h>
#include <stdlib.h>

#include "core/base/mem.h"

#define SCARCE_NEVER UINT64_MAX

/* Memory that fails after `left` allocations. */
struct scarce {
    struct xs_mem mem; /* must be first */
    uint64_t left;
};

static inline void *fuzz_scarce_resize(struct xs_mem *mem, void *ptr,
                                       size_t size)
{
    struct scarce *scarce = (struct scarce *)mem;

    if (size == 0) {
        free(ptr);
        return NULL;
    }
    if (scarce->left == 0) {
        return NULL;
    }
    scarce->left -= scarce->left != SCARCE_NEVER;
    return realloc(ptr, size);
}

#endif
