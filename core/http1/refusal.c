/* refusal.c - every reason for which a request is refused. */

#include "core/http1/refusal.h"

#include "core/base/base.h"

unsigned xs_refusal_status(enum xs_refusal why)
{
    switch (why) {
        case XS_REFUSE_NOT:
            break;
#define X(name, status, rule, text) \
    case name:                      \
        return status;
            XS_REFUSALS(X)
#undef X
    }
    XS_UNREACHABLE();
}

const char *xs_refusal_rule(enum xs_refusal why)
{
    switch (why) {
        case XS_REFUSE_NOT:
            break;
#define X(name, status, rule, text) \
    case name:                      \
        return rule;
            XS_REFUSALS(X)
#undef X
    }
    XS_UNREACHABLE();
}

const char *xs_refusal_text(enum xs_refusal why)
{
    switch (why) {
        case XS_REFUSE_NOT:
            break;
#define X(name, status, rule, text) \
    case name:                      \
        return text;
            XS_REFUSALS(X)
#undef X
    }
    XS_UNREACHABLE();
}
