/* play.h - a script being played in a world. */

#ifndef XS_TESTS_CONTRACT_PLAY_H
#define XS_TESTS_CONTRACT_PLAY_H

#include "tests/contract/contract.h"
#include "tests/contract/script.h"

/* One direction of a connection, for checking its bytes. */
struct flow {
    size_t sent;
    size_t got;
};

struct play {
    struct world world;
    struct pair pairs[2]; /* c and s, d and t */
    struct flow up[2];    /* what the clients send */
    struct flow down[2];  /* what the server writes */
    int file;             /* what it sends; 0: none yet */
    size_t file_len;
};

/* A world of that kind, with one client connected and accepted. */
void play_open(struct play *play, const struct outside *outside, uint64_t seed);
void play_close(struct play *play);

/* Play one step when all that is on its way has arrived; the answer, static.
 * NULL: there is no such step. */
const char *play_step(struct play *play, struct step *step);

#endif
