/* server_proxies.h - which peers of a server are proxies that are trusted. */

#ifndef XS_EXT_SERVER_PROXIES_H
#define XS_EXT_SERVER_PROXIES_H

#include "core/http1/forwarded.h"
#include "python/ext/python.h"

struct ext_proxies;

/* Those that `config` trusts: `*core` for the server, and in `*out`, owned,
 * what it refers to; NULL if nobody is trusted. Attributes:
 *
 *     trusted_networks  bytes, 17 for each network: an address of IPv6 (that
 *                       of IPv4 as ::ffff:a.b.c.d), and how many bits of it
 *                       count; none, None or missing: nobody
 *     trusted_unix      a truth: whoever connects to a unix socket
 *     forwarded_header  "forwarded", or what else is X-Forwarded-For
 *
 * -1 with an exception set. */
int ext_proxies_new(struct ext_proxies **out, struct xs_proxies *core,
                    PyObject *config);
void ext_proxies_free(struct ext_proxies *proxies);

#endif
