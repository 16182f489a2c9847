/* ways.h - the CPU time of a server beside that of itself, doing it in another
 * way.
 *
 *     parent: client, measures ──▶ child: the server
 *
 * A machine is noisy, and noise lasts: what is compared runs in turn, one batch
 * after the other, in an order that changes from round to round. Each round
 * gives a ratio; the median of those is shown, and the ratio of the best of all
 * rounds. What counts is the server's CPU time, that of the kernel for it
 * included. */

#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAYS_WAYS_MAX 8u
#define WAYS_ROUNDS_MAX 200u

/* One way: where it is asked for, and how. */
struct ways_one {
    int fd; /* a connection */
    const void *ask;
    size_t ask_len;
    size_t answer_len; /* bytes that come for one `ask` */
};

struct ways {
    pid_t server;
    unsigned rounds; /* at most WAYS_ROUNDS_MAX */
    unsigned asks;   /* in a batch */
    unsigned count;  /* ways; the first is the one that others are beside */
    struct ways_one all[WAYS_WAYS_MAX];
};

/* What came of one way. */
struct ways_result {
    double best_us; /* CPU for one answer */
    double best;    /* best_us over that of the first way */
    double median;  /* of the ratios of all rounds */
};

/* Measure; `out` has a place for each way. Ends the program if the server is
 * gone. */
void ways_measure(const struct ways *ways, struct ways_result *out);

/* A socket that listens: on any port of loopback, or with `is_unix` without a
 * name that anybody sees. -1 and errno. */
int ways_listen(int is_unix);

/* A connection to it. Ends the program if there is none. */
int ways_connect(int listener);

#endif
