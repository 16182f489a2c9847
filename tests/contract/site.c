/* site.c - a whole server in a world, with a gateway that a rule scripts. */

#include "tests/contract/site.h"

#include <stdlib.h>
#include <string.h>

static struct site *site_of(struct xs_gateway *gateway)
{
    return xs_container_of(gateway, struct site, gateway);
}

static void site_call(struct site *site)
{
    assert_non_null(site->req);
    assert_false(site->calling);
    site->calling = true;
}

static void site_called(struct site *site)
{
    site->calling = false;
}

/* Before every callback but on_request. */
static struct site *site_told(struct xs_request *req)
{
    struct site *site = site_of(req->gateway);

    assert_false(site->calling);       /* gateway.h, rule 2 */
    assert_ptr_equal(site->req, req);  /* rule 3 */
    assert_ptr_equal(req->user, site); /* ours from the start */
    return site;
}

static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct site *site = site_of(gateway);

    assert_false(site->calling);
    assert_null(site->req); /* rule 5 */
    assert_non_null(req->head);
    assert_null(req->user);
    req->user = site;
    if (*req->conn_user == NULL) {
        *req->conn_user = site;
        site->conns++;
    }
    site->req = req;
    site->body_owed = false;
    site->drain_owed = false;
    site->eof_told = false;
    site->requests++;
    if (site->do_request != NULL) {
        site->do_request(site);
    }
}

static void on_body(struct xs_request *req)
{
    struct site *site = site_told(req);

    assert_true(site->body_owed); /* rule 6 */
    site->body_owed = false;
    site->bodies++;
    if (site->do_body != NULL) {
        site->do_body(site);
    }
}

static void on_drain(struct xs_request *req)
{
    struct site *site = site_told(req);

    assert_true(site->drain_owed); /* rule 7 */
    assert_false(xs_response_full(req));
    site->drain_owed = false;
    site->drains++;
    if (site->do_drain != NULL) {
        site->do_drain(site);
    }
}

static void on_eof(struct xs_request *req)
{
    struct site *site = site_told(req);

    assert_false(site->eof_told); /* rule 8 */
    site->eof_told = true;
    site->eofs++;
    if (site->do_eof != NULL) {
        site->do_eof(site);
    }
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    struct site *site = site_told(req);

    site->req = NULL; /* rule 9 */
    site->why = why;
    site->aborts++;
    if (site->do_abort != NULL) {
        site->do_abort(site);
    }
}

static const struct xs_gateway_ops site_ops = {
    .on_request = on_request,
    .on_body = on_body,
    .on_drain = on_drain,
    .on_eof = on_eof,
    .on_abort = on_abort,
};

static void on_conn_close(void *user, void *conn_user)
{
    struct site *site = user;

    assert_ptr_equal(conn_user, site);
    site->conn_closes++;
}

static void on_stopped(void *user)
{
    struct site *site = user;

    site->stops++;
}

struct xs_limits site_limits(void)
{
    struct xs_limits limits = xs_limits_default();

    for (unsigned i = 0; i < XS_DEADLINE_KINDS; i++) {
        limits.timeout_ns[i] = XS_NEVER;
    }
    return limits;
}

void site_open(struct site *site, struct world *world,
               const struct xs_limits *limits)
{
    struct xs_server_config config = {
        .limits = limits != NULL ? *limits : site_limits(),
    };

    site_open_with(site, world, &config);
}

void site_open_with(struct site *site, struct world *world,
                    const struct xs_server_config *with)
{
    struct xs_server_config config = *with;
    struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1", .backlog = 16};

    *site = (struct site){.gateway = {&site_ops}, .world = world};
    world->io->ops->unlisten(world->listener);
    world->listener = NULL;
    config.events.conn_close = on_conn_close;
    config.events.stopped = on_stopped;
    config.events.user = site;
    xs_server_init(&site->server, world->io, &site->gateway, &config);
    assert_int_equal(xs_server_listen(&site->server, &spec), 0);
}

void site_close(struct site *site)
{
    if (site->client.peer != NULL) {
        pair_close_peer(&site->client);
    }
    xs_server_stop(&site->server, 0);
    world_until(site->world, &site->stops);
    assert_null(site->req);
    assert_int_equal(site->stops, 1);
    assert_int_equal(site->server.stats.connections, 0);
    assert_int_equal(site->server.stats.requests, 0);
    xs_server_fini(&site->server);
}

void site_connect(struct site *site)
{
    const struct xs_io_addr *at = &site->server.listeners[0]->local;

    assert_null(site->client.peer);
    site->client.world = site->world;
    site->client.peer = site->world->outside->connect(site->world, at);
    assert_non_null(site->client.peer);
}

void site_say(struct site *site, const char *text)
{
    peer_send(&site->client, text, strlen(text));
}

void site_expect(struct site *site, const char *text)
{
    size_t len = strlen(text);
    char *got = calloc(1, len + 1);

    assert_non_null(got);
    peer_recv(&site->client, got, len);
    assert_string_equal(got, text);
    free(got);
}

void site_expect_end(struct site *site)
{
    char byte;

    assert_true(peer_recv_some(&site->client, &byte, 1) <= 0);
}

int site_hint(struct site *site, const char *name, const char *value)
{
    const struct xs_field field = {xs_slice_str(name), xs_slice_str(value)};
    int err;

    site_call(site);
    err = xs_response_hint(site->req, &field, 1);
    site_called(site);
    return err;
}

int site_expect_trailers(struct site *site)
{
    int err;

    site_call(site);
    err = xs_response_expect_trailers(site->req);
    site_called(site);
    site->trailing = err == 0;
    return err;
}

int site_trailer(struct site *site, const char *name, const char *value,
                 bool more)
{
    const struct xs_field field = {xs_slice_str(name), xs_slice_str(value)};
    int err;

    site_call(site);
    err = xs_response_trailers(site->req, &field, 1, more);
    site_called(site);
    if (err == 0 && !more) {
        site->req = NULL; /* rule 3 */
        site->trailing = false;
    }
    return err;
}

int site_start(struct site *site, unsigned status)
{
    int err;

    site_call(site);
    err = xs_response_start(site->req, status, XS_LIT(""));
    site_called(site);
    return err;
}

int site_header(struct site *site, const char *name, const char *value)
{
    int err;

    site_call(site);
    err =
        xs_response_header(site->req, xs_slice_str(name), xs_slice_str(value));
    site_called(site);
    return err;
}

static int site_give(struct site *site, const struct xs_lent *lent, bool more)
{
    int err;

    site_call(site);
    err = xs_response_body(site->req, lent, more);
    site_called(site);
    if (err == 0 && !more && !site->trailing) {
        site->req = NULL; /* rule 3 */
    }
    return err;
}

int site_body(struct site *site, const char *text, bool more)
{
    struct xs_lent lent = {.bytes = xs_slice_str(text)};

    return site_give(site, &lent, more);
}

struct site_loan {
    struct site *site;
    uint8_t data[];
};

static void on_release(void *owner)
{
    struct site_loan *loan = owner;

    loan->site->releases++;
    free(loan);
}

int site_lend(struct site *site, size_t at, size_t len, bool more)
{
    struct site_loan *loan = malloc(sizeof *loan + len);
    struct xs_lent lent = {.release = on_release, .owner = loan};
    int err;

    assert_non_null(loan);
    loan->site = site;
    pattern_fill(loan->data, at, len);
    lent.bytes = xs_slice_of(loan->data, len);
    err = site_give(site, &lent, more);
    if (err != 0) {
        free(loan); /* nothing was taken */
    }
    return err;
}

static void on_release_file(void *owner)
{
    struct site *site = owner;

    site->releases++;
}

int site_file(struct site *site, int file, size_t at, size_t len, bool more)
{
    struct xs_lent lent = {
        .bytes = {NULL, len},
        .release = on_release_file,
        .owner = site,
        .is_file = true,
        .file = file,
        .offset = at,
    };

    return site_give(site, &lent, more);
}

void site_fail(struct site *site)
{
    site_call(site);
    xs_response_fail(site->req);
    site_called(site);
    site->req = NULL;
}

void site_flush(struct site *site)
{
    site_call(site);
    xs_response_flush(site->req);
    site_called(site);
}

bool site_full(struct site *site)
{
    bool full = xs_response_full(site->req);

    site->drain_owed = site->drain_owed || full;
    return full;
}

enum xs_body site_read(struct site *site, struct xs_slice *out, bool *last)
{
    enum xs_body result;

    site_call(site);
    result = xs_request_body(site->req, out, last);
    site_called(site);
    if (result == XS_BODY_WAIT) {
        site->body_owed = true;
    }
    return result;
}

void site_ask(struct site *site)
{
    struct xs_slice bytes;
    bool last;

    site->do_body = site_ask;
    (void)site_read(site, &bytes, &last);
}

void site_consume(struct site *site, size_t len)
{
    site_call(site);
    xs_request_body_consume(site->req, len);
    site_called(site);
}

void site_answer(struct site *site, const char *text)
{
    assert_int_equal(site_start(site, 200), 0);
    assert_int_equal(site_body(site, text, false), 0);
}
