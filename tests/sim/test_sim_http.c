/* test_sim_http.c - every case of tests/http through the whole server: whole,
 * cut in two at each offset, byte by byte, and all of a document's requests in
 * one write.
 *
 * What the application sees is what the parser's transcript says (tests/unit/
 * test_http_cases.c), with these differences, which are the server's right:
 * behind a request that ends the connection nothing is read; and of a request
 * that is refused inside its body the application may have seen the head and
 * some of the body, or nothing. */

#include <dirent.h>
#include <stdlib.h>

#include "tests/sim/http_site.h"
#include "tests/testlib.h"
#include "tests/unit/cases.h"

/* Longer cases are cut at fewer places: the bytes that one case may send, and
 * the parts in which the last time. */
#define BYTES_MAX ((size_t)20 * 1000 * 1000)
#define PARTS_MAX 20000u

/* Where a request is cut: the first part, and those behind it; 0: not. */
struct cut {
    size_t first;
    size_t each;
};

/* What is being played, for messages. */
struct play {
    struct http_site site;
    const char *document;
    const char *title;
    struct cut cut;
};

static void play_fail(const struct play *play, const char *wanted,
                      const char *got)
{
    fail_msg(
        "%s: \"%s\"\ncut at %zu, then every %zu\n--- wanted\n%s--- got\n%s",
        play->document, play->title, play->cut.first, play->cut.each, wanted,
        got);
}

static bool begins(struct xs_slice text, const char *with)
{
    size_t len = strlen(with);

    return text.len >= len && memcmp(text.data, with, len) == 0;
}

static void play_send(struct play *play, struct xs_slice bytes)
{
    size_t part = play->cut.first > 0 ? play->cut.first : bytes.len;
    struct http_app *app = &play->site.app;

    if (app->requests == 0) {
        /* It may be refused: the application would not know. */
        app->is_head[0] = begins(bytes, "HEAD ");
    }
    while (bytes.len > 0) {
        part = part < bytes.len ? part : bytes.len;
        http_site_send(&play->site, xs_slice_of(bytes.data, part));
        bytes = xs_slice_of(bytes.data + part, bytes.len - part);
        part = play->cut.each > 0 ? play->cut.each : bytes.len;
    }
}

/* events */

/* One message of a transcript: slices of its text. */
struct message {
    struct xs_slice head; /* the line, and those of its fields */
    struct xs_slice body; /* without the end of the line */
    struct xs_slice end;  /* "end", "more" or "refuse ..."; none: cut off */
};

/* The next message of `rest`. */
static struct message take_message(struct xs_slice *rest)
{
    struct message message = {.head = {rest->data, 0}};

    while (rest->len > 0) {
        const uint8_t *mark = memchr(rest->data, '\n', rest->len);
        struct xs_slice line = *rest;

        line.len = (size_t)(mark - rest->data);
        *rest = xs_slice_of(mark + 1, rest->len - line.len - 1);
        if (begins(line, "head ") || begins(line, "  ")) {
            message.head.len = (size_t)(mark + 1 - message.head.data);
        } else if (begins(line, "body ")) {
            message.body = line;
        } else {
            message.end = line;
            break;
        }
    }
    return message;
}

static bool same(const struct message *wanted, const struct message *got)
{
    bool refused = begins(wanted->end, "refuse");

    if (!xs_slice_eq(wanted->end, got->end)) {
        return false;
    }
    if (refused && got->head.len == 0) {
        return got->body.len == 0;
    }
    return xs_slice_eq(wanted->head, got->head) &&
           (xs_slice_eq(wanted->body, got->body) ||
            (refused && got->body.len <= wanted->body.len &&
             (got->body.len == 0 ||
              memcmp(wanted->body.data, got->body.data, got->body.len) == 0)));
}

/* The connection ends behind this message. */
static bool is_last(const struct message *message)
{
    const uint8_t *line = message->head.data;
    const uint8_t *mark = memchr(line, '\n', message->head.len);
    static const char word[] = " keep-alive";

    for (; mark != NULL && line + sizeof word - 1 <= mark; line++) {
        if (memcmp(line, word, sizeof word - 1) == 0) {
            return false;
        }
    }
    return true;
}

/* Compare, and count the answers that are due: `*last` is the status of the
 * last, `*ends` says that it ends the connection. */
static unsigned check_events(const struct play *play, const char *wanted,
                             unsigned *last, bool *ends)
{
    const char *events = play->site.app.events.data;
    struct xs_slice left = xs_slice_str(wanted);
    struct xs_slice got = xs_slice_str(events);
    unsigned answers = 0;

    *ends = false;
    while (left.len > 0 && !*ends) {
        struct message one = take_message(&left);
        struct message other = take_message(&got);

        if (!same(&one, &other)) {
            play_fail(play, wanted, events);
        }
        if (begins(one.end, "refuse")) {
            *last = (unsigned)strtoul((const char *)one.end.data + 7, NULL, 10);
            *ends = true;
            answers++;
        } else if (begins(one.end, "end")) {
            *last = 200;
            *ends = is_last(&one);
            answers++;
        }
    }
    if (got.len > 0) {
        play_fail(play, wanted, events);
    }
    return answers;
}

/* What the application does not see: the refusal, and half a head. */
static void add_endings(struct play *play)
{
    struct http_site *site = &play->site;
    char line[64];

    if (site->refusal != XS_REFUSE_NOT) {
        assert_true(site->answered);
        assert_int_equal(site->refusals, 1);
        (void)snprintf(line, sizeof line, "refuse %u %s\n",
                       xs_refusal_status(site->refusal),
                       xs_refusal_rule(site->refusal));
        text_str(&site->app.events, line);
    }
}

/* The answers are those that are due, and the connection ends as it should: a
 * reset is for a client that has broken off inside a body. */
static void check_answers(struct play *play, const char *wanted)
{
    struct http_site *site = &play->site;
    struct answers answers = {.is_head = site->app.is_head};
    unsigned last = 0;
    bool ends;
    unsigned due = check_events(play, wanted, &last, &ends);
    bool may_reset = site->app.aborts > 0 && site->refusal == XS_REFUSE_NOT;

    answers_read(&answers,
                 xs_slice_of((const uint8_t *)site->got.data, site->got.len),
                 http_site_is(site));
    if (answers.count != due || answers.complete != due ||
        (due > 0 && answers.last != last) || (site->was_reset && !may_reset) ||
        (ends && !(answers.said_close && site->ended))) {
        play_fail(play, wanted, answers.text.data);
    }
    free(answers.text.data);
}

static void play_events(struct play *play, struct xs_slice bytes,
                        const char *wanted)
{
    struct http_site *site = &play->site;
    bool half;

    http_site_begin(site);
    play_send(play, bytes);
    half = http_site_waits(site) && site->app.req == NULL;
    if (http_site_is(site) == ANSWERS_OPEN) {
        http_site_end(site);
    }
    if (half) {
        text_str(&site->app.events, "more\n");
    }
    add_endings(play);
    check_answers(play, wanted);
    http_site_finish(site);
}

/* conversations */

static void play_answers(struct play *play, const struct http_case *one)
{
    struct http_site *site = &play->site;
    struct answers answers = {.is_head = site->app.is_head};

    http_site_begin(site);
    for (unsigned i = 0; i < one->step_count; i++) {
        const struct http_step *step = &one->steps[i];

        switch (step->kind) {
            case HTTP_STEP_BYTES:
                play_send(play, xs_slice_of(step->data, step->len));
                break;
            case HTTP_STEP_END:
                http_site_end(site);
                break;
            case HTTP_STEP_ANSWERS:
                answers.text.len = 0;
                answers_read(
                    &answers,
                    xs_slice_of((const uint8_t *)site->got.data, site->got.len),
                    http_site_is(site));
                site->got.len = 0;
                if (strcmp(answers.text.data, (const char *)step->data) != 0) {
                    play_fail(play, (const char *)step->data,
                              answers.text.data);
                }
                break;
            case HTTP_STEP_EVENTS:
                fail_msg("events in a conversation");
        }
    }
    http_site_finish(site);
    free(answers.text.data);
}

/* documents */

static void play_once(struct play *play, const struct http_case *one,
                      struct cut cut)
{
    play->title = one->title;
    play->cut = cut;
    if (one->steps[one->step_count - 1].kind == HTTP_STEP_EVENTS) {
        play_events(play, http_case_bytes(one), http_case_events(one));
    } else {
        play_answers(play, one);
    }
}

static void play_case(struct play *play, const struct http_case *one)
{
    size_t longest = 0;
    size_t step;

    for (unsigned i = 0; i < one->step_count; i++) {
        if (one->steps[i].kind == HTTP_STEP_BYTES &&
            one->steps[i].len > longest) {
            longest = one->steps[i].len;
        }
    }
    step = longest * longest / BYTES_MAX + 1;
    play_once(play, one, (struct cut){0, 0});
    for (size_t first = 1; first < longest; first += step) {
        play_once(play, one, (struct cut){first, 0});
    }
    step = longest / PARTS_MAX + 1;
    play_once(play, one, (struct cut){step, step});
}

static void play_document(const char *document)
{
    static struct play play;
    struct http_cases cases;
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", XS_CASES, document);
    http_cases_load(&cases, path);
    play.document = document;
    http_site_open(&play.site);
    for (size_t i = 0; i < cases.count; i++) {
        play_case(&play, &cases.list[i]);
    }
    http_site_close(&play.site);
    http_cases_free(&cases);
}

/* Whether the server goes on behind all of the case. */
static bool goes_on(const struct http_case *one)
{
    struct xs_slice left;
    struct message message = {.end = {NULL, 0}};

    if (one->steps[one->step_count - 1].kind != HTTP_STEP_EVENTS) {
        return false;
    }
    left = xs_slice_str(http_case_events(one));
    while (left.len > 0) {
        message = take_message(&left);
        if (!begins(message.end, "end") || is_last(&message)) {
            return false;
        }
    }
    return true;
}

static void play_in_one_write(const char *document)
{
    static struct play play;
    struct text bytes = {.len = 0};
    struct text events = {.len = 0};
    struct http_cases cases;
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", XS_CASES, document);
    http_cases_load(&cases, path);
    for (size_t i = 0; i < cases.count; i++) {
        if (goes_on(&cases.list[i])) {
            struct xs_slice one = http_case_bytes(&cases.list[i]);

            text_add(&bytes, (const char *)one.data, one.len);
            text_str(&events, http_case_events(&cases.list[i]));
        }
    }
    play = (struct play){.document = document, .title = "all in one write"};
    http_site_open(&play.site);
    if (events.len > 0) {
        play_events(&play, xs_slice_of((const uint8_t *)bytes.data, bytes.len),
                    events.data);
    }
    http_site_close(&play.site);
    http_cases_free(&cases);
    free(bytes.data);
    free(events.data);
}

static const char *const documents[] = {
    "request-line.md", "target.md",         "host.md",
    "fields.md",       "content-length.md", "transfer-encoding.md",
    "chunks.md",       "connection.md",     "smuggling.md",
    "keep-alive.md",   "unread.md",         "expect.md",
    "responses.md",
};

static bool is_played(const char *name)
{
    for (size_t i = 0; i < XS_COUNT_OF(documents); i++) {
        if (strcmp(name, documents[i]) == 0) {
            return true;
        }
    }
    return strcmp(name, "README.md") == 0;
}

static void documents_are_all_played(void **state)
{
    DIR *dir = opendir(XS_CASES);
    struct dirent *entry;
    (void)state;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' && !is_played(entry->d_name)) {
            fail_msg("%s is not played", entry->d_name);
        }
    }
    (void)closedir(dir);
}

static void documents_hold_for_the_whole_server_however_they_are_cut(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < XS_COUNT_OF(documents); i++) {
        play_document(documents[i]);
    }
}

static void requests_of_a_document_are_all_answered_after_one_write(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < XS_COUNT_OF(documents); i++) {
        play_in_one_write(documents[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_all_played),
        cmocka_unit_test(
            documents_hold_for_the_whole_server_however_they_are_cut),
        cmocka_unit_test(
            requests_of_a_document_are_all_answered_after_one_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
