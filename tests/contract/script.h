/* script.h - scripts of steps, as parity.txt has them. */

#ifndef XS_TESTS_CONTRACT_SCRIPT_H
#define XS_TESTS_CONTRACT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_WORDS_MAX 5
#define SCRIPT_ANSWERS_MAX 4
#define SCRIPT_STEPS_MAX 16
#define SCRIPT_TEXT_MAX 96

/* "    s told rh = r|rh": words {"s", "told", "rh"}, answers {"r", "rh"}. */
struct step {
    unsigned line;
    char text[SCRIPT_TEXT_MAX]; /* as written */
    char store[SCRIPT_TEXT_MAX];
    const char *words[SCRIPT_WORDS_MAX]; /* in `store` */
    unsigned word_count;
    const char *answers[SCRIPT_ANSWERS_MAX]; /* in `store` */
    bool seen[SCRIPT_ANSWERS_MAX];
    unsigned answer_count; /* 0: "ok" is expected */
};

struct script {
    char name[SCRIPT_TEXT_MAX];
    struct step steps[SCRIPT_STEPS_MAX];
    unsigned step_count;
};

/* Read `path`; the scripts, `*count` of them, to be freed by the caller. NULL,
 * with a line on standard error, if it cannot be read or understood. */
struct script *scripts_read(const char *path, size_t *count);

/* Whether `answer` is allowed. */
bool step_allows(const struct step *step, const char *answer);
/* It was given. */
void step_saw(struct step *step, const char *answer);

#endif
