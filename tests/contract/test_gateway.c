/* test_gateway.c - every rule of gateway.h, on every backend. */

#include "tests/contract/trials.h"

static const struct outside *const outsides[] = {
    &outside_tcp4,
    &outside_guest,
    &outside_sim,
    &outside_sim_odd,
};

static const struct rule *const lists[] = {
    rules_request, rules_response, rules_file_response, rules_aside,
    rules_abort,   rules_client,   rules_access,
};

int main(int argc, char **argv)
{
    struct trials trials = {
        .outsides = outsides,
        .outside_count = XS_COUNT_OF(outsides),
        .lists = lists,
        .list_count = XS_COUNT_OF(lists),
        .filter = argc > 1 ? argv[1] : NULL,
    };

    return trials_run(&trials);
}
