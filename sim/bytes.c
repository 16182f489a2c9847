/* bytes.c - bytes that grow, and a pattern to fill bodies with. */

#include "sim/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "sim/tape.h"

#define PRINT_MAX 1024
#define PATTERN_SEEDS 4099u
#define PATTERN_LEN (XS_BODY_MAX + PATTERN_SEEDS)

void xs_bytes_fini(struct xs_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct xs_bytes){NULL, 0, 0};
}

void xs_bytes_add(struct xs_bytes *bytes, struct xs_slice more)
{
    if (more.len == 0) {
        return;
    }
    if (bytes->cap - bytes->len < more.len) {
        size_t cap = bytes->cap == 0 ? 1024 : bytes->cap;

        while (cap - bytes->len < more.len) {
            cap *= 2;
        }
        bytes->data = realloc(bytes->data, cap);
        XS_ASSERT(bytes->data != NULL);
        bytes->cap = cap;
    }
    memcpy(bytes->data + bytes->len, more.data, more.len);
    bytes->len += more.len;
}

void xs_bytes_print(struct xs_bytes *bytes, const char *format, ...)
{
    char text[PRINT_MAX];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    XS_ASSERT(len >= 0);
    XS_ASSERT((size_t)len < sizeof text);
    xs_bytes_add(bytes, xs_slice_of(text, (size_t)len));
}

void xs_pattern_init(struct xs_pattern *pattern)
{
    uint64_t state = 1;

    pattern->data = malloc(PATTERN_LEN);
    XS_ASSERT(pattern->data != NULL);
    for (size_t i = 0; i < PATTERN_LEN; i++) {
        pattern->data[i] = (uint8_t)(xs_rng_next(&state) >> 56);
    }
}

void xs_pattern_fini(struct xs_pattern *pattern)
{
    free(pattern->data);
    pattern->data = NULL;
}

struct xs_slice xs_pattern_body(const struct xs_pattern *pattern, uint32_t seed,
                                size_t len)
{
    XS_ASSERT(len <= XS_BODY_MAX);
    return xs_slice_of(pattern->data + seed % PATTERN_SEEDS, len);
}
