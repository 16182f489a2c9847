/* file.h - a file of the application's on its way into a response.
 *
 *     opened, or a duplicate ──▶ checked ──▶ lent to the core ──▶ closed
 *
 * The descriptor is ours: what the application does with its own afterwards
 * does not matter. */

#ifndef XS_EXT_FILE_H
#define XS_EXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/gateway.h"
#include "python/ext/python.h"

/* A regular file, open for reading, that has the size that it says. */
struct ext_file {
    int fd; /* owned */
    uint64_t size;
};

/* Open the file at `path` (bytes). `what` begins the sentence of an error.
 * -1 with an exception set. */
int ext_file_open(struct ext_file *file, PyObject *path, const char *what);

/* A duplicate of the application's `fd`. Likewise. */
int ext_file_dup(struct ext_file *file, int fd, const char *what);

/* Whether the application's `fd` is what ext_file_dup takes; no exception. */
bool ext_file_fits(int fd);

void ext_file_close(struct ext_file *file);

/* Give `len` bytes from `offset` on to the core, small ones as bytes if that
 * costs no wait. Takes the descriptor. Errors as xs_response_body. */
XS_MUST_CHECK int ext_file_lend(struct xs_request *req, struct ext_file *file,
                                uint64_t offset, size_t len, bool more);

/* A range of a file as an object, which stands where bytes may: see ext_lend.
 * It closes what was not lent. */
struct ext_range {
    struct ext_file file;
    uint64_t offset;
    size_t len;
};

/* New. Takes the descriptor; NULL with an exception set: it is closed. */
PyObject *ext_range_new(struct ext_file *file, uint64_t offset, size_t len);

/* What is in it; NULL: `block` is no range. */
struct ext_range *ext_range_of(PyObject *block);

#endif
