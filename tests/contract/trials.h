/* trials.h - every rule in every kind of world, as cmocka tests. */

#ifndef XS_TESTS_CONTRACT_TRIALS_H
#define XS_TESTS_CONTRACT_TRIALS_H

#include "tests/contract/contract.h"

struct trials {
    const struct outside *const *outsides;
    size_t outside_count;
    const struct rule *const *lists;
    size_t list_count;
    const char *filter; /* only the tests that match it ("*defer*"); or NULL */
};

/* The exit code. */
int trials_run(const struct trials *trials);

#endif
