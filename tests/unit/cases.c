/* cases.c - the documents in tests/http, as data. */

#include "tests/unit/cases.h"

#include "tests/testlib.h"

#define LINE_MAX_LEN 4096
#define REPEAT_MAX 10000000u

#define WORDS 4u

static const char *const words[WORDS] = {
    [HTTP_STEP_BYTES] = "```bytes",
    [HTTP_STEP_EVENTS] = "```events",
    [HTTP_STEP_ANSWERS] = "```answers",
    [HTTP_STEP_END] = "```end",
};

static void *must(void *ptr)
{
    assert_non_null(ptr);
    return ptr;
}

static unsigned hex_of(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = strchr(digits, c);

    assert_true(c != '\0' && at != NULL);
    return (unsigned)(at - digits);
}

/* One byte of `text`, which moves on. */
static uint8_t unescape(const char **text)
{
    const char *at = *text;

    if (*at != '\\') {
        *text = at + 1;
        return (uint8_t)*at;
    }
    *text = at + 2;
    switch (at[1]) {
        case 'r':
            return '\r';
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case '\\':
            return '\\';
        case 'x':
            *text = at + 4;
            return (uint8_t)(hex_of(at[2]) << 4 | hex_of(at[3]));
        default:
            fail_msg("what is \\%c?", at[1]);
            return 0;
    }
}

/* N of a line that ends in {N}, which is cut off; 1 for others. */
static size_t repeat_of(char *line)
{
    char *open = strrchr(line, '{');
    char *end = NULL;
    unsigned long times;

    if (open == NULL || open == line) {
        return 1;
    }
    times = strtoul(open + 1, &end, 10);
    if (end == open + 1 || strcmp(end, "}") != 0) {
        return 1;
    }
    assert_true(times >= 1);
    assert_true(times <= REPEAT_MAX);
    *open = '\0';
    return times;
}

/* `data`, so many times. */
static void add_times(struct http_step *step, const void *data, size_t len,
                      size_t times)
{
    step->data = must(realloc(step->data, step->len + len * times + 1));
    for (size_t i = 0; i < times; i++) {
        memcpy(step->data + step->len, data, len);
        step->len += len;
    }
    step->data[step->len] = '\0';
}

static void add(struct http_step *step, const void *data, size_t len)
{
    add_times(step, data, len, 1);
}

static void add_bytes(struct http_step *step, char *line)
{
    uint8_t piece[LINE_MAX_LEN];
    size_t times = repeat_of(line);
    const char *at = line;
    size_t len = 0;

    while (*at != '\0') {
        piece[len++] = unescape(&at);
    }
    add_times(step, piece, len, times);
}

static void begin_case(struct http_cases *cases, const char *title)
{
    struct http_case *one;

    cases->list =
        must(realloc(cases->list, (cases->count + 1) * sizeof *cases->list));
    one = &cases->list[cases->count++];
    *one = (struct http_case){.step_count = 0};
    one->title = must(malloc(strlen(title) + 1));
    memcpy(one->title, title, strlen(title) + 1);
}

/* The block that `line` opens; NULL if it opens none. */
static struct http_step *begin_step(struct http_case *one, const char *line)
{
    for (unsigned i = 0; i < WORDS; i++) {
        if (strcmp(line, words[i]) == 0) {
            struct http_step *step;

            assert_non_null(one);
            assert_true(one->step_count < HTTP_STEPS_MAX);
            step = &one->steps[one->step_count++];
            step->kind = (enum http_step_kind)i;
            add(step, "", 0);
            return step;
        }
    }
    assert_true(strncmp(line, "```", 3) != 0);
    return NULL;
}

/* One line of the document, without its end. The block that is open then. */
static struct http_step *add_line(struct http_cases *cases,
                                  struct http_step *step, char *line)
{
    if (step == NULL) {
        if (strncmp(line, "## ", 3) == 0) {
            begin_case(cases, line + 3);
            return NULL;
        }
        return begin_step(
            cases->count == 0 ? NULL : &cases->list[cases->count - 1], line);
    }
    if (strcmp(line, "```") == 0) {
        return NULL;
    }
    if (step->kind == HTTP_STEP_BYTES) {
        add_bytes(step, line);
    } else {
        add(step, line, strlen(line));
        add(step, "\n", 1);
    }
    return step;
}

static bool is_whole(const struct http_case *one)
{
    const struct http_step *last = &one->steps[one->step_count - 1];

    return one->step_count >= 2 && one->steps[0].kind == HTTP_STEP_BYTES &&
           (last->kind == HTTP_STEP_ANSWERS ||
            (last->kind == HTTP_STEP_EVENTS && one->step_count == 2));
}

struct xs_slice http_case_bytes(const struct http_case *one)
{
    return xs_slice_of(one->steps[0].data, one->steps[0].len);
}

const char *http_case_events(const struct http_case *one)
{
    assert_int_equal(one->step_count, 2);
    assert_int_equal(one->steps[1].kind, HTTP_STEP_EVENTS);
    return (const char *)one->steps[1].data;
}

void http_cases_load(struct http_cases *cases, const char *path)
{
    static char line[LINE_MAX_LEN];
    struct http_step *step = NULL;
    FILE *file = fopen(path, "rb");

    *cases = (struct http_cases){.count = 0};
    if (file == NULL) {
        fail_msg("cannot open %s", path);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        assert_non_null(strchr(line, '\n'));
        line[strcspn(line, "\n")] = '\0';
        step = add_line(cases, step, line);
    }
    (void)fclose(file);
    assert_null(step);
    assert_true(cases->count > 0);
    for (size_t i = 0; i < cases->count; i++) {
        if (!is_whole(&cases->list[i])) {
            fail_msg("%s: \"%s\" is not whole", path, cases->list[i].title);
        }
    }
}

void http_cases_free(struct http_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        free(cases->list[i].title);
        for (unsigned j = 0; j < cases->list[i].step_count; j++) {
            free(cases->list[i].steps[j].data);
        }
    }
    free(cases->list);
    *cases = (struct http_cases){.count = 0};
}
