/* http_site.c - a server with the application of the documents. */

#include "tests/sim/http_site.h"

#include <stdlib.h>

#include "core/conn/conn.h"
#include "core/drive.h"
#include "sim/sim.h"
#include "tests/testlib.h"

/* More turns at one instant than any case needs. */
#define TURNS_MAX 100000u

static void on_refused(void *user, const struct xs_io_addr *peer,
                       enum xs_refusal why, bool answered)
{
    struct http_site *site = user;

    assert_int_equal(peer->port, site->peer->local.port);
    site->refusal = why;
    site->answered = answered;
    site->refusals++;
}

void http_site_open(struct http_site *site)
{
    const struct xs_io_spec spec = {.fd = -1, .host = "127.0.0.1"};
    const struct xs_server_config config = {
        .limits = xs_limits_default(),
        .server_name = XS_LIT("xsgi"),
        .date = true,
        .events = {.refused = on_refused, .user = site},
    };
    int err;

    *site = (struct http_site){.refusal = XS_REFUSE_NOT};
    http_app_init(&site->app);
    xs_tape_init(&site->tape);
    xs_tape_start_zero(&site->tape);
    err = xs_sim_new(&site->drive, &site->tape, NULL);
    assert_int_equal(err, 0);
    site->sim = xs_sim_of_drive(site->drive);
    xs_server_init(&site->server, xs_sim_io(site->sim), &site->app.gateway,
                   &config);
    err = xs_server_listen(&site->server, &spec);
    assert_int_equal(err, 0);
}

/* Take what has come. */
static void site_read(struct http_site *site)
{
    uint8_t data[4096];
    int64_t got;

    while (site->peer != NULL && !site->ended && !site->was_reset &&
           (got = xs_sim_peer_read(site->peer, data, sizeof data)) !=
               XS_EAGAIN) {
        if (got > 0) {
            text_add(&site->got, (const char *)data, (size_t)got);
        } else if (got == 0) {
            site->ended = true;
        } else {
            site->was_reset = true;
        }
    }
}

/* Until nothing more happens at this moment. */
static void site_settle(struct http_site *site)
{
    unsigned turns = 0;

    do {
        (void)site->drive->ops->run(site->drive, 0);
        site_read(site);
        assert_true(++turns < TURNS_MAX);
    } while (site->drive->ops->next(site->drive) == 0);
}

void http_site_begin(struct http_site *site)
{
    int err;

    assert_null(site->peer);
    site->refusal = XS_REFUSE_NOT;
    site->refusals = 0;
    site->ended = false;
    site->was_reset = false;
    site->got.len = 0;
    text_str(&site->got, "");
    http_app_reset(&site->app);
    err = xs_sim_peer_open(site->sim, &site->peer,
                           &site->server.listeners[0]->local);
    assert_int_equal(err, 0);
    site_settle(site);
    assert_int_equal(site->server.stats.connections, 1);
}

void http_site_send(struct http_site *site, struct xs_slice bytes)
{
    for (unsigned i = 0; bytes.len > 0 && i < TURNS_MAX; i++) {
        int64_t put = xs_sim_peer_write(site->peer, bytes.data, bytes.len);

        if (put < 0 && put != XS_EAGAIN) {
            break; /* the server has had enough */
        }
        if (put > 0) {
            bytes = xs_slice_of(bytes.data + put, bytes.len - (size_t)put);
        }
        site_settle(site);
    }
}

void http_site_end(struct http_site *site)
{
    xs_sim_peer_shutdown(site->peer);
    site_settle(site);
}

void http_site_finish(struct http_site *site)
{
    xs_sim_peer_close(site->peer);
    site->peer = NULL;
    site_settle(site);
    assert_int_equal(site->server.stats.connections, 0);
    assert_int_equal(site->server.stats.requests, 0);
}

bool http_site_waits(const struct http_site *site)
{
    const struct xs_conn *conn;

    if (site->server.stats.connections == 0) {
        return false;
    }
    conn = xs_container_of(site->server.conns.next, struct xs_conn, link);
    return conn->state == XS_CONN_HEAD ||
           (conn->state == XS_CONN_ACTIVE && conn->rx.message);
}

enum answers_end http_site_is(const struct http_site *site)
{
    if (site->was_reset) {
        return ANSWERS_RESET;
    }
    return site->ended ? ANSWERS_CLOSED : ANSWERS_OPEN;
}

void http_site_close(struct http_site *site)
{
    xs_server_stop(&site->server, 0);
    site_settle(site);
    assert_int_equal(site->server.state, XS_SERVER_STOPPED);
    xs_server_fini(&site->server);
    assert_int_equal(xs_sim_stats(site->sim)->mem_blocks, 0);
    site->drive->ops->free(site->drive);
    xs_tape_fini(&site->tape);
    http_app_fini(&site->app);
    free(site->got.data);
}
