/* script.c - scripts of steps, as parity.txt has them. */

#include "tests/contract/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPTS_MAX 128

static bool script_fault(unsigned line, const char *what)
{
    (void)fprintf(stderr, "line %u: %s\n", line, what);
    return false;
}

/* Cut `text` at any of `marks` into at most `max` parts; 0: there are more. */
static unsigned cut(char *text, const char *marks, const char **parts,
                    unsigned max)
{
    unsigned count = 0;
    char *rest = NULL;
    char *part = strtok_r(text, marks, &rest);

    for (; part != NULL; part = strtok_r(NULL, marks, &rest)) {
        if (count == max) {
            return 0;
        }
        parts[count++] = part;
    }
    return count;
}

static bool step_parse(struct step *step, const char *text, unsigned line)
{
    char *answers;

    step->line = line;
    text += strspn(text, " ");
    (void)snprintf(step->text, sizeof step->text, "%s", text);
    memcpy(step->store, step->text, sizeof step->store);
    answers = strchr(step->store, '=');
    if (answers != NULL) {
        *answers++ = '\0';
        step->answer_count =
            cut(answers, " |", step->answers, SCRIPT_ANSWERS_MAX);
        if (step->answer_count == 0) {
            return script_fault(line, "no answers, or too many");
        }
    }
    step->word_count = cut(step->store, " ", step->words, SCRIPT_WORDS_MAX);
    if (step->word_count < 2) {
        return script_fault(line, "no step, or too many words");
    }
    return true;
}

static bool script_line(struct script *all, size_t *count, char *text,
                        unsigned line)
{
    struct script *script;

    if (text[0] == '#' || text[strspn(text, " ")] == '\0') {
        return true;
    }
    if (strlen(text) >= SCRIPT_TEXT_MAX) {
        return script_fault(line, "too long");
    }
    if (text[0] != ' ') {
        if (*count == SCRIPTS_MAX) {
            return script_fault(line, "too many scripts");
        }
        script = &all[(*count)++];
        (void)snprintf(script->name, sizeof script->name, "%s", text);
        return true;
    }
    if (*count == 0) {
        return script_fault(line, "a step before any name");
    }
    script = &all[*count - 1];
    if (script->step_count == SCRIPT_STEPS_MAX) {
        return script_fault(line, "too many steps");
    }
    return step_parse(&script->steps[script->step_count++], text, line);
}

struct script *scripts_read(const char *path, size_t *count)
{
    struct script *all = calloc(SCRIPTS_MAX, sizeof *all);
    FILE *file = fopen(path, "r");
    char text[256];
    unsigned line = 0;
    bool good = all != NULL && file != NULL;

    *count = 0;
    while (good && fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        good = script_line(all, count, text, ++line);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!good) {
        (void)fprintf(stderr, "%s: cannot be used\n", path);
        free(all);
        return NULL;
    }
    return all;
}

bool step_allows(const struct step *step, const char *answer)
{
    if (step->answer_count == 0) {
        return strcmp(answer, "ok") == 0;
    }
    for (unsigned i = 0; i < step->answer_count; i++) {
        if (strcmp(step->answers[i], answer) == 0) {
            return true;
        }
    }
    return false;
}

void step_saw(struct step *step, const char *answer)
{
    for (unsigned i = 0; i < step->answer_count; i++) {
        if (strcmp(step->answers[i], answer) == 0) {
            step->seen[i] = true;
        }
    }
}
