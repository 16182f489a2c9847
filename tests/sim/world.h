/* world.h - a whole server in a simulation: clients, network, application.
 *
 *     tape ──▶ faults, limits, scripts ──▶ run ──▶ verdict, trace hash
 *
 * A run has two phases. First everything may go wrong that the tape wants to
 * go wrong. Then faults stop, clients read, applications go on, and all that
 * was begun has to end. The oracles (sim/oracle.h) look on at every step. */

#ifndef XS_TESTS_SIM_WORLD_H
#define XS_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/conn/server.h"
#include "core/drive.h"
#include "sim/app.h"
#include "sim/oracle.h"
#include "sim/peer.h"
#include "sim/sim.h"
#include "sim/sim_peer.h"
#include "sim/tape.h"

#define WORLD_CLIENTS_MAX 4u

/* A deadline may be late by the time that passes between callbacks. */
#define WORLD_LATE_MAX_NS (100 * XS_MS_NS)

/* A client's connection, as seen from outside the server. */
struct world_site {
    struct xs_sim_tap tap;    /* must be first */
    struct world *world;      /* borrowed */
    struct xs_sim_peer *peer; /* borrowed until the server has closed */
    struct xs_client *client; /* borrowed */
    struct xs_app_conn *conn; /* borrowed */
    uint64_t number;          /* of the connection, as in the trace */
    bool accepted;
    bool ended;          /* its stream has ended, as far as the server goes */
    bool eof;            /* the server has read the client's end */
    uint64_t recv_total; /* bytes that the server has read */
    uint64_t closed_ns;
    bool closed;       /* the server has closed it */
    bool expired;      /* a deadline of the server's has passed */
    bool refused;      /* the server has refused a request */
    unsigned told;     /* refusals that the server has told */
    bool refusal_due;  /* the access log shall hear of it */
    unsigned refusals; /* that it was told of */
    bool dead;         /* it was reset before the server closed */
    uint64_t conn_id;  /* the server's number; 0 until accepted */
    unsigned was;      /* an xs_conn_state: before it was closing */
    uint64_t here;     /* bytes that had arrived when it began to close */
    uint64_t head_ns;  /* when these last happened */
    uint64_t accept_ns;
    uint64_t recv_ns;
    uint64_t write_ns;
    uint64_t end_ns;
    size_t dropped;      /* bytes read behind the end of its stream */
    bool owed;           /* the client had not acknowledged all */
    uint64_t settled_ns; /* when it was seen to have done so */
};

struct world_result {
    struct xs_verdict verdict;
    uint64_t hash;
    uint64_t steps;  /* calls of `run` */
    uint64_t now_ns; /* virtual time at the end */
    uint64_t requests;
    uint64_t writevs;
    uint64_t faults; /* choices that were not benign */
    size_t mem_most;
};

/* What a run needs; kept from one to the next, all zero at first. */
struct world {
    struct xs_pattern pattern;
    struct xs_client clients[WORLD_CLIENTS_MAX];
    struct xs_app_conn conns[WORLD_CLIENTS_MAX];
    struct world_site sites[WORLD_CLIENTS_MAX];
    unsigned client_count;

    struct xs_tape *tape; /* borrowed */
    struct xs_drive *drive;
    struct xs_sim *sim;
    struct xs_server server;
    struct xs_server_config config;
    struct xs_app app;
    struct world_site *newest; /* borrowed: accepted last */
    struct xs_verdict verdict;
    uint64_t calm_ns; /* when the second phase begins */
    uint64_t stop_ns; /* when the server is told to stop; XS_NEVER: last */
    uint64_t grace_ns;
    uint64_t hurry_ns; /* when it is told to stop at once; XS_NEVER: not */
    uint64_t late_ns;  /* lateness of time so far: an excuse */
    bool calm;
    bool stopped;
    bool stopped_early; /* while clients were busy: an excuse */
    bool memory_fails;
    unsigned stops; /* times that it said so */
    bool misread;   /* `recv` may give less than there is */
    bool vague;     /* nobody can say what a client has acknowledged */
    uint64_t steps;
    uint64_t steps_max; /* XS_NEVER: as many as it takes */
};

/* What the first client says, instead of what would be drawn. */
struct world_words {
    struct xs_slice stream;      /* borrowed */
    const struct xs_plan *plans; /* borrowed */
    unsigned plan_count;
};

struct world_options {
    const struct world_words *words; /* borrowed; may be NULL */
    bool calm;                       /* no faults at all */
    bool memory_fails;               /* allocations may fail */
    unsigned steps_max; /* it is given up behind so many, without a verdict;
                         * 0: it is not */
    FILE *trace;        /* borrowed; may be NULL */
};

/* Run once with `tape`, which has been started. `options` may be NULL. */
void world_run(struct world *world, struct xs_tape *tape,
               const struct world_options *options,
               struct world_result *result);

/* Accepts a zeroed one. */
void world_fini(struct world *world);

/* world_check.c */
void world_tap(struct world_site *site);
void world_on_note(void *user, const char *what, uint64_t a, uint64_t b);
void world_on_access(void *user, const struct xs_access *access);
void world_on_conn_close(void *user, void *conn_user);
void world_on_refused(void *user, const struct xs_io_addr *peer,
                      enum xs_refusal why, bool answered);
/* After every step. */
void world_check_step(struct world *world);
__attribute__((format(printf, 3, 4))) void world_fault(struct world_site *site,
                                                       enum xs_oracle oracle,
                                                       const char *format, ...);

/* world_time.c */

/* The server says that a deadline is over. */
void world_expired(struct world_site *site, enum xs_deadline_kind kind);

/* world_idle.c */

/* Time is about to pass. */
void world_on_idle(void *user);
/* Also when it is closed: time may have passed in between. */
void world_check_linger(struct world_site *site);

/* world_stop.c */

void world_on_stopped(void *user);
/* The server says that its connection has moved: to an xs_conn_state. */
void world_moved(struct world_site *site, unsigned state);
/* It has ended a connection that is not dead. */
void world_check_lost(struct world_site *site);
/* The server stops, no request is at the application, and this one is still
 * there: the first request may come, or the rest of a head, for a short time.
 * With other requests at the application there is more of it for a head. */
void world_check_stopping(struct world_site *site, bool is_idle);

/* world_end.c */

/* All clients are done and the server has stopped. */
void world_check_end(struct world *world);
/* After the server is gone. */
void world_check_after(struct world *world);

#endif
