/* fuzz.c - what all fuzz targets share: faults, knobs, logs. */

#include "fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOW_MAX 200u

__attribute__((weak)) bool fuzz_option(const char *name)
{
    (void)name;
    return false;
}

void fuzz_fail(const char *format, ...)
{
    va_list args;

    (void)fflush(stdout);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    abort();
}

struct fuzz_input fuzz_split(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.text = xs_slice_of(data, size)};

    if (size >= FUZZ_KNOBS) {
        input.text.len -= FUZZ_KNOBS;
        memcpy(input.knobs, data + input.text.len, FUZZ_KNOBS);
    }
    return input;
}

static bool is_plain(uint8_t c)
{
    return c >= ' ' && c < 0x7f && c != '\\';
}

const char *fuzz_show(struct xs_slice bytes)
{
    static char text[4 * SHOW_MAX + 1];
    size_t len = 0;

    for (size_t i = 0; i < bytes.len && i < SHOW_MAX; i++) {
        uint8_t c = bytes.data[i];

        if (is_plain(c)) {
            text[len++] = (char)c;
        } else {
            (void)snprintf(text + len, 5, "\\x%02x", c);
            len += 4;
        }
    }
    text[len] = '\0';
    return text;
}

static void show_log(const struct xs_bytes *log, const char *name)
{
    (void)fprintf(stderr, "--- %s\n", name);
    for (size_t i = 0; i < log->len; i++) {
        uint8_t c = log->data[i];

        (void)fprintf(stderr, c == '\n' || is_plain(c) ? "%c" : "\\x%02x", c);
    }
}

void fuzz_compare(const struct xs_bytes *one, const char *one_is,
                  const struct xs_bytes *other, const char *other_is)
{
    if (xs_slice_eq(xs_slice_of(one->data, one->len),
                    xs_slice_of(other->data, other->len))) {
        return;
    }
    show_log(one, one_is);
    show_log(other, other_is);
    fuzz_fail("%s and %s are not the same", one_is, other_is);
}
