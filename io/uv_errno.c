/* uv_errno.c - what the system says, in the words of error.h. */

#include "io/uv_errno.h"

#include <errno.h>
#include <stdbool.h>

#include "core/base/base.h"
#include "core/base/error.h"

static bool errno_is_again(int err)
{
    return err == EAGAIN || err == EWOULDBLOCK;
}

/* The caller is wrong, not the world. */
static bool errno_is_ours(int err)
{
    return err == EBADF || err == EFAULT || err == ENOTSOCK;
}

int xs_uv_errno_recv(int err)
{
    XS_ASSERT(!errno_is_ours(err));
    /* ETIMEDOUT, EHOSTUNREACH and their like: nothing will come any more. */
    return errno_is_again(err) ? XS_EAGAIN : XS_ERESET;
}

int xs_uv_errno_send(int err)
{
    XS_ASSERT(!errno_is_ours(err));
    if (errno_is_again(err)) {
        return XS_EAGAIN;
    }
    return err == EPIPE ? XS_EPIPE : XS_ERESET;
}

int xs_uv_errno_sendfile(int err)
{
    switch (err) {
        case EPIPE:
        case ECONNRESET:
        case ECONNABORTED:
        case ENOTCONN:
        case ETIMEDOUT:
        case EHOSTUNREACH:
        case EHOSTDOWN:
        case ENETUNREACH:
        case ENETDOWN:
        case ENOBUFS:
        case ENOMEM:
            return xs_uv_errno_send(err);
        default:
            return errno_is_again(err) ? XS_EAGAIN : XS_EIO;
    }
}

int xs_uv_errno_accept(int err)
{
    XS_ASSERT(!errno_is_ours(err));
    if (errno_is_again(err)) {
        return XS_EAGAIN;
    }
    switch (err) {
        case EMFILE:
        case ENFILE:
            return XS_EMFILE;
        /* An error of the network that came before we asked (accept(2)). */
        case ECONNABORTED:
        case EINTR:
        case EPROTO:
        case EPERM:
        case ENOPROTOOPT:
        case ENETDOWN:
        case ENETUNREACH:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ETIMEDOUT:
            return XS_EABORTED;
        /* ENOBUFS, ENOMEM; and whatever else, which must not make us spin. */
        default:
            return XS_ENOMEM;
    }
}

int xs_uv_errno_listen(int err)
{
    switch (err) {
        case EADDRINUSE:
            return XS_EADDRINUSE;
        case EACCES:
        case EPERM:
            return XS_EACCESS;
        case EMFILE:
        case ENFILE:
            return XS_EMFILE;
        case ENOMEM:
        case ENOBUFS:
            return XS_ENOMEM;
        case EINVAL:
        case EBADF:
        case ENOTSOCK:
        case EOPNOTSUPP:
        case EADDRNOTAVAIL:
        case EAFNOSUPPORT:
        case EDESTADDRREQ:
            return XS_EINVALID;
        default:
            return XS_EIO;
    }
}

int xs_uv_errno_setup(int uv_err)
{
    switch (-uv_err) {
        case EMFILE:
        case ENFILE:
            return XS_EMFILE;
        case ENOMEM:
            return XS_ENOMEM;
        default:
            return XS_EIO;
    }
}
