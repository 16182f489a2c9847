/* mutants.h - which of the bugs that mutants.py plants is alive. */

#ifndef XS_TESTS_SIM_MUTANTS_H
#define XS_TESTS_SIM_MUTANTS_H

#include "mutants.inc"

enum xs_mutant {
    XS_MUTANT_NONE,
#define X(name, what, planted) XS_MUTANT_##name,
    XS_MUTANTS(X)
#undef X
};

extern enum xs_mutant xs_mutant;

#endif
