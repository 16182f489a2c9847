/* contract.h - one test for every rule, one world for every backend.
 *
 *     rule ──▶ world ──▶ check ──▶ backend        the server's end
 *          ──▶ peer ──▶ outside                   the client's end
 *
 * A rule is a function that gets a world: a backend, wrapped in `check`, with
 * a listener on it. The other end of a connection is behind `struct outside`:
 * sockets for a real backend, scripted peers for the simulated one. A rule
 * says what must happen whoever it is; where the world may answer in two ways
 * it takes either. */

#ifndef XS_TESTS_CONTRACT_H
#define XS_TESTS_CONTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/deadline.h"
#include "core/base/limits.h"
#include "core/drive.h"
#include "core/io.h"

struct world;
struct peer; /* the outside's */

/* The client's end of everything. The results are those of io.h. */
struct outside {
    const char *name;
    uint64_t seeds;  /* how many worlds there are; each is tried */
    bool is_unix;    /* unix sockets: no ports, no reset on demand */
    bool is_virtual; /* time passes only inside `run` */

    /* Make a backend in world->inner. */
    void (*open)(struct world *world);
    void (*close)(struct world *world);
    /* Listen as this kind of world does. */
    int (*listen)(struct world *world, struct xs_io_listener **out);
    /* One turn of whoever drives. */
    void (*run)(struct world *world, uint64_t timeout_ns);

    /* NULL if nobody listens there. */
    struct peer *(*connect)(struct world *world, const struct xs_io_addr *to);
    int64_t (*write)(struct peer *peer, const void *data, size_t len);
    int64_t (*read)(struct peer *peer, void *data, size_t len);
    void (*shutdown)(struct peer *peer);
    /* Reset, or as near as this kind comes to it; `close` is still due. */
    void (*reset)(struct peer *peer);
    void (*close_peer)(struct peer *peer);
};

struct world {
    const struct outside *outside; /* static */
    void *state;                   /* the outside's */
    uint64_t seed;
    struct xs_drive *inner; /* the backend; owned by `drive` */
    struct xs_drive *drive; /* the checked one */
    struct xs_io *io;
    struct xs_io_listener *listener; /* NULL once it is closed */

    /* What was called so far. */
    unsigned accepts;
    unsigned alarms;
    unsigned defers;
    unsigned blocks;
    unsigned wakes;
    unsigned kicks;

    /* What else to do then; may be NULL. */
    void (*do_accept)(struct world *world);
    void (*do_alarm)(struct world *world);
    void (*do_defer)(struct world *world);
    void (*do_block)(struct world *world);
    void *user; /* the rule's */
};

/* Both ends of a connection, and what the server's was told. */
struct pair {
    struct world *world;
    struct peer *peer;       /* NULL once it is closed */
    struct xs_io_conn *conn; /* NULL once it is closed */
    unsigned calls;          /* of on_ready */
    unsigned events;         /* all that was told */
    /* What to do in on_ready; may be NULL. */
    void (*act)(struct pair *pair, unsigned events);
    void *user; /* the rule's */
};

struct rule {
    const char *name; /* a sentence */
    void (*check)(struct world *world);
};

#define RULE(name)  \
    {               \
#name, name \
    }

/* The rules, each list ended by an empty one. */
extern const struct rule rules_abort[];
extern const struct rule rules_accept[];
extern const struct rule rules_aside[];
extern const struct rule rules_close[];
extern const struct rule rules_data[];
extern const struct rule rules_drive[];
extern const struct rule rules_file[];
extern const struct rule rules_file_response[];
extern const struct rule rules_post[];
extern const struct rule rules_ready[];
extern const struct rule rules_request[];
extern const struct rule rules_response[];
extern const struct rule rules_time[];
extern const struct rule rules_client[];
extern const struct rule rules_access[];

/* The worlds. */
extern const struct outside outside_guest;
extern const struct outside outside_sim;
extern const struct outside outside_sim_odd;
extern const struct outside outside_tcp4;
extern const struct outside outside_tcp6;
extern const struct outside outside_unix;

void world_open(struct world *world, const struct outside *outside,
                uint64_t seed);
void world_close(struct world *world);

/* One turn. */
void world_run(struct world *world, uint64_t timeout_ns);
/* Turns until `*flag` is not 0; fails if it never is. */
void world_until(struct world *world, const unsigned *flag);
/* Turns until `*count` is `least`. */
void world_until_is(struct world *world, const unsigned *count, unsigned least);
/* Turns until nothing more can be on its way: for what must not happen. */
void world_settle(struct world *world);

/* A connection, accepted; wants nothing. */
void pair_open(struct pair *pair, struct world *world);
/* Close what is open of both ends. */
void pair_close(struct pair *pair);
void pair_want(struct pair *pair, unsigned events);
/* Forget what was told. */
void pair_forget(struct pair *pair);
/* Turns until one of `events` was told. */
void pair_until(struct pair *pair, unsigned events);
/* The server's end is closed. */
void pair_close_conn(struct pair *pair, bool abort);
void pair_close_peer(struct pair *pair);

/* Move all `len` bytes, with turns as needed. */
void pair_send(struct pair *pair, const void *data, size_t len);
void pair_recv(struct pair *pair, void *data, size_t len);
void peer_send(struct pair *pair, const void *data, size_t len);
void peer_recv(struct pair *pair, void *data, size_t len);
/* What recv / read says when it does not say XS_EAGAIN any more. */
int64_t pair_recv_some(struct pair *pair, void *data, size_t len);
int64_t peer_recv_some(struct pair *pair, void *data, size_t len);
/* `len`, or a few of it where every byte takes its time. */
size_t world_bytes(const struct world *world, size_t len);
/* Write until nothing fits; the bytes taken. */
size_t pair_fill(struct pair *pair);

/* Byte `at` of a stream that never repeats itself soon. */
uint8_t pattern_at(size_t at);
void pattern_fill(uint8_t *data, size_t at, size_t len);
void pattern_check(const uint8_t *data, size_t at, size_t len);

#endif
