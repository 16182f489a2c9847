/* fault.c - what llhttp complains about, in our terms. */

#include "core/http1/fault.h"

#include <llhttp.h>

#include "core/base/base.h"
#include "core/http1/chars.h"

bool xs_fault_is_foreign(unsigned method)
{
    return method >= HTTP_PRI && method <= HTTP_FLUSH;
}

/* The first byte of a TLS connection: a record of type handshake (RFC 8446
 * 5.1). */
#define TLS_HANDSHAKE 0x16

/* A token that is no method of llhttp's is one that we do not implement; what
 * is no token is no request at all. */
static enum xs_refusal fault_method(struct xs_slice bytes)
{
    XS_ASSERT(bytes.len > 0);
    if (bytes.data[0] == TLS_HANDSHAKE) {
        return XS_REFUSE_TLS;
    }
    if (bytes.len > 1 && bytes.data[bytes.len - 1] == ' ') {
        bytes.len--;
    }
    return xs_chars_all(bytes, XS_CHAR_TOKEN) ? XS_REFUSE_METHOD
                                              : XS_REFUSE_SYNTAX;
}

static enum xs_refusal fault_in_head(const struct xs_fault *fault)
{
    switch (fault->err) {
        case HPE_INVALID_METHOD:
            return fault_method(fault->bytes);
        case HPE_INVALID_URL:
            return XS_REFUSE_TARGET;
        case HPE_PAUSED_H2_UPGRADE:
            return XS_REFUSE_VERSION;
        default:
            break;
    }
    if (!fault->has_version) {
        if (fault->has_target && xs_fault_is_foreign(fault->method)) {
            return XS_REFUSE_METHOD;
        }
        /* Also HTTP/0.9, whose line ends behind the target: whatever is
         * wrong with what follows, that was wrong before. */
        return XS_REFUSE_SYNTAX;
    }
    switch (fault->err) {
        case HPE_INVALID_CONTENT_LENGTH:
        case HPE_UNEXPECTED_CONTENT_LENGTH:
            return (fault->flags & F_TRANSFER_ENCODING) != 0 ? XS_REFUSE_FRAMING
                                                             : XS_REFUSE_LENGTH;
        case HPE_INVALID_TRANSFER_ENCODING:
            return XS_REFUSE_FRAMING;
        case HPE_INVALID_CONSTANT:
        case HPE_INVALID_VERSION:
            return XS_REFUSE_SYNTAX;
        default:
            return XS_REFUSE_FIELD;
    }
}

enum xs_refusal xs_fault_refusal(const struct xs_fault *fault)
{
    XS_ASSERT(fault->err != HPE_OK);
    if (fault->in_head) {
        return fault_in_head(fault);
    }
    return (fault->flags & F_TRAILING) != 0 ? XS_REFUSE_FIELD : XS_REFUSE_CHUNK;
}
