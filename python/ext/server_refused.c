/* server_refused.c - what the log says of refused requests.
 *
 * Each is a line, since each is an attack or somebody's broken client. But who
 * is refused decides how often, and must not fill the log: in one second there
 * are so many lines, the rest is counted, and the count is a line itself, with
 * the next refusal or at the server's end. That nobody can come in, since there
 * are no descriptors, is a line now and then. */

#include <stdio.h>
#include <sys/resource.h>

#include "core/base/error.h"
#include "python/ext/bridge.h"
#include "python/ext/server.h"

#define SECOND_NS UINT64_C(1000000000)

/* Takes what a call of the logger gave. */
static void refused_logged(struct ext_server *server, PyObject *result)
{
    if (result == NULL) {
        ext_unraisable(server->logger);
    }
    Py_XDECREF(result);
}

/* The line of one refusal. */
static void refused_say(struct ext_server *server,
                        const struct xs_io_addr *peer, enum xs_refusal why,
                        bool answered)
{
    const char *format = answered ? "%s refused with %d (%s): %s"
                                  : "%s refused, too late for %d (%s): %s";
    char who[XS_IO_HOST_MAX + 16] = "unix";

    if (!peer->is_unix) {
        (void)snprintf(who, sizeof who, "%s:%u", peer->host,
                       (unsigned)peer->port);
    }
    refused_logged(server, PyObject_CallMethod(
                               server->logger, "warning", "ssIss", format, who,
                               xs_refusal_status(why), xs_refusal_rule(why),
                               xs_refusal_text(why)));
}

void ext_refused_end(struct ext_server *server)
{
    struct ext_refused *refused = &server->refused;
    unsigned long long unsaid = refused->unsaid;

    if (unsaid > 0) {
        refused->unsaid = 0;
        refused_logged(
            server,
            PyObject_CallMethod(server->logger, "warning", "sK",
                                unsaid == 1 ? "%d more request was refused"
                                            : "%d more requests were refused",
                                unsaid));
    }
}

void ext_refused_add(struct ext_server *server, const struct xs_io_addr *peer,
                     enum xs_refusal why, bool answered)
{
    struct ext_refused *refused = &server->refused;
    struct xs_io *io = server->backend->drive->io;
    uint64_t now = io->ops->now(io);

    if (now >= refused->until) {
        ext_refused_end(server);
        refused->until = now + SECOND_NS;
        refused->lines = 0;
    }
    if (refused->lines < EXT_REFUSED_LINES) {
        refused->lines++;
        refused_say(server, peer, why, answered);
    } else {
        refused->unsaid++;
    }
}

void ext_refused_all(struct ext_server *server, int err)
{
    struct ext_refused *refused = &server->refused;
    struct xs_io *io = server->backend->drive->io;
    uint64_t now = io->ops->now(io);
    struct rlimit files = {0};
    char limit[64] = "";

    if (now < refused->all_until) {
        return;
    }
    refused->all_until = now + EXT_REFUSED_ALL_NS;
    if (err == XS_EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0) {
        (void)snprintf(limit, sizeof limit, " (ulimit -n is %llu)",
                       (unsigned long long)files.rlim_cur);
    }
    refused_logged(
        server, PyObject_CallMethod(
                    server->logger, "warning", "sIss",
                    "new clients wait (open connections: %d): %s%s",
                    server->core.stats.connections, xs_error_text(err), limit));
}
