/* app.h - a scripted application: a gateway whose behaviour is drawn.
 *
 * For each request it draws when to read the body, how to frame the answer,
 * in which pieces and with which pauses to give it, whether to fail, to break
 * a rule, or never to go on (until the second phase). Meanwhile it checks that
 * the core keeps the rules of gateway.h, and tells the model (model.h) what it
 * has said. */

#ifndef XS_SIM_APP_H
#define XS_SIM_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/gateway.h"
#include "sim/model.h"
#include "sim/oracle.h"
#include "sim/peer.h"
#include "sim/sim.h"

enum xs_app_reading {
    XS_APP_READS_FIRST, /* all of the body, then answers */
    XS_APP_READS_LAST,  /* before the last piece of the answer */
    XS_APP_READS_SOME,  /* a part of what is there, and no more */
    XS_APP_READS_NOTHING,
};

enum xs_app_wrong {
    XS_APP_WRONG_NOT,
    XS_APP_WRONG_SHORT,       /* less than its Content-Length */
    XS_APP_WRONG_LONG,        /* more */
    XS_APP_WRONG_EARLY_BODY,  /* a body before the start */
    XS_APP_WRONG_LATE_FIELD,  /* a field behind the head */
    XS_APP_WRONG_FIELD,       /* fields that are none */
    XS_APP_WRONG_START_TWICE, /* legal: drops the head given before */
    XS_APP_WRONG_LATE_HINT,   /* a hint behind the start */
    XS_APP_WRONG_COUNT
};

/* Which pieces are ranges of a file. */
enum xs_app_files {
    XS_APP_FILES_NONE,
    XS_APP_FILES_ALL,
    XS_APP_FILES_SOME, /* every second one */
};

/* Where in its file a response body begins: beyond what fits in 32 bits. */
#define XS_APP_FILE_AT ((uint64_t)5 << 32)

/* Drawn when the request comes. */
struct xs_app_script {
    enum xs_app_reading reading;
    bool nibble; /* takes only a part of what is there at a time */
    unsigned status;
    bool declared; /* gives Content-Length */
    bool close;    /* gives Connection: close */
    unsigned fields;
    unsigned odd;           /* a field with a meaning of its own; or 0 */
    struct xs_slice reason; /* static; may be empty */
    uint32_t body_seed;
    size_t body_len;
    size_t piece_max;
    bool end_apart; /* the last call has no bytes */
    bool empties;   /* empty pieces in between */
    bool lend;
    enum xs_app_files files;
    bool flush;
    bool pushy; /* goes on when it is full */
    uint64_t pace_ns;
    unsigned fail_at; /* the step, from 1; 0: never */
    unsigned hang_at;
    unsigned hints_early; /* before the body is read */
    unsigned hints_late;  /* before the response */
    unsigned hint_fields;
    bool trailing;
    unsigned trailers; /* calls before the last one */
    enum xs_app_wrong wrong;
};

enum xs_app_phase {
    XS_APP_READ,
    XS_APP_HINT, /* before it, and before START */
    XS_APP_HINT_LATE,
    XS_APP_START,
    XS_APP_BODY,
    XS_APP_READ_LATE,
    XS_APP_END,
    XS_APP_TRAILERS,
    XS_APP_OVER, /* the request has ended: nothing may come */
};

struct xs_app_call {
    struct xs_app *app;         /* borrowed */
    struct xs_app_conn *conn;   /* borrowed */
    struct xs_request *req;     /* borrowed until OVER */
    const struct xs_plan *plan; /* borrowed */
    struct xs_app_script script;
    enum xs_app_phase phase;
    unsigned step;
    unsigned hints; /* said in this phase */
    unsigned trailers;
    size_t got;  /* of the request body */
    size_t sent; /* of the response body */
    bool body_end;
    bool continued;  /* "100 Continue" was, or was not, said */
    bool wait_body;  /* on_body is due */
    bool wait_drain; /* on_drain is due, and we wait for it */
    bool was_full;   /* on_drain is due */
    bool gone;       /* XS_EGONE: on_abort is due */
    bool eof;        /* on_eof has come */
    bool hangs;
    unsigned files; /* ranges of its file that are lent */
    bool finished;  /* the whole response was accepted */
    bool failed;
    bool aborted;
    enum xs_abort why;
    uint64_t wait_ns; /* when it last began to wait for the body */
    struct xs_sim_timer timer;
};

/* What the application side knows of a connection. */
struct xs_app_conn {
    struct xs_client *client; /* borrowed */
    struct xs_model model;    /* owned */
    struct xs_app_call calls[XS_PLANS_MAX];
    unsigned count;    /* requests that came */
    unsigned accesses; /* lines for the access log */
    unsigned closes;   /* times that conn_user was given back */
    bool last;         /* no further request may come */
    bool spoilt;       /* an answer was broken off: a reset is right */
    bool torn;         /* and that because of its file */
    unsigned torn_at;  /* the number of that request */
    uint64_t ended_ns; /* when the last request ended */
};

struct xs_app {
    struct xs_gateway base;           /* must be first */
    struct xs_sim *sim;               /* borrowed */
    const struct xs_pattern *pattern; /* borrowed */
    struct xs_verdict *verdict;       /* borrowed */
    struct xs_app_conn *conns;        /* borrowed */
    unsigned conn_count;
    bool calm;               /* second phase */
    bool stopping;           /* the server was told to stop */
    bool kills;              /* the network may end connections */
    bool memory_fails;       /* calls may say XS_ENOMEM */
    bool sheds;              /* slow clients may be dropped */
    uint64_t body_max;       /* a longer request body is not let through */
    unsigned keep_alive_max; /* requests of a connection; 0: no limit */
    uint64_t lent;           /* pieces given by reference */
    uint64_t released;
};

void xs_app_init(struct xs_app *app, struct xs_sim *sim,
                 const struct xs_pattern *pattern, struct xs_verdict *verdict);

/* `conns` are the app's to look up its clients in; each has its client and
 * model set. */
void xs_app_conns(struct xs_app *app, struct xs_app_conn *conns,
                  unsigned count);

/* A file that a call has lent, as xs_sim_options.read has it. */
int64_t xs_app_read(const struct xs_app *app, int file, uint64_t offset,
                    uint8_t *data, size_t len);
/* It is known to have ended early, or not to be readable: so is the answer. */
void xs_app_tear(struct xs_app *app, int file);

/* Second phase: nothing hangs, nothing pauses. */
void xs_app_calm(struct xs_app *app);

/* The time of day in seconds. */
uint64_t xs_app_wall(const struct xs_app *app);

/* Inside the application only: app.c and app_*.c. */

/* As far as the script goes without having to wait. */
void xs_app_go_on(struct xs_app_call *call);
/* The file of its response. */
int xs_app_file(const struct xs_app_call *call);
/* The request has ended. */
void xs_app_over(struct xs_app_call *call);
void xs_app_fault(struct xs_app_call *call, enum xs_oracle oracle,
                  const char *what);
/* Say the next hint of this phase, or go on to the next phase. False if it has
 * to wait. */
bool xs_app_hint(struct xs_app_call *call);
/* Say the next trailers. False if they were not taken. */
bool xs_app_trailers(struct xs_app_call *call);
/* Break the rule about hints, if that is drawn. */
void xs_app_hint_late(struct xs_app_call *call);
void xs_app_draw(struct xs_app_script *script, struct xs_tape *tape,
                 unsigned number);

#endif
