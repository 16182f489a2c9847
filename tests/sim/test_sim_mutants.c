/* test_sim_mutants.c - planted bugs are found.
 *
 *     test_sim_mutants             each, within the usual number of seeds
 *     test_sim_mutants NAME [N]    one, within N seeds
 *
 * A simulator that finds nothing may be looking at nothing. So bugs that real
 * servers have had are planted in a copy of the core (mutants.py), one is
 * brought to life at a time, and the simulator has to see it. Each runs in a
 * process of its own: a bug may crash. */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/mutants.h"
#include "tests/sim/world.h"

/* The rarest shows once in some thousand seeds. Of the core as it is, which has
 * to be silent in all of them, fewer are run: campaigns have more. */
#define SEEDS_USUAL 40000u
#define SEEDS_OF_NONE 10000u
#define SECONDS_MAX 60u

enum xs_mutant xs_mutant = XS_MUTANT_NONE;

static const struct {
    const char *name;
    const char *what;
} mutants[XS_MUTANT_COUNT] = {{"NONE", "the core as it is"},
#define X(name, what) {#name, what},
                              XS_MUTANTS(X)
#undef X
};

/* What is found, on `out`; nothing if nothing is. */
static void hunt(FILE *out, uint64_t seeds)
{
    static struct world world;
    static const struct world_options options;
    struct xs_tape tape;

    xs_tape_init(&tape);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct world_result result;

        xs_tape_start_seed(&tape, seed);
        world_run(&world, &tape, &options, &result);
        if (result.verdict.oracle != XS_ORACLE_NONE) {
            (void)fprintf(out, "%-3s after %" PRIu64 " seeds: %s",
                          xs_oracle_id(result.verdict.oracle), seed + 1,
                          result.verdict.text);
            break;
        }
    }
    world_fini(&world);
    xs_tape_fini(&tape);
}

/* Hunt in a process of its own. What it said is in `text`, empty if nothing;
 * `*status` is how it ended. */
static void hunt_apart(unsigned number, uint64_t seeds, char *text, size_t size,
                       int *status)
{
    size_t len = 0;
    int fds[2];
    pid_t pid;

    XS_ASSERT(pipe(fds) == 0);
    (void)fflush(stdout);
    pid = fork();
    XS_ASSERT(pid >= 0);
    if (pid == 0) {
        FILE *out = fdopen(fds[1], "w");

        XS_ASSERT(out != NULL);
        (void)close(fds[0]);
        (void)alarm(SECONDS_MAX);
        (void)dup2(fds[1], STDERR_FILENO);
        xs_mutant = (enum xs_mutant)number;
        hunt(out, seeds);
        (void)fclose(out);
        _exit(0);
    }
    (void)close(fds[1]);
    for (;;) {
        ssize_t got = read(fds[0], text + len, size - 1 - len);

        if (got <= 0) {
            break;
        }
        len += (size_t)got;
    }
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    (void)close(fds[0]);
    XS_ASSERT(waitpid(pid, status, 0) == pid);
}

/* True if it is as it should be: found, or with NONE not. */
static bool check(unsigned number, uint64_t seeds)
{
    char text[400];
    int status = 0;
    bool found;

    if (!xs_mutants_planted[number]) {
        (void)printf(
            "MISSED %-22s %s | not planted: mutants.py has to follow "
            "the core\n",
            mutants[number].name, mutants[number].what);
        return false;
    }
    hunt_apart(number, seeds, text, sizeof text, &status);
    found = text[0] != '\0' || WIFSIGNALED(status);
    (void)printf("%s %-22s %s | %s%s\n", found ? "found " : "nothing",
                 mutants[number].name, mutants[number].what,
                 WIFSIGNALED(status) ? "stopped: " : "", text);
    return found == (number != XS_MUTANT_NONE);
}

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 0) : SEEDS_USUAL;
    bool is_one = argc >= 2;
    bool ok = true;

    for (unsigned i = 0; i < XS_COUNT_OF(mutants); i++) {
        if (!is_one || strcmp(argv[1], mutants[i].name) == 0) {
            bool is_none = i == XS_MUTANT_NONE && !is_one;
            ok = check(i, is_none ? SEEDS_OF_NONE : seeds) && ok;
        }
    }
    return ok ? 0 : 1;
}
