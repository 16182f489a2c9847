/* oracle.c - what must hold in every simulation, and what did not. */

#include "sim/oracle.h"

#include <stdarg.h>
#include <stdio.h>

const char *xs_oracle_id(enum xs_oracle oracle)
{
    switch (oracle) {
        case XS_ORACLE_NONE:
            return "ok";
#define X(id, text)      \
    case XS_ORACLE_##id: \
        return #id;
            XS_ORACLES(X)
#undef X
    }
    XS_UNREACHABLE();
}

const char *xs_oracle_text(enum xs_oracle oracle)
{
    switch (oracle) {
        case XS_ORACLE_NONE:
            return "all is well";
#define X(id, text)      \
    case XS_ORACLE_##id: \
        return text;
            XS_ORACLES(X)
#undef X
    }
    XS_UNREACHABLE();
}

void xs_verdict_fail(struct xs_verdict *verdict, enum xs_oracle oracle,
                     const char *format, ...)
{
    va_list args;

    if (verdict->oracle != XS_ORACLE_NONE) {
        return;
    }
    verdict->oracle = oracle;
    va_start(args, format);
    (void)vsnprintf(verdict->text, sizeof verdict->text, format, args);
    va_end(args);
}
