/* rules_accept.c - listen and accept. */

#include <string.h>

#include "tests/contract/contract.h"

static void a_listener_has_its_own_address(struct world *world)
{
    const struct xs_io_addr *local = &world->listener->local;

    assert_int_equal(local->is_unix, world->outside->is_unix);
    if (local->is_unix) {
        assert_int_equal(local->host[0], '/');
        assert_int_equal(local->port, 0);
    } else {
        assert_true(local->host[0] != '\0');
        assert_true(local->port != 0);
    }
}

static void a_connection_has_the_addresses_of_both_ends(struct world *world)
{
    struct pair pair;

    pair_open(&pair, world);
    assert_int_equal(pair.conn->peer.is_unix, world->outside->is_unix);
    assert_string_equal(pair.conn->local.host, world->listener->local.host);
    assert_int_equal(pair.conn->local.port, world->listener->local.port);
    if (world->outside->is_unix) {
        assert_string_equal(pair.conn->peer.host, "");
    } else {
        assert_true(pair.conn->peer.host[0] != '\0');
        assert_true(pair.conn->peer.port != 0);
    }

    pair_close(&pair);
}

static void accept_says_again_when_nobody_waits(struct world *world)
{
    struct xs_io_conn *conn = NULL;

    assert_int_equal(world->io->ops->accept(world->listener, &conn), XS_EAGAIN);
    world_settle(world);
    assert_int_equal(world->accepts, 0);
}

static void a_waiting_connection_is_told_until_it_is_taken(struct world *world)
{
    struct pair pair;
    unsigned accepts;

    pair.peer = world->outside->connect(world, &world->listener->local);
    assert_non_null(pair.peer);
    for (unsigned i = 1; i <= 3; i++) {
        world_until(world, &world->accepts);
        world->accepts = 0;
    }
    world->outside->close_peer(pair.peer);
    pair_open(&pair, world);
    pair_close(&pair);
    accepts = world->accepts;

    assert_true(accepts < 1000);
}

static void accept_drains_a_batch(struct world *world)
{
    enum { MANY = 8 };
    struct peer *peers[MANY];
    struct xs_io_conn *conns[MANY];
    unsigned count = 0;

    for (int i = 0; i < MANY; i++) {
        peers[i] = world->outside->connect(world, &world->listener->local);
        assert_non_null(peers[i]);
    }
    for (unsigned turns = 0; count < MANY; turns++) {
        struct xs_io_conn *conn = NULL;
        int err = world->io->ops->accept(world->listener, &conn);
        if (err != 0) {
            assert_true(err == XS_EAGAIN || err == XS_EMFILE);
            assert_true(turns < 1000);
            world_run(world, XS_MS_NS);
            continue;
        }
        conns[count++] = conn;
    }
    for (int i = 0; i < MANY; i++) {
        world->io->ops->close(conns[i], false);
        world->outside->close_peer(peers[i]);
    }
}

static void accept_that_is_not_wanted_is_not_told(struct world *world)
{
    struct peer *peer;

    world->io->ops->accept_want(world->listener, false);
    peer = world->outside->connect(world, &world->listener->local);
    assert_non_null(peer);
    world_settle(world);
    assert_int_equal(world->accepts, 0);

    world->io->ops->accept_want(world->listener, true);
    world_until(world, &world->accepts);
    world->outside->close_peer(peer);
}

static void pause_accept(struct world *world)
{
    world->io->ops->accept_want(world->listener, false);
}

static void accept_may_be_paused_inside_on_ready(struct world *world)
{
    struct peer *peer;

    world->do_accept = pause_accept;
    peer = world->outside->connect(world, &world->listener->local);
    assert_non_null(peer);
    world_until(world, &world->accepts);
    world_settle(world);
    assert_int_equal(world->accepts, 1);

    world->outside->close_peer(peer);
}

static void a_peer_that_left_before_accept_harms_nobody(struct world *world)
{
    struct peer *peer;
    struct xs_io_conn *conn = NULL;
    struct pair pair;
    int err;

    peer = world->outside->connect(world, &world->listener->local);
    assert_non_null(peer);
    world->outside->reset(peer);
    world->outside->close_peer(peer);
    world_settle(world);
    err = world->io->ops->accept(world->listener, &conn);
    if (err == 0) {
        uint8_t byte;
        assert_true(world->io->ops->recv(conn, &byte, 1) <= 0);
        world->io->ops->close(conn, false);
    } else {
        assert_true(err == XS_EABORTED || err == XS_EAGAIN || err == XS_EMFILE);
    }

    pair_open(&pair, world);
    pair_close(&pair);
}

static void listen_refuses_what_is_no_address(struct world *world)
{
    static const char *const hosts[] = {"", "example.invalid", "1.2.3",
                                        ":::", "300.1.1.1"};
    struct xs_io_listener *listener = NULL;

    for (size_t i = 0; i < XS_COUNT_OF(hosts); i++) {
        struct xs_io_spec spec = {
            .fd = -1, .host = hosts[i], .port = 0, .backlog = 1};
        assert_int_equal(world->io->ops->listen(world->io, &listener, &spec),
                         XS_EINVALID);
    }
}

static void listen_refuses_an_address_in_use(struct world *world)
{
    struct xs_io_listener *listener = NULL;
    struct xs_io_spec spec = {.fd = -1,
                              .host = world->listener->local.host,
                              .port = world->listener->local.port,
                              .backlog = 1};

    if (world->outside->is_unix) {
        return; /* the host's business */
    }
    assert_int_equal(world->io->ops->listen(world->io, &listener, &spec),
                     XS_EADDRINUSE);
}

static void listen_keeps_nothing_of_its_spec(struct world *world)
{
    char host[XS_IO_HOST_MAX];
    struct xs_io_listener *listener = NULL;
    struct xs_io_spec spec = {.fd = -1, .host = host, .backlog = 4};
    struct peer *peer;

    if (world->outside->is_unix) {
        return;
    }
    memcpy(host, world->listener->local.host, sizeof host);
    assert_int_equal(world->io->ops->listen(world->io, &listener, &spec), 0);
    listener->on_ready = world->listener->on_ready;
    listener->user = world;
    memset(host, 'x', sizeof host);
    memset(&spec, 0xee, sizeof spec);
    assert_string_equal(listener->local.host, world->listener->local.host);
    assert_true(listener->local.port != world->listener->local.port);
    peer = world->outside->connect(world, &listener->local);
    assert_non_null(peer);
    world_until(world, &world->accepts);

    world->outside->close_peer(peer);
    world->io->ops->unlisten(listener);
}

const struct rule rules_accept[] = {
    RULE(a_listener_has_its_own_address),
    RULE(a_connection_has_the_addresses_of_both_ends),
    RULE(accept_says_again_when_nobody_waits),
    RULE(a_waiting_connection_is_told_until_it_is_taken),
    RULE(accept_drains_a_batch),
    RULE(accept_that_is_not_wanted_is_not_told),
    RULE(accept_may_be_paused_inside_on_ready),
    RULE(a_peer_that_left_before_accept_harms_nobody),
    RULE(listen_refuses_what_is_no_address),
    RULE(listen_refuses_an_address_in_use),
    RULE(listen_keeps_nothing_of_its_spec),
    {NULL, NULL},
};
