/* fault.h - what llhttp complains about, in our terms. */

#ifndef XS_HTTP1_FAULT_H
#define XS_HTTP1_FAULT_H

#include <stdbool.h>

#include "core/base/slice.h"
#include "core/http1/refusal.h"

/* Where the parser was when llhttp stopped. */
struct xs_fault {
    int err;               /* an llhttp_errno */
    unsigned flags;        /* llhttp_flags that are set */
    unsigned method;       /* an llhttp_method, once the target has begun */
    bool in_head;          /* else in a chunked body */
    bool has_target;       /* the target has begun */
    bool has_version;      /* the version has begun */
    struct xs_slice bytes; /* of the message up to where llhttp stopped, that
                            * byte too; only while the target has not begun */
};

/* llhttp takes methods of other protocols, too: those of RTSP and HTTP/2's
 * PRI. */
bool xs_fault_is_foreign(unsigned method);

/* Why the request is refused; never XS_REFUSE_NOT. It depends on the bytes and
 * not on how they were cut, but for what is wrong twice: too long and ill. */
enum xs_refusal xs_fault_refusal(const struct xs_fault *fault);

#endif
