/* error.h - every error code of the core, once.
 *
 * Functions that can fail return 0 or one of these, all negative. Backends map
 * what their operating system says to this list, so the core sees the same
 * codes everywhere. */

#ifndef XS_BASE_ERROR_H
#define XS_BASE_ERROR_H

#define XS_ERRORS(X)                                                  \
    X(XS_EAGAIN, -1, "not now, try again when told")                  \
    X(XS_ENOMEM, -2, "out of memory")                                 \
    X(XS_ELIMIT, -3, "a limit is reached")                            \
    X(XS_ERESET, -4, "connection reset by the peer")                  \
    X(XS_EPIPE, -5, "the peer reads no more")                         \
    X(XS_EMFILE, -6, "no descriptors left")                           \
    X(XS_EABORTED, -7, "the connection ended before it was accepted") \
    X(XS_EADDRINUSE, -8, "address already in use")                    \
    X(XS_EACCESS, -9, "permission denied")                            \
    X(XS_EINVALID, -10, "not a legal value")                          \
    X(XS_ESTATE, -11, "not allowed in this state")                    \
    X(XS_EGONE, -12, "the client is gone")                            \
    X(XS_ELENGTH, -13, "the body does not match its Content-Length")  \
    X(XS_ESYNTAX, -14, "not valid syntax")                            \
    X(XS_EUNKNOWN, -15, "the system does not say")                    \
    X(XS_EIO, -16, "input or output failed")

enum xs_error {
#define X(name, value, text) name = (value),
    XS_ERRORS(X)
#undef X
};

/* The text of `err`, static. Any other value gives "unknown error". */
const char *xs_error_text(int err);

/* The name of `err` ("XS_EAGAIN"), static. 0 gives "ok". */
const char *xs_error_name(int err);

#endif
