/* abort.c - the reasons for which a request ends before its response. */

#include "core/gateway.h"

const char *xs_abort_word(enum xs_abort why)
{
    switch (why) {
#define X(name, word, text) \
    case name:              \
        return word;
        XS_ABORTS(X)
#undef X
    }
    XS_UNREACHABLE();
}

const char *xs_abort_text(enum xs_abort why)
{
    switch (why) {
#define X(name, word, text) \
    case name:              \
        return text;
        XS_ABORTS(X)
#undef X
    }
    XS_UNREACHABLE();
}
