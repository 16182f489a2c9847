/* fuzz.h - what all fuzz targets share: the entry, faults, knobs, logs.
 *
 * A target is one file with `LLVMFuzzerTestOneInput`. libFuzzer and AFL++ call
 * it with bytes of their making, replay.c with the bytes of files. It returns,
 * or `fuzz_fail` stops the program and the bytes are kept.
 *
 * Most inputs are a text, which is what the target is about, and knobs, which
 * say what is done with it. The knobs are the last bytes:
 *
 *     | text, of any length                          | 16 knobs |
 *
 * so that a byte more or less in the text moves no knob. Fewer than 16 bytes
 * are all text, with knobs of zero. */

#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "sim/bytes.h"

#define FUZZ_KNOBS 16u

/* One input. Gives 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An option of the replay, "trace" of "--trace". False if the target has no
 * such option, as most have none: they need not define this. */
bool fuzz_option(const char *name);

/* Something does not hold: say what, and abort. */
__attribute__((noreturn, format(printf, 1, 2))) void fuzz_fail(
    const char *format, ...);

#define FUZZ_CHECK(condition, ...) \
    ((condition) ? (void)0 : fuzz_fail(__VA_ARGS__))

struct fuzz_input {
    struct xs_slice text; /* borrowed */
    uint8_t knobs[FUZZ_KNOBS];
};

struct fuzz_input fuzz_split(const uint8_t *data, size_t size);

/* Bytes as text that can be read; at most 200 of them. Static: good until the
 * next call. */
const char *fuzz_show(struct xs_slice bytes);

/* What happened, as text, in two ways that should be the same: stop and show
 * both unless they are. */
void fuzz_compare(const struct xs_bytes *one, const char *one_is,
                  const struct xs_bytes *other, const char *other_is);

#endif
