/* test_contract.c - every rule of io.h and drive.h, on every backend. */

#include "tests/contract/trials.h"

static const struct outside *const outsides[] = {
    &outside_tcp4,  &outside_tcp6, &outside_unix,
    &outside_guest, &outside_sim,  &outside_sim_odd,
};

static const struct rule *const lists[] = {
    rules_accept, rules_close, rules_data,  rules_drive,
    rules_file,   rules_post,  rules_ready, rules_time,
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
