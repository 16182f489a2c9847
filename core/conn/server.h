/* server.h - listeners and connections under one gateway, from start to stop.
 *
 *     NEW ──listen──▶ RUNNING ──stop──▶ STOPPING ──last one gone──▶ STOPPED
 *
 * One server lives on one backend and one thread. */

#ifndef XS_CONN_SERVER_H
#define XS_CONN_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/deadline.h"
#include "core/base/limits.h"
#include "core/base/list.h"
#include "core/base/pool.h"
#include "core/conn/access.h"
#include "core/gateway.h"
#include "core/http1/forwarded.h"
#include "core/http1/refusal.h"
#include "core/http1/writer.h"
#include "core/io.h"

#define XS_LISTENERS_MAX 16

/* Whom the server tells. Any member may be NULL. None may call the server but
 * `xs_server_stop`. */
struct xs_server_events {
    /* A request has ended and its response was written, or it was refused:
     * once for each, and never inside a call of the gateway's. Only called if
     * set: then texts are kept. */
    void (*access)(void *user, const struct xs_access *access);
    /* What a client sent was refused, as a whole or inside its body, of which
     * the gateway has heard before.
     * `answered`: with the refusal's status. If not, an answer was on its way
     * already, or none could be given. */
    void (*refused)(void *user, const struct xs_io_addr *peer,
                    enum xs_refusal why, bool answered);
    /* No connection can be accepted for a while: `err` says why. Those who
     * want one wait. Often, as long as it lasts. */
    void (*accept_failed)(void *user, int err);
    /* A connection is gone: free what xs_request.conn_user kept. */
    void (*conn_close)(void *user, void *conn_user);
    /* STOPPED: no listener and no connection is left. */
    void (*stopped)(void *user);
    void *user; /* borrowed */
};

struct xs_server_config {
    struct xs_limits limits;
    struct xs_slice server_name; /* borrowed until fini; empty: no Server */
    bool date;                   /* send Date */
    struct xs_access_wants wants;
    struct xs_slice hosts;     /* that are served (hosts.h); borrowed until
                                * fini; empty: all */
    struct xs_proxies proxies; /* whom to believe about the client */
    struct xs_server_events events;
};

enum xs_server_state {
    XS_SERVER_RUNNING,
    XS_SERVER_STOPPING, /* accepts nothing; finishes what runs */
    XS_SERVER_STOPPED,
};

/* The counts that a user may see. */
struct xs_server_stats {
    unsigned connections; /* open now */
    unsigned requests;    /* at the gateway now */
    size_t backlog;       /* bytes of responses that wait for their clients */
    uint64_t accepted;    /* connections, ever */
    uint64_t served;      /* requests handed to the gateway, ever */
    uint64_t refused;     /* requests refused, also inside a body, ever */
};

struct xs_server {
    /* Fixed at init. */
    struct xs_io *io;           /* borrowed */
    struct xs_gateway *gateway; /* borrowed */
    struct xs_server_config config;

    /* Written only by server.c. */
    enum xs_server_state state;
    struct xs_io_listener *listeners[XS_LISTENERS_MAX]; /* backend's */
    unsigned listener_count;
    bool accept_paused;    /* no descriptors, or connections_max is reached */
    uint64_t alarm_at_ns;  /* what the backend was last asked for */
    uint64_t stop_at_ns;   /* STOPPING: when patience ends */
    uint64_t accept_at_ns; /* when to try accepting again */
    uint64_t look_at_ns;   /* STOPPING: when to look at those who may end */
    uint64_t common_until_ns; /* when `common` is stale */
    size_t common_len;
    char common[XS_COMMON_MAX];

    /* Written by conn/. */
    uint64_t next_id;     /* of a connection */
    struct xs_list conns; /* xs_conn.link: every open connection */
    struct xs_list dirty; /* xs_conn.dirty: has work before we block */
    unsigned dirty_count; /* of them, those that nobody has flushed yet */
    struct xs_deadlines deadlines;
    struct xs_pool conn_pool;
    struct xs_pool block_pool;
    struct xs_pool field_pool;
    struct xs_server_stats stats;
};

/* `io` and `gateway` outlive the server. `config` is copied. */
void xs_server_init(struct xs_server *server, struct xs_io *io,
                    struct xs_gateway *gateway,
                    const struct xs_server_config *config);

/* The server is STOPPED or was never given a listener. */
void xs_server_fini(struct xs_server *server);

/* Listen at `spec`. Errors: those of xs_io_ops.listen, and XS_ELIMIT for more
 * than XS_LISTENERS_MAX. The local address is in the last listener. */
XS_MUST_CHECK int xs_server_listen(struct xs_server *server,
                                   const struct xs_io_spec *spec);

/* Accept nothing more, close idle connections at once, let what runs finish
 * with "connection: close" within `grace_ns`, then abort the rest. Who has
 * just connected, or just begun with a head, has XS_STOP_FRESH_NS from then on
 * for a request, which is served likewise. Who has all that was sent and sends
 * nothing is closed without lingering. May be called again with another grace;
 * 0 ends everything before it blocks again. `stopped` is never called before
 * this returns. */
void xs_server_stop(struct xs_server *server, uint64_t grace_ns);

#endif
