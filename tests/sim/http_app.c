/* http_app.c - the application of the documents in tests/http. */

#include "tests/sim/http_app.h"

#include <stdlib.h>
#include <string.h>

#include "tests/testlib.h"

#define PIECES_MAX 8u
#define FIELDS_MAX 4u
#define BIG 200000u

struct http_page {
    const char *path;
    unsigned status;
    struct {
        const char *name;
        const char *value;
    } fields[FIELDS_MAX];
    const char *pieces[PIECES_MAX]; /* NULL: no more */
    bool reads;                     /* the request body, first */
    bool whole;                     /* the last piece is the end */
    bool fails;                     /* behind the last piece */
    bool big;                       /* BIG bytes instead of pieces */
};

#define PLAIN                        \
    {                                \
        "content-type", "text/plain" \
    }
#define LENGTH(n)           \
    {                       \
        "content-length", n \
    }
#define TAG             \
    {                   \
        "etag", "\"x\"" \
    }
#define FIELDS(...) .fields = {__VA_ARGS__}
#define PIECES(...) .pieces = {__VA_ARGS__}
#define PAGE(p, s, ...)                         \
    {                                           \
        .path = (p), .status = (s), __VA_ARGS__ \
    }

static const struct http_page pages[] = {
    PAGE("/unread", 200, FIELDS(PLAIN, LENGTH("6")), PIECES("unread"),
         .whole = true),
    PAGE("/unread-pieces", 200, FIELDS(PLAIN), PIECES("un", "read")),
    PAGE("/pieces", 200, FIELDS(PLAIN), PIECES("one", "two", "three"),
         .reads = true),
    PAGE("/empty-pieces", 200, FIELDS(PLAIN), PIECES("", "a", "", "", "b", "")),
    PAGE("/no-content", 204, PIECES(""), .whole = true),
    PAGE("/no-content-with-body", 204, FIELDS(PLAIN, LENGTH("5")),
         PIECES("hello")),
    PAGE("/reset-content-with-body", 205, FIELDS(PLAIN, LENGTH("5")),
         PIECES("hello")),
    PAGE("/not-modified", 304, FIELDS(TAG), PIECES(""), .whole = true),
    PAGE("/not-modified-with-body", 304, FIELDS(TAG), PIECES("hello")),
    PAGE("/not-modified-with-length", 304, FIELDS(TAG, LENGTH("5")), PIECES(""),
         .whole = true),
    PAGE("/too-short", 200, FIELDS(PLAIN, LENGTH("10")), PIECES("hello")),
    PAGE("/too-long", 200, FIELDS(PLAIN, LENGTH("5")),
         PIECES("hello", "world")),
    PAGE("/fails", 200, FIELDS(PLAIN), .fails = true),
    PAGE("/fails-late", 200, FIELDS(PLAIN), PIECES("one", "two"),
         .fails = true),
    PAGE("/line-break", 200, FIELDS(PLAIN, {"x-a", "v\r\nx-injected: 1"}),
         PIECES("x")),
    PAGE("/latin-1", 200, FIELDS(PLAIN, {"x-a", "f\xf6o"}, LENGTH("1")),
         PIECES("x"), .whole = true),
    PAGE("/own-date", 200,
         FIELDS(PLAIN, {"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                {"server", "mine"}, LENGTH("1")),
         PIECES("x"), .whole = true),
    PAGE("/two-dates", 200,
         FIELDS({"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                {"date", "Mon, 07 Nov 1994 08:49:37 GMT"}, {"server", "mine"},
                {"server", "yours"}),
         PIECES("x"), .whole = true),
    PAGE("/own-coding", 200, FIELDS(PLAIN, {"transfer-encoding", "chunked"}),
         PIECES("one", "two")),
    PAGE("/other-coding", 200,
         FIELDS(PLAIN, {"transfer-encoding", "gzip, chunked"}),
         PIECES("one", "two")),
    PAGE("/two-lengths", 200, FIELDS(PLAIN, LENGTH("1"), LENGTH("1")),
         PIECES("x")),
    PAGE("/own-close", 200, FIELDS(PLAIN, {"connection", "close"}, LENGTH("1")),
         PIECES("x"), .whole = true),
    PAGE("/two-cookies", 200,
         FIELDS(PLAIN, {"set-cookie", "a=1"}, {"set-cookie", "b=2"},
                LENGTH("1")),
         PIECES("x"), .whole = true),
    PAGE("/big", 200, FIELDS(PLAIN, LENGTH("200000")), .big = true),
};

static const struct http_page echo_page =
    PAGE("", 200, FIELDS(PLAIN), .reads = true, .whole = true);

static const struct http_page *page_of(struct xs_slice path)
{
    for (size_t i = 0; i < XS_COUNT_OF(pages); i++) {
        if (xs_slice_eq(path, xs_slice_str(pages[i].path))) {
            return &pages[i];
        }
    }
    return &echo_page;
}

/* The request is over: what came of it. */
static void app_over(struct http_app *app, const char *end)
{
    if (app->body.len > 0) {
        text_line(&app->events, "body ",
                  xs_slice_of(app->body.data, app->body.len));
    }
    text_str(&app->events, end);
    app->body.len = 0;
    app->req = NULL;
}

/* False once the application has failed. */
static bool app_give(struct http_app *app, struct xs_slice bytes, bool more)
{
    struct xs_request *req = app->req;
    struct xs_lent lent = {.bytes = bytes};
    int err;

    if (!more) {
        app_over(app, app->page->reads ? "end\n" : "");
    }
    err = xs_response_body(req, &lent, more);
    if (err != 0) {
        assert_int_equal(err, XS_ELENGTH);
        if (more) {
            app_over(app, "");
        }
        xs_response_fail(req);
    }
    return err == 0;
}

static void app_give_big(struct http_app *app)
{
    static uint8_t big[BIG];

    memset(big, 'z', sizeof big);
    (void)app_give(app, xs_slice_of(big, sizeof big), false);
}

static void app_give_pieces(struct http_app *app)
{
    const struct http_page *page = app->page;

    for (unsigned i = 0; i < PIECES_MAX && page->pieces[i] != NULL; i++) {
        bool last = i + 1 == PIECES_MAX || page->pieces[i + 1] == NULL;

        if (!app_give(app, xs_slice_str(page->pieces[i]),
                      !(last && page->whole)) ||
            app->req == NULL) {
            return;
        }
    }
    if (page->fails) {
        struct xs_request *req = app->req;

        app_over(app, "");
        xs_response_fail(req);
        return;
    }
    (void)app_give(app, XS_LIT(""), false);
}

static void app_answer(struct http_app *app)
{
    const struct http_page *page = app->page;
    int err = xs_response_start(app->req, page->status, XS_LIT(""));

    assert_int_equal(err, 0);
    for (unsigned i = 0; i < FIELDS_MAX && page->fields[i].name != NULL; i++) {
        err = xs_response_header(app->req, xs_slice_str(page->fields[i].name),
                                 xs_slice_str(page->fields[i].value));
        if (err != 0) {
            struct xs_request *req = app->req;

            assert_int_equal(err, XS_EINVALID);
            app_over(app, "");
            xs_response_fail(req);
            return;
        }
    }
    if (page == &echo_page) {
        text_add(&app->echo, app->body.data, app->body.len);
        (void)app_give(app, xs_slice_of(app->echo.data, app->echo.len), false);
    } else if (page->big) {
        app_give_big(app);
    } else {
        app_give_pieces(app);
    }
}

/* Take what is there of the body; answer when that is all. */
static void app_read(struct http_app *app)
{
    for (;;) {
        struct xs_slice bytes;
        bool last;

        switch (xs_request_body(app->req, &bytes, &last)) {
            case XS_BODY_DATA:
                text_add(&app->body, (const char *)bytes.data, bytes.len);
                xs_request_body_consume(app->req, bytes.len);
                break;
            case XS_BODY_WAIT:
                return;
            case XS_BODY_END:
                app_answer(app);
                return;
        }
    }
}

static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct http_app *app = (struct http_app *)gateway;
    const struct xs_head *head = req->head;

    assert_null(app->req);
    assert_true(app->requests < HTTP_APP_REQUESTS_MAX);
    req->user = app;
    app->req = req;
    app->is_head[app->requests++] = head->is_head;
    app->page = page_of(head->path);
    app->echo.len = 0;
    text_head(&app->events, head);
    text_add(&app->echo, (const char *)head->method.data, head->method.len);
    text_str(&app->echo, " ");
    text_add(&app->echo, (const char *)head->target.data, head->target.len);
    text_str(&app->echo, "\n");
    if (app->page->reads) {
        app_read(app);
    } else {
        app_answer(app);
    }
}

static void on_body(struct xs_request *req)
{
    app_read(req->user);
}

static void on_drain(struct xs_request *req)
{
    (void)req;
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    struct http_app *app = req->user;

    app->aborts++;
    app_over(app, why == XS_ABORT_EOF ? "more\n" : "");
}

static const struct xs_gateway_ops app_ops = {
    .on_request = on_request,
    .on_body = on_body,
    .on_drain = on_drain,
    .on_eof = on_drain,
    .on_abort = on_abort,
};

void http_app_init(struct http_app *app)
{
    *app = (struct http_app){.gateway = {.ops = &app_ops}};
    http_app_reset(app);
}

void http_app_fini(struct http_app *app)
{
    free(app->events.data);
    free(app->body.data);
    free(app->echo.data);
}

void http_app_reset(struct http_app *app)
{
    assert_null(app->req);
    app->events.len = 0;
    text_str(&app->events, "");
    memset(app->is_head, 0, sizeof app->is_head);
    app->requests = 0;
    app->aborts = 0;
}
