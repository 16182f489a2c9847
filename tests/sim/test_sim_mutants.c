/* test_sim_mutants.c - planted bugs are found.
 *
 *     test_sim_mutants             each, within the usual number of seeds
 *     test_sim_mutants NAME [N]    one, within N seeds
 *     test_sim_mutants responses   which of them show in one small answer
 *
 * A simulator that finds nothing may be looking at nothing. So bugs that real
 * servers have had are planted in a copy of the core (mutants.py), one is
 * brought to life at a time, and the simulator has to see it. Each runs in a
 * process of its own: a bug may crash.
 *
 * Those that have to do with one answer have to show in the exhaustive search
 * (trial.h) as well. */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/mutants.h"
#include "tests/sim/trial.h"
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

/* The report of a bug like it, "" if there is none; NULL: it need not show in
 * one answer. */
static const char *const reports[XS_MUTANT_COUNT] = {
#define X(name, report) [XS_MUTANT_##name] = (report),
    XS_MUTANTS_OF_RESPONSES(X)
#undef X
};

/* Where to look. What is found, on `out`; nothing if nothing is. */
typedef void (*hunt_fn)(FILE *out, uint64_t seeds);

static void hunt_worlds(FILE *out, uint64_t seeds)
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

/* All of it: one plan for all shapes, then the next. */
static void hunt_responses(FILE *out, uint64_t seeds)
{
    static struct trial trial;
    struct xs_tape tape;
    uint64_t runs = 0;
    unsigned all = trial_plan_count * trial_shape_count;
    (void)seeds;

    trial_init(&trial);
    xs_tape_init(&tape);
    for (unsigned i = 0; i < all; i++) {
        const struct trial_shape *shape = &trial_shapes[i % trial_shape_count];

        trial_take(&trial, shape, &trial_plans[i / trial_shape_count]);
        runs += trial_explore(&trial, &tape);
        if (trial.verdict.oracle != XS_ORACLE_NONE) {
            (void)fprintf(out, "%-3s after %" PRIu64 " runs, %s: %s",
                          xs_oracle_id(trial.verdict.oracle), runs, shape->name,
                          trial.verdict.text);
            break;
        }
    }
    /* A bug may have left anything: the process ends here. */
}

/* What a hunt has brought home. */
struct trophy {
    char text[400]; /* empty: nothing */
    bool crashed;
    bool hung;
};

/* Hunt in a process of its own. */
static void hunt_apart(hunt_fn hunt, unsigned number, uint64_t seeds,
                       struct trophy *trophy)
{
    size_t len = 0;
    int status = 0;
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
        ssize_t got =
            read(fds[0], trophy->text + len, sizeof trophy->text - 1 - len);

        if (got <= 0) {
            break;
        }
        len += (size_t)got;
    }
    trophy->text[len] = '\0';
    trophy->text[strcspn(trophy->text, "\n")] = '\0';
    (void)close(fds[0]);
    XS_ASSERT(waitpid(pid, &status, 0) == pid);
    trophy->hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    trophy->crashed = WIFSIGNALED(status) && !trophy->hung;
}

static void print_hunt(bool found, unsigned number, const struct trophy *trophy)
{
    (void)printf("%s %-22s %s | %s%s\n", found ? "found " : "nothing",
                 mutants[number].name, mutants[number].what,
                 trophy->crashed || trophy->hung ? "stopped: " : "",
                 trophy->text);
}

/* In one answer. An exhaustive search that has not ended has found nothing. */
static bool shows_in_responses(unsigned number)
{
    struct trophy trophy;
    bool found;

    hunt_apart(hunt_responses, number, 0, &trophy);
    found = trophy.text[0] != '\0' || trophy.crashed;
    print_hunt(found, number, &trophy);
    return found;
}

/* True if it is as it should be: found, or with NONE not. */
static bool check(unsigned number, uint64_t seeds)
{
    struct trophy trophy;
    bool found;

    if (!xs_mutants_planted[number]) {
        (void)printf(
            "MISSED %-22s %s | not planted: mutants.py has to follow "
            "the core\n",
            mutants[number].name, mutants[number].what);
        return false;
    }
    hunt_apart(hunt_worlds, number, seeds, &trophy);
    found = trophy.text[0] != '\0' || trophy.crashed || trophy.hung;
    print_hunt(found, number, &trophy);
    if (reports[number] != NULL && !shows_in_responses(number)) {
        (void)printf("MISSED %s in one answer. %s\n", mutants[number].name,
                     reports[number]);
        return false;
    }
    return found == (number != XS_MUTANT_NONE);
}

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 0) : SEEDS_USUAL;
    bool is_one = argc >= 2;
    bool ok = true;

    if (is_one && strcmp(argv[1], "responses") == 0) {
        for (unsigned i = 1; i < XS_COUNT_OF(mutants); i++) {
            (void)shows_in_responses(i);
        }
        return 0;
    }
    for (unsigned i = 0; i < XS_COUNT_OF(mutants); i++) {
        if (!is_one || strcmp(argv[1], mutants[i].name) == 0) {
            bool is_none = i == XS_MUTANT_NONE && !is_one;
            ok = check(i, is_none ? SEEDS_OF_NONE : seeds) && ok;
        }
    }
    return ok ? 0 : 1;
}
