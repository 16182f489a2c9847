/* answers.h - what a client has got, as text.
 *
 *     100
 *     200
 *       content-type: text/plain
 *       connection: close
 *     body hello
 *     closed
 *
 * A status line is its code alone; the fields follow as they came, but for
 * "date" and "server", which each head must have exactly once: they are there
 * if they are not the server's own. `body` is what came of the body, `cut`
 * says that it had to be more. At last `open`, `closed` or `reset`: what the
 * connection is. Written from RFC 9112 alone, like sim/oracle_client.h. */

#ifndef XS_TESTS_SIM_ANSWERS_H
#define XS_TESTS_SIM_ANSWERS_H

#include <stdbool.h>

#include "core/base/slice.h"
#include "tests/unit/text.h"

enum answers_end { ANSWERS_OPEN, ANSWERS_CLOSED, ANSWERS_RESET };

/* Where a client is in what it got. */
struct answers {
    struct text text;    /* owned */
    const bool *is_head; /* borrowed: of each request in order */
    unsigned count;      /* final answers so far */
    unsigned complete;   /* of which whole */
    unsigned last;       /* the status of the last */
    bool said_close;     /* the last one did */
};

/* Read all of `bytes` and how the connection is now. Appends to the text.
 * Fails the test for what no client could read. */
void answers_read(struct answers *answers, struct xs_slice bytes,
                  enum answers_end end);

#endif
