/* tape.c - one labelled tape of choices for everything that may vary. */

#include "sim/tape.h"

#include <stdlib.h>
#include <string.h>

/* Splitmix64's finalizer: every bit of the input reaches every bit out. */
static uint64_t tape_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t xs_rng_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return tape_mix(*state);
}

void xs_tape_init(struct xs_tape *tape)
{
    memset(tape, 0, sizeof *tape);
}

void xs_tape_fini(struct xs_tape *tape)
{
    free(tape->record);
    memset(tape, 0, sizeof *tape);
}

static void tape_start(struct xs_tape *tape, enum xs_tape_source source)
{
    tape->source = source;
    tape->seed = 0;
    memset(tape->lanes, 0, sizeof tape->lanes);
    memset(tape->lane_at, 0, sizeof tape->lane_at);
    tape->replay = NULL;
    tape->replay_count = 0;
    tape->at = 0;
    tape->misaligned = false;
    tape->misfit_at = 0;
    tape->record_count = 0;
    tape->record_full = false;
    memset(tape->drawn, 0, sizeof tape->drawn);
}

void xs_tape_start_zero(struct xs_tape *tape)
{
    tape_start(tape, XS_TAPE_ZERO);
}

void xs_tape_start_seed(struct xs_tape *tape, uint64_t seed)
{
    tape_start(tape, XS_TAPE_SEED);
    tape->seed = tape_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
}

void xs_tape_start_bytes(struct xs_tape *tape,
                         const struct xs_slice lanes[XS_LANE_COUNT])
{
    tape_start(tape, XS_TAPE_BYTES);
    memcpy(tape->lanes, lanes, sizeof tape->lanes);
}

void xs_tape_start_replay(struct xs_tape *tape, const struct xs_choice *choices,
                          size_t count)
{
    XS_ASSERT(choices == NULL || choices != tape->record);
    tape_start(tape, XS_TAPE_REPLAY);
    tape->replay = choices;
    tape->replay_count = count;
}

/* Remember the choice. False when there is no room for more. */
static bool tape_record(struct xs_tape *tape, enum xs_label label,
                        uint32_t bound, uint32_t value)
{
    if (tape->record_count == tape->record_cap) {
        size_t cap = tape->record_cap == 0 ? 256 : tape->record_cap * 2;
        struct xs_choice *grown = NULL;

        if (cap <= XS_TAPE_MAX) {
            grown = realloc(tape->record, cap * sizeof *grown);
        }
        if (grown == NULL) {
            tape->record_full = true;
            return false;
        }
        tape->record = grown;
        tape->record_cap = cap;
    }
    tape->record[tape->record_count++] =
        (struct xs_choice){.value = value, .bound = bound, .label = label};
    return true;
}

static uint64_t tape_draw_seed(struct xs_tape *tape, enum xs_label label)
{
    uint64_t n = tape->drawn[label]++;

    return tape_mix(tape->seed ^ tape_mix(((uint64_t)label << 48) + n * 2 + 1));
}

unsigned xs_tape_width(uint32_t bound)
{
    return bound <= 256 ? 1 : bound <= 65536 ? 2 : 4;
}

/* The next bytes of the label's lane as a number; missing ones are zero. */
static uint32_t tape_draw_bytes(struct xs_tape *tape, enum xs_label label,
                                uint32_t bound)
{
    enum xs_lane lane = xs_label_lane(label);
    const struct xs_slice *bytes = &tape->lanes[lane];
    size_t *at = &tape->lane_at[lane];
    uint32_t value = 0;

    for (unsigned i = 0; i < xs_tape_width(bound) && *at < bytes->len; i++) {
        value |= (uint32_t)bytes->data[(*at)++] << (8 * i);
    }
    return value;
}

/* The value that the record has here, however it was meant. */
static uint32_t tape_draw_replay(struct xs_tape *tape, enum xs_label label,
                                 uint32_t bound)
{
    const struct xs_choice *choice;

    if (tape->at == tape->replay_count) {
        return 0;
    }
    choice = &tape->replay[tape->at];
    if ((choice->label != label || choice->bound != bound) &&
        !tape->misaligned) {
        tape->misaligned = true;
        tape->misfit_at = tape->at;
    }
    tape->at++;
    return choice->value % bound;
}

/* Record and count what was chosen. */
static uint32_t tape_settle(struct xs_tape *tape, enum xs_label label,
                            uint32_t bound, uint32_t value)
{
    XS_ASSERT(value < bound);
    if (!tape_record(tape, label, bound, value)) {
        value = 0;
    }
    tape->asked[label]++;
    tape->fired[label] += value != 0;
    return value;
}

uint32_t xs_choose(struct xs_tape *tape, enum xs_label label, uint32_t bound)
{
    uint32_t value = 0;

    XS_ASSERT(label < XS_LABEL_COUNT);
    XS_ASSERT(bound > 0);
    switch (tape->source) {
        case XS_TAPE_ZERO:
            break;
        case XS_TAPE_SEED: {
            uint64_t roll = tape_draw_seed(tape, label) >> 32;

            value = (uint32_t)((roll * bound) >> 32);
            break;
        }
        case XS_TAPE_BYTES:
            value = tape_draw_bytes(tape, label, bound) % bound;
            break;
        case XS_TAPE_REPLAY:
            value = tape_draw_replay(tape, label, bound);
            break;
    }
    return tape_settle(tape, label, bound, value);
}

bool xs_flip(struct xs_tape *tape, enum xs_label label, struct xs_ratio ratio)
{
    bool value = false;

    XS_ASSERT(label < XS_LABEL_COUNT);
    XS_ASSERT(ratio.den > 0);
    XS_ASSERT(ratio.num <= ratio.den);
    switch (tape->source) {
        case XS_TAPE_ZERO:
            break;
        case XS_TAPE_SEED: {
            uint64_t roll = tape_draw_seed(tape, label) >> 32;

            value = ((roll * ratio.den) >> 32) < ratio.num;
            break;
        }
        case XS_TAPE_BYTES: {
            /* 0 never and 255 always, as far as it is possible at all. */
            uint64_t roll = 255 - tape_draw_bytes(tape, label, 2);

            value = ratio.num > 0 && roll * ratio.den < ratio.num * 255u;
            break;
        }
        case XS_TAPE_REPLAY:
            value = tape_draw_replay(tape, label, 2) != 0;
            break;
    }
    return tape_settle(tape, label, 2, value) != 0;
}

uint32_t xs_size(struct xs_tape *tape, enum xs_label label, uint32_t max)
{
    /* What servers stumble over: nothing, one, all, all but one; then any
     * size, each order of magnitude alike. */
    uint32_t size = xs_choose(tape, label, 8);
    unsigned bits = 0;

    switch (size) {
        case 0:
            return 0;
        case 1:
            return max;
        case 2:
            return max > 0 ? max - 1 : 0;
        case 3:
            return max > 0 ? 1 : 0;
        default:
            break;
    }
    while (bits < 31 && (max >> bits) > 1) {
        bits++;
    }
    bits = xs_choose(tape, label, bits + 1);
    size = ((uint32_t)1 << bits) + xs_choose(tape, label, (uint32_t)1 << bits);
    return size > max ? max : size;
}

struct xs_choice *xs_tape_dump(const struct xs_tape *tape, size_t *count)
{
    size_t bytes = tape->record_count * sizeof *tape->record;
    struct xs_choice *copy = NULL;

    if (bytes > 0) {
        copy = malloc(bytes);
    }
    if (copy != NULL) {
        memcpy(copy, tape->record, bytes);
    }
    *count = copy == NULL ? 0 : tape->record_count;
    return copy;
}

bool xs_tape_next(struct xs_choice *choices, size_t *count)
{
    size_t n = *count;

    /* An odometer whose wheels have different numbers of teeth. The last one
     * that can still turn does; those behind it start again at zero, which
     * they do by not being there. */
    while (n > 0 && choices[n - 1].value + 1 == choices[n - 1].bound) {
        n--;
    }
    if (n > 0) {
        choices[n - 1].value++;
    }
    *count = n;
    return n > 0;
}
