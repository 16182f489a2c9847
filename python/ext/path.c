/* path.c - the path of a request without its percent-encoding. */

#include "python/ext/path.h"

#include <string.h>

/* The value of a hexadecimal digit; -1 if it is none. */
static int path_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode into `out`, which has room for `raw`; the length. */
static size_t path_decode(uint8_t *out, struct xs_slice raw)
{
    size_t from = 0;
    size_t to = 0;

    while (from < raw.len) {
        int high = -1;
        int low = -1;

        if (raw.data[from] == '%' && raw.len - from > 2) {
            high = path_digit(raw.data[from + 1]);
            low = path_digit(raw.data[from + 2]);
        }
        if (high >= 0 && low >= 0) {
            out[to] = (uint8_t)(high * 16 + low);
            from += 3;
        } else {
            out[to] = raw.data[from];
            from++;
        }
        to++;
    }
    return to;
}

int ext_path_init(struct ext_path *path, struct xs_slice raw)
{
    uint8_t *out = path->stack;

    path->heap = NULL;
    path->bytes = raw;
    if (raw.len == 0 || memchr(raw.data, '%', raw.len) == NULL) {
        return 0;
    }
    if (raw.len > sizeof path->stack) {
        out = path->heap = PyMem_Malloc(raw.len);
        if (out == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    path->bytes = xs_slice_of(out, path_decode(out, raw));
    return 0;
}

void ext_path_fini(struct ext_path *path)
{
    if (path->heap != NULL) {
        PyMem_Free(path->heap);
    }
}
