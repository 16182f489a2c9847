/* fuzz_world.c - the whole server in a simulation, all choices a fuzzer's.
 *
 * The bytes are the tape: what clients send, how the application answers, what
 * the network does to both. An oracle that does not hold stops the program,
 * and the fuzzer keeps the bytes. */

#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "tests/sim/world.h"

bool fuzz_option(const char *name)
{
    (void)name;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    static const struct world_options options;
    struct world_result result;
    struct xs_tape tape;

    xs_tape_init(&tape);
    xs_tape_start_bytes(&tape, xs_slice_of(data, size));
    world_run(&world, &tape, &options, &result);
    if (result.verdict.oracle != XS_ORACLE_NONE) {
        (void)fprintf(
            stderr, "%s: %s\n%s\n", xs_oracle_id(result.verdict.oracle),
            xs_oracle_text(result.verdict.oracle), result.verdict.text);
        abort();
    }
    xs_tape_fini(&tape);
    return 0;
}
