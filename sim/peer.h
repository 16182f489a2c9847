/* peer.h - a scripted client: what it does is drawn before it starts.
 *
 *     start ──▶ send in segments ──▶ read, slowly or not ──▶ end, somehow
 *
 * It reads with a strict reader of its own (oracle_client.h). In the second
 * phase of a simulation (`xs_client_calm`) it reads all there is, sends what
 * it still has to send, and waits for nothing but the server. */

#ifndef XS_SIM_PEER_H
#define XS_SIM_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/bytes.h"
#include "sim/oracle.h"
#include "sim/oracle_client.h"
#include "sim/plan.h"
#include "sim/sim_peer.h"

/* The most that is read at a time, and much for a client to have read. */
#define XS_CLIENT_READ ((size_t)64 * 1024)

enum xs_client_end {
    XS_CLIENT_CLOSES,      /* after the last response */
    XS_CLIENT_WAITS,       /* for the server to end */
    XS_CLIENT_HALF_CLOSES, /* when all is sent; then waits */
    /* The rest breaks off after so many bytes. */
    XS_CLIENT_RESETS,
    XS_CLIENT_LEAVES,  /* closes */
    XS_CLIENT_STOPS,   /* ends its stream, and reads on */
    XS_CLIENT_VANISHES /* without a word */
};

enum xs_client_reading {
    XS_CLIENT_READS_ALL,
    XS_CLIENT_READS_SLOWLY,
    XS_CLIENT_READS_NOTHING, /* until the second phase */
};

/* Drawn once. */
struct xs_client_script {
    uint64_t start_ns;
    unsigned pipeline;  /* requests sent ahead of their answers */
    size_t segment_max; /* 0: all that may be sent at once */
    size_t straddle;    /* segments end so far inside the next request */
    uint64_t pace_ns;   /* between two segments */
    enum xs_client_reading reading;
    size_t read_max; /* with READS_SLOWLY: bytes, every … */
    uint64_t read_ns;
    enum xs_client_end end;
    bool end_on_received; /* break off by bytes received, not sent */
    size_t end_at;        /* how many */
    uint64_t stay_ns;     /* its end stays open when the server has ended */
};

struct xs_client {
    /* Fixed by init. */
    struct xs_sim *sim;
    struct xs_io_addr to;
    struct xs_client_script script;
    struct xs_plan plans[XS_PLANS_MAX];
    unsigned plan_count;
    bool rude;              /* sends more after it has said that it will not */
    struct xs_bytes stream; /* owned; kept from run to run */

    /* Set by the owner after init: it has connected. May be NULL. */
    void (*on_open)(struct xs_client *client);
    void *user; /* the owner's */

    struct xs_sim_peer *peer; /* NULL before the start and after the end */
    uint16_t port;            /* its own, once connected */
    struct xs_sim_timer send_timer;
    struct xs_sim_timer read_timer;
    struct xs_sim_timer patience;
    struct xs_reader reader;
    size_t sent;
    uint64_t received;
    unsigned asked;    /* requests of which the first byte was sent */
    unsigned segments; /* sent so far */
    unsigned reads;    /* with READS_SLOWLY */
    bool paused;       /* send_timer runs */
    bool continued;    /* do not wait for "100 Continue" any more */
    bool calm;         /* second phase */
    bool broke_off;    /* it has ended before its time, by script */
    bool half_closed;
    bool ended;      /* the server's stream has ended, in order */
    bool ended_well; /* and at the end of a response */
    bool stayed;     /* stay_ns has begun */
    bool was_reset;  /* the connection was reset, not by us */
    bool killed;     /* it was, whether or not the client could tell */
    size_t purged;   /* bytes that had come and that this took from it */
    bool gave_up;    /* the server let it wait for ever */
    bool refused;    /* nobody listened */
    bool done;
};

/* Draw a script. `client` is zeroed or was used before; it connects to `to`
 * in its own time. Everything given is borrowed until fini. */
void xs_client_init(struct xs_client *client, struct xs_sim *sim,
                    const struct xs_io_addr *to,
                    const struct xs_pattern *pattern,
                    struct xs_verdict *verdict);
/* Accepts a zeroed one. */
void xs_client_fini(struct xs_client *client);

/* Right behind init: it says `stream`, which is copied, instead of what was
 * drawn, and that is `count` requests, one at least. `plans` are copied. */
void xs_client_say(struct xs_client *client, struct xs_slice stream,
                   const struct xs_plan *plans, unsigned count);

/* Inside the client only: the drawing of `xs_client_init`. */
void xs_client_draw(struct xs_client *client, struct xs_tape *tape,
                    const struct xs_pattern *pattern);

/* Second phase. */
void xs_client_calm(struct xs_client *client);

/* It does nothing that could keep it from getting all its answers, given a
 * server that is patient enough. */
bool xs_client_is_good(const struct xs_client *client);

#endif
