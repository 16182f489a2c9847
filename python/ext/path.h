/* path.h - the path of a request without its percent-encoding. */

#ifndef XS_EXT_PATH_H
#define XS_EXT_PATH_H

#include <stdint.h>

#include "core/base/slice.h"
#include "python/ext/python.h"

struct ext_path {
    struct xs_slice bytes; /* borrowed: from `raw`, or from one of these */
    uint8_t *heap;         /* owned; NULL */
    uint8_t stack[512];
};

/* Decode `raw`, which is borrowed until fini. What is no "%XX" stays as it is.
 * -1 with an exception set. */
int ext_path_init(struct ext_path *path, struct xs_slice raw);
void ext_path_fini(struct ext_path *path);

#endif
