/* trial.h - one or two answers on one connection, and all that can befall them.
 *
 *     shape: a client's words, an application's words     (trial_shapes.c)
 *     plan:  how often the sink may pause, whether the application pauses, how
 *            many failures there are
 *     tape:  which of it happens, and when
 *
 * A trial is the whole core on a sink (sink.h). Whatever the tape says, it is
 * looked at step by step (trial_check.c): what the sink has taken is a prefix
 * of the reference serialisation (sim/model.h), nothing waits that could go,
 * the application hears what it waits for, and there is one end.
 *
 * One event follows the other: more of the requests comes, the application goes
 * on, the sink takes more again. Where two can happen either may be the first.
 * With a failure left, before any of them the client may end its side or reset
 * or so much time pass that a deadline ends; before each word the application
 * may fail, at each write the client may be found gone, a file turn out to be
 * too short or not readable, and an allocation fail. */

#ifndef XS_TESTS_SIM_TRIAL_H
#define XS_TESTS_SIM_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/conn/server.h"
#include "core/gateway.h"
#include "sim/bytes.h"
#include "sim/model.h"
#include "sim/oracle.h"
#include "sim/tape.h"
#include "tests/sim/sink.h"

#define TRIAL_WORDS_MAX 24u
#define TRIAL_CALLS_MAX 2u

/* A request body, and what a long piece is: it is lent and not copied. */
#define TRIAL_REQUEST_BODY "xy"
#define TRIAL_LENT ((size_t)16 * 1024 + 1)

/* What a client sends, and what the application says, a letter a word:
 *
 *   r          the request's body is read
 *   h          a hint
 *   s n        start: 200, 204
 *   l c t      Content-Length, Connection: close, trailers are expected
 *   0 1 2 3    a piece of so many bytes; L of TRIAL_LENT
 *   x          a trailer
 *   .          no word: the piece or trailer before it is the last
 *   f          a flush
 *   F          no word: from here on the pieces are ranges of a file
 *   /          the next request */
struct trial_shape {
    const char *name;    /* static */
    const char *request; /* borrowed; what is behind a '|' comes by itself */
    const char *script;  /* borrowed */
};

struct trial_plan {
    const char *name; /* static */
    unsigned cuts;    /* writes that take less than all */
    bool cut_far;     /* anywhere; else see SINK_EDGE */
    bool tail;        /* only behind the last head, */
    bool between;     /* and not before a byte */
    unsigned pauses;  /* the application's */
    unsigned kills;   /* failures */
    size_t tail_max;  /* the longest tail that it is for; 0: any */
    size_t whole_max; /* likewise the most bytes */
};

/* One word of an application. */
struct trial_word {
    char what;  /* a letter of the script; 'p': a piece */
    bool last;  /* nothing of its kind follows */
    bool file;  /* its bytes are in one */
    size_t len; /* of the piece */
};

/* A request at the application. */
struct trial_call {
    struct xs_request *req; /* borrowed until `over` */
    const struct trial_word *words;
    unsigned word_count;
    unsigned at;
    size_t body_len; /* of the response: what it will have said */
    size_t sent;     /* of it */
    size_t got;      /* of the request's body */
    bool body_end;   /* it has been read, or there is none */
    bool paused;
    bool resumed; /* the next word comes without a pause */
    bool wait_body;
    bool continued;  /* "100 Continue" was, or was not, said */
    bool wait_drain; /* and waits for it */
    bool was_full;   /* on_drain is due */
    bool gone;       /* on_abort is due */
    bool eof;        /* on_eof has come */
    bool over;
};

/* What a run is about, and how far it is. */
struct trial_run {
    struct trial_call calls[TRIAL_CALLS_MAX];
    unsigned count; /* requests that came */
    unsigned segment;
    unsigned pauses; /* that may yet be made */
    unsigned lent;
    unsigned released;
    unsigned closes;
    bool last;        /* no further request may come */
    bool spoilt;      /* an answer was broken off: a reset is right */
    bool torn;        /* and that because of its file */
    unsigned expired; /* deadlines that have ended: bits of xs_deadline_kind */
};

/* All zero at first; kept from run to run. */
struct trial {
    struct xs_gateway gateway; /* must be first */
    struct xs_sim_tap tap;
    struct sink sink;
    struct xs_server server;
    struct xs_model model;
    struct xs_pattern pattern;
    struct xs_verdict verdict;
    FILE *trace; /* borrowed; may be NULL */

    /* The shape, read. */
    const char *request;
    struct xs_slice segments[2 * TRIAL_CALLS_MAX]; /* borrowed */
    unsigned segment_count;
    struct trial_word words[TRIAL_CALLS_MAX][TRIAL_WORDS_MAX];
    unsigned word_counts[TRIAL_CALLS_MAX];
    unsigned call_count;
    unsigned minor;
    bool is_head;
    bool keeps; /* the client would have the connection live on */
    bool te;
    bool expects;          /* it has a body, and waits for our word */
    struct xs_bytes heard; /* owned: all bytes, if nothing befalls */
    size_t tail_at;        /* where in them the last head ends */
    bool measures;         /* they are taken down */

    struct trial_plan plan;
    struct trial_run run;
};

/* All of the plans that are gone through for each shape, and the shapes. */
extern const struct trial_plan trial_plans[];
extern const unsigned trial_plan_count;
extern const struct trial_shape trial_shapes[];
extern const unsigned trial_shape_count;

void trial_init(struct trial *trial);
void trial_fini(struct trial *trial);

/* Read a shape, which is borrowed, and go through it once without a fault. */
void trial_take(struct trial *trial, const struct trial_shape *shape,
                const struct trial_plan *plan);

/* One run with the tape, which has been started. What did not hold, if
 * anything, is in `trial->verdict`. */
void trial_run(struct trial *trial, struct xs_tape *tape);

/* All runs of a shape under a plan; the number of those. Stops at the first
 * that fails: the tape has it. */
uint64_t trial_explore(struct trial *trial, struct xs_tape *tape);

/* One run whose shape and plan are drawn, of longer answers. */
void trial_run_drawn(struct trial *trial, struct xs_tape *tape);

/* trial_shapes.c */

void trial_read(struct trial *trial, const struct trial_shape *shape);
/* Draw a shape and a plan. */
void trial_draw(struct trial *trial, struct xs_tape *tape);

/* trial_app.c */

extern const struct xs_gateway_ops trial_app;

/* The call that has not ended, or NULL. */
struct trial_call *trial_call(struct trial *trial);
/* It was paused. */
void trial_app_resume(struct trial *trial);
/* As xs_sim_options.read. */
int64_t trial_app_read(void *user, int file, uint64_t offset, uint8_t *data,
                       size_t len);

/* trial_check.c */

/* Set the tap. */
void trial_watch(struct trial *trial);
void trial_on_note(void *user, const char *what, uint64_t b);
void trial_on_refused(void *user, const struct xs_io_addr *peer,
                      enum xs_refusal why, bool answered);
/* The server would block. */
void trial_check(struct trial *trial);
/* Nothing more can happen; and the connection is closed. */
void trial_check_rest(struct trial *trial);
void trial_check_end(struct trial *trial);
__attribute__((format(printf, 3, 4))) void trial_fault(struct trial *trial,
                                                       enum xs_oracle oracle,
                                                       const char *format, ...);
/* A line of the trace. */
__attribute__((format(printf, 2, 3))) void trial_say(struct trial *trial,
                                                     const char *format, ...);

#endif
