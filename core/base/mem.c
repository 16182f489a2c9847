/* mem.c - where memory comes from: one function, which may fail. */

#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

void *xs_mem_new(struct xs_mem *mem, size_t size)
{
    void *ptr = mem->resize(mem, NULL, size);

    if (ptr != NULL) {
        memset(ptr, 0, size);
    }
    return ptr;
}

void xs_mem_free(struct xs_mem *mem, void *ptr)
{
    if (ptr != NULL) {
        (void)mem->resize(mem, ptr, 0);
    }
}

static void *mem_libc_resize(struct xs_mem *mem, void *ptr, size_t size)
{
    (void)mem;
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, size);
}

struct xs_mem xs_mem_libc(void)
{
    return (struct xs_mem){mem_libc_resize};
}
