/* fuzz_world.c - the whole server in a simulation, all choices a fuzzer's.
 *
 * An input is the bytes of the tape's lanes (sim/label.h), and those that the
 * first client sends, with a line of two dashes between each and the next:
 *
 *     world -- clients -- applications -- weather -- first client's bytes
 *
 * A byte more or less in one part moves nothing in another. A lane that ends
 * goes on with the benign choice; without bytes the first client is a scripted
 * one like the others. What its bytes mean, and which must be refused, is
 * found beforehand by another reader (reading.h); the oracles of the
 * simulation do the rest.
 *
 *     replay_world [--trace] [--shrink] FILE    what happens; what matters
 *     replay_world --encode SEED                write a seed's run as an input
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/reading.h"
#include "sim/shrink.h"
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
    static const struct xs_slice lanes[XS_LANE_COUNT];
    struct world_result result;
    struct xs_tape tape;

    (void)data;
    (void)size;
    xs_tape_init(&tape);
    xs_tape_start_bytes(&tape, lanes);
    world_run(&world, &tape, &options, &result);
    FUZZ_CHECK(result.verdict.oracle == XS_ORACLE_NONE, "%s: %s",
               xs_oracle_id(result.verdict.oracle), result.verdict.text);
    xs_tape_fini(&tape);
    return 0;
}
