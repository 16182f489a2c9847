/* mutants.c - which of the planted bugs is alive (mutants.py). */

#include <stdlib.h>

extern int fuzz_mutant;
int fuzz_mutant;

__attribute__((constructor)) static void mutants_choose(void)
{
    const char *number = getenv("FUZZ_MUTANT");

    fuzz_mutant = number == NULL ? 0 : (int)strtol(number, NULL, 10);
}
