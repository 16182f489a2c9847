/* oracle.h - what must hold in every simulation, and what did not. */

#ifndef XS_SIM_ORACLE_H
#define XS_SIM_ORACLE_H

#include <stdint.h>

#include "core/base/base.h"

#define XS_ORACLES(X)                                                     \
    X(O1, "bytes written are a prefix of the reference serialisation")    \
    X(O2, "what the application sees is what the client sent")            \
    X(O3, "a strict client can read every response")                      \
    X(O4, "a malformed request is refused, a legal one is not")           \
    X(O5, "a body that does not fit its length never misframes the next") \
    X(O6, "an error after the head is no second head")                    \
    X(O7, "no connection is closed over unsent bytes without a reason")   \
    X(O8, "connections live on and end as HTTP says")                     \
    X(O9, "what was begun ends, once faults have stopped")                \
    X(O10, "a connection lingers for who reads, and for nobody else")     \
    X(O11, "a gateway is called by the rules of gateway.h")               \
    X(O12, "an application hears of the client's end, and what is left")  \
    X(O13, "a write deadline is never early and never late")              \
    X(O14, "a read deadline is never early and never late")               \
    X(O17, "nothing is left at the end")                                  \
    X(O18, "all memory is given back, all that was lent is released")     \
    X(O19, "no loop is busy for nothing")                                 \
    X(O20, "memory is bounded")                                           \
    X(O21, "the same tape gives the same trace")                          \
    X(O22, "a stop serves who has asked, or has just connected")

enum xs_oracle {
    XS_ORACLE_NONE,
#define X(id, text) XS_ORACLE_##id,
    XS_ORACLES(X)
#undef X
};

/* The first thing that did not hold; the rest often follows from it. */
struct xs_verdict {
    enum xs_oracle oracle; /* XS_ORACLE_NONE: all is well */
    char text[240];
};

/* Both static. */
const char *xs_oracle_id(enum xs_oracle oracle);
const char *xs_oracle_text(enum xs_oracle oracle);

/* Something does not hold. Keeps the first. */
__attribute__((format(printf, 3, 4))) void xs_verdict_fail(
    struct xs_verdict *verdict, enum xs_oracle oracle, const char *format, ...);

#endif
