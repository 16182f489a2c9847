/* site.h - a whole server in a world, with a gateway that a rule scripts.
 *
 *     rule ──▶ site ──▶ gateway.h ──▶ core ──▶ check ──▶ backend
 *          ──▶ client ─────────────────────────────────▶ outside
 *
 * Whatever a rule is about, the site holds the core to all of gateway.h: no
 * callback during a call, one request of the connection at a time, nothing for
 * a request that has ended, and every callback only when it is owed. */

#ifndef XS_TESTS_CONTRACT_SITE_H
#define XS_TESTS_CONTRACT_SITE_H

#include "core/conn/server.h"
#include "core/gateway.h"
#include "tests/contract/contract.h"

struct site {
    struct xs_gateway gateway; /* must be first */
    struct world *world;
    struct xs_server server;
    struct pair client; /* of which only the peer's end is used */

    /* Where the present request is. */
    struct xs_request *req; /* borrowed; NULL: none is at the gateway */
    bool trailing;          /* trailers end its response */
    bool calling;           /* the core is in a call of ours */
    bool body_owed;         /* an on_body */
    bool drain_owed;        /* an on_drain */
    bool eof_told;

    /* What was called so far. */
    unsigned requests;
    unsigned bodies;
    unsigned drains;
    unsigned eofs;
    unsigned aborts;
    unsigned conns; /* that had a request */
    unsigned conn_closes;
    unsigned stops;
    unsigned releases;
    enum xs_abort why;

    /* What to do then; may be NULL. */
    void (*do_request)(struct site *site);
    void (*do_body)(struct site *site);
    void (*do_drain)(struct site *site);
    void (*do_eof)(struct site *site);
    void (*do_abort)(struct site *site);
    void *user; /* the rule's */
};

/* The defaults, but without deadlines: in odd weather a minute is soon over. */
struct xs_limits site_limits(void);
/* Start a server with `limits` in the place of the world's listener; NULL:
 * those of site_limits. Neither Date nor Server is sent. */
void site_open(struct site *site, struct world *world,
               const struct xs_limits *limits);
/* Likewise with all of `config` but the events of closing and stopping; the
 * user of the others is the site. */
void site_open_with(struct site *site, struct world *world,
                    const struct xs_server_config *config);
/* Stop at once and end. */
void site_close(struct site *site);

/* Connect the client. */
void site_connect(struct site *site);
/* The client says this. */
void site_say(struct site *site, const char *text);
/* The client gets exactly this. */
void site_expect(struct site *site, const char *text);
/* The client gets no more than that: the stream ends or is reset. */
void site_expect_end(struct site *site);

/* The calls of gateway.h. */
int site_hint(struct site *site, const char *name, const char *value);
int site_expect_trailers(struct site *site);
int site_trailer(struct site *site, const char *name, const char *value,
                 bool more);
int site_start(struct site *site, unsigned status);
int site_header(struct site *site, const char *name, const char *value);
int site_body(struct site *site, const char *text, bool more);
/* `len` bytes of the pattern from `at`, lent. */
int site_lend(struct site *site, size_t at, size_t len, bool more);
/* `len` bytes of `file` from `at`. */
int site_file(struct site *site, int file, size_t at, size_t len, bool more);
void site_fail(struct site *site);
void site_flush(struct site *site);
bool site_full(struct site *site);
enum xs_body site_read(struct site *site, struct xs_slice *out, bool *last);
void site_consume(struct site *site, size_t len);
/* Read now and whenever more may be there, and take nothing. */
void site_ask(struct site *site);

/* "200", a content-length and `text`: the whole of a response. */
void site_answer(struct site *site, const char *text);
/* What that is on the wire. */
#define SITE_OK(len, text) \
    "HTTP/1.1 200 OK\r\ncontent-length: " len "\r\n\r\n" text

#endif
