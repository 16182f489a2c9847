/* shrink.c - a failing run with fewer choices that are not benign. */

#include "sim/shrink.h"

#include <stdlib.h>
#include <string.h>

size_t xs_shrink_weight(const struct xs_choice *choices, size_t count)
{
    size_t weight = 0;

    for (size_t i = 0; i < count; i++) {
        weight += choices[i].value != 0;
    }
    return weight;
}

/* Whether it fails with the first `count` choices, within the budget. */
static bool shrink_try(struct xs_shrink *shrink, size_t count)
{
    if (shrink->runs == shrink->runs_max) {
        return false;
    }
    shrink->runs++;
    return shrink->fails(shrink->user, shrink->choices, count);
}

/* What follows is zero, whether it is there or not. */
static void shrink_trim(struct xs_shrink *shrink)
{
    while (shrink->count > 0 && shrink->choices[shrink->count - 1].value == 0) {
        shrink->count--;
    }
}

static void shrink_tail(struct xs_shrink *shrink)
{
    for (size_t cut = shrink->count; cut > 0; cut /= 2) {
        while (cut <= shrink->count &&
               shrink_try(shrink, shrink->count - cut)) {
            shrink->count -= cut;
        }
    }
    shrink_trim(shrink);
}

/* Set `len` choices from `at` to zero. False, and as before, if the run then
 * no longer fails. */
static bool shrink_zero(struct xs_shrink *shrink, size_t at, size_t len)
{
    size_t bytes = len * sizeof *shrink->choices;
    struct xs_choice *saved;
    bool fails;

    if (xs_shrink_weight(shrink->choices + at, len) == 0) {
        return true;
    }
    saved = malloc(bytes);
    XS_ASSERT(saved != NULL);
    memcpy(saved, shrink->choices + at, bytes);
    for (size_t i = at; i < at + len; i++) {
        shrink->choices[i].value = 0;
    }
    fails = shrink_try(shrink, shrink->count);
    if (!fails) {
        memcpy(shrink->choices + at, saved, bytes);
    }
    free(saved);
    return fails;
}

static void shrink_blocks(struct xs_shrink *shrink)
{
    for (size_t len = shrink->count / 2; len > 0; len /= 2) {
        for (size_t at = 0; at < shrink->count; at += len) {
            size_t left = shrink->count - at;

            (void)shrink_zero(shrink, at, len < left ? len : left);
        }
    }
    shrink_trim(shrink);
}

/* The lowest value that still fails, by halving. */
static void shrink_value(struct xs_shrink *shrink, size_t at)
{
    struct xs_choice *choice = &shrink->choices[at];
    uint32_t fails = choice->value;
    uint32_t passes = 0; /* zero was tried before */

    while (fails - passes > 1) {
        choice->value = passes + (fails - passes) / 2;
        if (shrink_try(shrink, shrink->count)) {
            fails = choice->value;
        } else {
            passes = choice->value;
        }
    }
    choice->value = fails;
}

void xs_shrink(struct xs_shrink *shrink)
{
    size_t before;

    do {
        before = xs_shrink_weight(shrink->choices, shrink->count);
        shrink_tail(shrink);
        shrink_blocks(shrink);
    } while (xs_shrink_weight(shrink->choices, shrink->count) < before &&
             shrink->runs < shrink->runs_max);
    for (size_t i = 0; i < shrink->count; i++) {
        if (shrink->choices[i].value > 1) {
            shrink_value(shrink, i);
        }
    }
}
