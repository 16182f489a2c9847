/* http_site.h - a server with the application of the documents, and one client
 * at a time, in nice weather.
 *
 *     http_site_begin ──▶ send, end* ──▶ http_site_finish
 *
 * After each call everything has happened that happens without time passing. */

#ifndef XS_TESTS_SIM_HTTP_SITE_H
#define XS_TESTS_SIM_HTTP_SITE_H

#include "core/conn/server.h"
#include "sim/sim_peer.h"
#include "sim/tape.h"
#include "tests/sim/answers.h"
#include "tests/sim/http_app.h"

struct http_site {
    struct http_app app;
    struct xs_tape tape;
    struct xs_drive *drive; /* owned */
    struct xs_sim *sim;     /* borrowed */
    struct xs_server server;
    enum xs_refusal refusal; /* of the connection; or XS_REFUSE_NOT */
    bool answered;           /* see xs_server_events.refused */
    unsigned refusals;

    /* The client. */
    struct xs_sim_peer *peer; /* owned; NULL: none */
    struct text got;          /* owned: bytes that came and were not read */
    bool ended;               /* the server's stream has */
    bool was_reset;
};

void http_site_open(struct http_site *site);
void http_site_close(struct http_site *site);

/* Connect. */
void http_site_begin(struct http_site *site);
/* Send all of `bytes` in one write, as far as the server lets them in. */
void http_site_send(struct http_site *site, struct xs_slice bytes);
/* End the client's stream. */
void http_site_end(struct http_site *site);
/* The client goes away; the server has let go of everything. */
void http_site_finish(struct http_site *site);

/* A part of a request is here, and the server waits for the rest. */
bool http_site_waits(const struct http_site *site);
enum answers_end http_site_is(const struct http_site *site);

#endif
