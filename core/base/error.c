/* error.c - every error code of the core, once. */

#include "core/base/error.h"

const char *xs_error_text(int err)
{
    switch (err) {
#define X(name, value, text) \
    case name:               \
        return text;
        XS_ERRORS(X)
#undef X
        default:
            return err == 0 ? "ok" : "unknown error";
    }
}

const char *xs_error_name(int err)
{
    switch (err) {
#define X(name, value, text) \
    case name:               \
        return #name;
        XS_ERRORS(X)
#undef X
        default:
            return err == 0 ? "ok" : "unknown";
    }
}
