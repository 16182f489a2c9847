/* rules_client.c - whom a request comes from: rule 13 of gateway.h. */

#include <stdio.h>
#include <string.h>

#include "tests/contract/site.h"

#define HEAD "GET /a?b HTTP/1.1\r\nhost: h\r\n"
#define GET HEAD "\r\n"

/* Whoever has "1" at the end of the address is a proxy of ours. */
static enum xs_hop look(void *user, struct xs_slice address,
                        char out[XS_ADDRESS_MAX])
{
    unsigned *looks = user;

    *looks += 1;
    if (address.len < 3 || address.len >= XS_ADDRESS_MAX ||
        memchr(address.data, '.', address.len) == NULL) {
        return XS_HOP_UNKNOWN;
    }
    memcpy(out, address.data, address.len);
    out[address.len] = '\0';
    return out[address.len - 1] == '1' ? XS_HOP_TRUSTED : XS_HOP_CLIENT;
}

static enum xs_hop look_nowhere(void *user, struct xs_slice address,
                                char out[XS_ADDRESS_MAX])
{
    return look(user, address, out) == XS_HOP_UNKNOWN ? XS_HOP_UNKNOWN
                                                      : XS_HOP_CLIENT;
}

/* What a rule saw of the client of a request. */
struct client_seen {
    struct xs_io_addr client;
    bool is_named;
    bool is_https;
};

static void see_client(struct site *site)
{
    const struct xs_request *req = site->req;
    struct client_seen *seen = site->user;

    seen->is_named = req->client != NULL;
    seen->is_https = req->is_https;
    if (seen->is_named) {
        seen->client = *req->client;
    }
    assert_string_equal(req->peer->host, "127.0.0.1");
    site_answer(site, "");
}

static void site_open_proxied(struct site *site, struct world *world,
                              struct xs_proxies proxies)
{
    struct xs_server_config config = {
        .limits = site_limits(),
        .proxies = proxies,
    };

    site_open_with(site, world, &config);
    site_connect(site);
    site->do_request = see_client;
}

static void client_is_whom_a_trusted_proxy_names(struct world *world)
{
    struct client_seen seen;
    unsigned looks = 0;
    struct site site;

    site_open_proxied(&site, world,
                      (struct xs_proxies){.look = look, .user = &looks});
    site.user = &seen;
    site_say(&site, HEAD
             "x-forwarded-for: 9.9.9.9, 1.2.3.4:77\r\n"
             "x-forwarded-proto: https\r\n\r\n");
    site_expect(&site, SITE_OK("0", ""));

    assert_string_equal(seen.client.host, "1.2.3.4");
    assert_int_equal(seen.client.port, 77);
    assert_true(seen.is_named);
    assert_true(seen.is_https);
    site_close(&site);
}

static void client_of_each_request_is_its_own(struct world *world)
{
    struct client_seen seen;
    unsigned looks = 0;
    struct site site;

    site_open_proxied(&site, world,
                      (struct xs_proxies){.look = look, .user = &looks});
    site.user = &seen;
    site_say(&site, HEAD
             "x-forwarded-for: 1.2.3.4\r\n"
             "x-forwarded-proto: https\r\n\r\n");
    site_expect(&site, SITE_OK("0", ""));
    site_say(&site, GET);
    site_expect(&site, SITE_OK("0", ""));

    assert_false(seen.is_named);
    assert_false(seen.is_https);
    site_close(&site);
}

static void client_is_nobody_if_the_peer_is_not_trusted(struct world *world)
{
    struct client_seen seen;
    unsigned looks = 0;
    struct site site;

    site_open_proxied(
        &site, world,
        (struct xs_proxies){.look = look_nowhere, .user = &looks});
    site.user = &seen;
    for (unsigned i = 0; i < 3; i++) {
        site_say(&site, HEAD
                 "x-forwarded-for: 1.2.3.4\r\n"
                 "x-forwarded-proto: https\r\n\r\n");
        site_expect(&site, SITE_OK("0", ""));
    }

    assert_false(seen.is_named);
    assert_false(seen.is_https);
    assert_int_equal(looks, 1); /* once for the connection */
    site_close(&site);
}

static void client_follows_forwarded_if_that_is_what_proxies_write(
    struct world *world)
{
    struct client_seen seen;
    unsigned looks = 0;
    struct site site;

    site_open_proxied(
        &site, world,
        (struct xs_proxies){.look = look, .user = &looks, .rfc7239 = true});
    site.user = &seen;
    site_say(&site, HEAD
             "x-forwarded-for: 9.9.9.9\r\n"
             "forwarded: for=1.2.3.4;proto=https\r\n\r\n");
    site_expect(&site, SITE_OK("0", ""));

    assert_string_equal(seen.client.host, "1.2.3.4");
    assert_int_equal(seen.client.port, 0);
    assert_true(seen.is_https);
    site_close(&site);
}

const struct rule rules_client[] = {
    RULE(client_is_whom_a_trusted_proxy_names),
    RULE(client_of_each_request_is_its_own),
    RULE(client_is_nobody_if_the_peer_is_not_trusted),
    RULE(client_follows_forwarded_if_that_is_what_proxies_write),
    {NULL, NULL},
};
