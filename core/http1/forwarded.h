/* forwarded.h - who the client is, as the proxies in front of us say.
 *
 *     client c ──▶ proxy b ──▶ proxy a ──▶ us: the peer is a
 *
 *     X-Forwarded-For: …, c, b
 *     X-Forwarded-Proto: https
 *     Forwarded: …, for=c;proto=https, for=b;proto=http
 *
 * Each proxy adds, on the right, from whom it had the request. So the lists
 * are believed from the right to the left, as long as whoever said it is
 * trusted; the first address that is not trusted is the client's. What stands
 * left of it was said by the client itself and means nothing.
 *
 * A proxy passes on what it does not know, so only one of the two families of
 * fields can be believed: the one that the proxies write. The other is the
 * client's word.
 *
 * Text only: whether an address is one, and trusted, is asked of `look`. */

#ifndef XS_HTTP1_FORWARDED_H
#define XS_HTTP1_FORWARDED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "core/http1/head.h"

/* Room for an address in text, with its NUL. */
#define XS_ADDRESS_MAX 64u

enum xs_hop {
    XS_HOP_UNKNOWN, /* no address: a name, "unknown", "_hidden", garbage */
    XS_HOP_TRUSTED, /* a proxy of ours: what it says is believed */
    XS_HOP_CLIENT,  /* anybody else */
};

/* Whom to believe. */
struct xs_proxies {
    /* What `address` is, in text without brackets and port; "" and what is
     * longer than an address may come. Unless it is unknown, `out` gets it in
     * its usual spelling. NULL: nobody is believed. */
    enum xs_hop (*look)(void *user, struct xs_slice address,
                        char out[XS_ADDRESS_MAX]);
    void *user;        /* borrowed */
    bool unix_sockets; /* whoever connects to one is trusted */
    bool rfc7239;      /* they write Forwarded, not X-Forwarded-For */
};

enum xs_scheme {
    XS_SCHEME_UNKNOWN, /* nobody said */
    XS_SCHEME_HTTP,
    XS_SCHEME_HTTPS,
};

struct xs_forwarded {
    char host[XS_ADDRESS_MAX]; /* of the client; "": nobody said */
    uint16_t port;             /* 0: nobody said */
    enum xs_scheme scheme;
};

/* What the fields of a request say, which came from a trusted peer. What makes
 * no sense ends the belief: the last address that made sense is the client's
 * then. At most XS_HOPS_MAX addresses are looked at. */
void xs_forwarded_read(struct xs_forwarded *out, const struct xs_head *head,
                       const struct xs_proxies *proxies);

#endif
