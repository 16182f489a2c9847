/* cases.c - the documents in tests/http, as data. */

#include "tests/unit/cases.h"

#include "tests/testlib.h"

#define LINE_MAX_LEN 4096
#define REPEAT_MAX 10000000u

enum block { BLOCK_NONE, BLOCK_BYTES, BLOCK_EVENTS };

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

static void add_bytes(struct http_case *one, char *line)
{
    uint8_t piece[LINE_MAX_LEN];
    size_t times = repeat_of(line);
    const char *at = line;
    size_t len = 0;

    while (*at != '\0') {
        piece[len++] = unescape(&at);
    }
    one->bytes = must(realloc(one->bytes, one->len + len * times + 1));
    for (size_t i = 0; i < times; i++) {
        memcpy(one->bytes + one->len, piece, len);
        one->len += len;
    }
}

static void add_event(struct http_case *one, const char *line)
{
    size_t len = one->events == NULL ? 0 : strlen(one->events);

    one->events = must(realloc(one->events, len + strlen(line) + 2));
    (void)snprintf(one->events + len, strlen(line) + 2, "%s\n", line);
}

static void begin_case(struct http_cases *cases, const char *title)
{
    struct http_case *one;

    cases->list =
        must(realloc(cases->list, (cases->count + 1) * sizeof *cases->list));
    one = &cases->list[cases->count++];
    *one = (struct http_case){.len = 0};
    one->title = must(malloc(strlen(title) + 1));
    memcpy(one->title, title, strlen(title) + 1);
}

/* One line of the document, without its end. */
static enum block add_line(struct http_cases *cases, enum block block,
                           char *line)
{
    struct http_case *one =
        cases->count == 0 ? NULL : &cases->list[cases->count - 1];

    if (block == BLOCK_NONE) {
        if (strncmp(line, "## ", 3) == 0) {
            begin_case(cases, line + 3);
        }
        assert_true(one != NULL || strncmp(line, "```", 3) != 0);
        return strcmp(line, "```bytes") == 0    ? BLOCK_BYTES
               : strcmp(line, "```events") == 0 ? BLOCK_EVENTS
                                                : BLOCK_NONE;
    }
    if (strcmp(line, "```") == 0) {
        return BLOCK_NONE;
    }
    if (block == BLOCK_BYTES) {
        add_bytes(one, line);
    } else {
        add_event(one, line);
    }
    return block;
}

void http_cases_load(struct http_cases *cases, const char *path)
{
    static char line[LINE_MAX_LEN];
    enum block block = BLOCK_NONE;
    FILE *file = fopen(path, "rb");

    *cases = (struct http_cases){.count = 0};
    if (file == NULL) {
        fail_msg("cannot open %s", path);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        assert_non_null(strchr(line, '\n'));
        line[strcspn(line, "\n")] = '\0';
        block = add_line(cases, block, line);
    }
    (void)fclose(file);
    assert_int_equal(block, BLOCK_NONE);
    assert_true(cases->count > 0);
    for (size_t i = 0; i < cases->count; i++) {
        if (cases->list[i].len == 0 || cases->list[i].events == NULL) {
            fail_msg("%s: \"%s\" is not whole", path, cases->list[i].title);
        }
    }
}

void http_cases_free(struct http_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        free(cases->list[i].title);
        free(cases->list[i].bytes);
        free(cases->list[i].events);
    }
    free(cases->list);
    *cases = (struct http_cases){.count = 0};
}
