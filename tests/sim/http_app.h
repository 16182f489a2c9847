/* http_app.h - the application of the documents in tests/http, as a gateway.
 *
 * What it answers depends on the path alone; any other path than those in
 * http_app.c is answered with method, target and body of the request. What it
 * was given is kept as a transcript (tests/unit/transcript.h). */

#ifndef XS_TESTS_SIM_HTTP_APP_H
#define XS_TESTS_SIM_HTTP_APP_H

#include <stdbool.h>

#include "core/gateway.h"
#include "tests/unit/text.h"

#define HTTP_APP_REQUESTS_MAX 256u

struct http_app {
    struct xs_gateway gateway; /* must be first */
    struct text events;        /* owned: the transcript of all requests */
    bool is_head[HTTP_APP_REQUESTS_MAX + 1];
    unsigned requests;
    unsigned aborts;

    /* The present request. */
    struct xs_request *req; /* borrowed; NULL: none */
    struct text body;       /* owned: of the request, as far as it has come */
    struct text echo;       /* owned: what it is answered with */
    const struct http_page *page;
};

void http_app_init(struct http_app *app);
void http_app_fini(struct http_app *app);

/* Be as new, for another connection. No request is there. */
void http_app_reset(struct http_app *app);

#endif
