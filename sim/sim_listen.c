/* sim_listen.c - simulated listeners. */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_types.h"

#define LISTEN_PORT_FIRST 32768u

static struct sim_listener *sim_listener_of(struct xs_io_listener *base)
{
    XS_ASSERT(base->io->ops->unlisten == sim_unlisten);
    return xs_container_of(base, struct sim_listener, base);
}

struct sim_listener *sim_listener_find(struct xs_sim *sim,
                                       const struct xs_io_addr *at)
{
    for (struct xs_list *link = sim->listeners.next; link != &sim->listeners;
         link = link->next) {
        struct sim_listener *listener =
            xs_container_of(link, struct sim_listener, all);

        if (listener->base.local.port == at->port &&
            strcmp(listener->base.local.host, at->host) == 0) {
            return listener;
        }
    }
    return NULL;
}

static bool listen_is_numeric(const char *host)
{
    uint8_t scratch[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, scratch) == 1 ||
           inet_pton(AF_INET6, host, scratch) == 1;
}

/* The address to listen at. There are no descriptors here to take over. */
static int listen_where(struct xs_sim *sim, struct xs_io_addr *local,
                        const struct xs_io_spec *spec)
{
    size_t len;

    memset(local, 0, sizeof *local);
    if (spec->fd >= 0 || spec->host == NULL || !listen_is_numeric(spec->host)) {
        return XS_EINVALID;
    }
    len = strlen(spec->host);
    XS_ASSERT(len < sizeof local->host);
    memcpy(local->host, spec->host, len);
    local->port = spec->port;
    for (unsigned port = LISTEN_PORT_FIRST;
         spec->port == 0 && port <= UINT16_MAX; port++) {
        local->port = (uint16_t)port;
        if (sim_listener_find(sim, local) == NULL) {
            break;
        }
    }
    return sim_listener_find(sim, local) == NULL ? 0 : XS_EADDRINUSE;
}

int sim_listen(struct xs_io *io, struct xs_io_listener **out,
               const struct xs_io_spec *spec)
{
    struct xs_sim *sim = sim_of_io(io);
    struct xs_io_addr local;
    struct sim_listener *listener;
    int err = listen_where(sim, &local, spec);

    if (err != 0) {
        return err;
    }
    listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        return XS_ENOMEM;
    }
    listener->base.io = io;
    listener->base.local = local;
    listener->want = true;
    listener->waiting_max =
        spec->backlog > 0 ? (unsigned)spec->backlog : SIM_BACKLOG;
    xs_list_init(&listener->backlog);
    xs_list_append(&sim->listeners, &listener->all);
    sim_event(sim, 0, "listen", local.port, 0);
    *out = &listener->base;
    return 0;
}

static void listener_take(struct sim_listener *listener, struct sim_link *link)
{
    xs_list_remove(&link->waiting);
    listener->waiting--;
}

/* The client's connection is refused after it was made. */
static void listener_refuse(struct sim_listener *listener,
                            struct sim_link *link)
{
    listener_take(listener, link);
    sim_end_close(&link->server, true);
}

static int listener_accept(struct sim_listener *listener,
                           struct xs_io_conn **out)
{
    struct xs_sim *sim = sim_of_io(listener->base.io);
    struct sim_link *link;
    struct sim_conn *conn;

    if (listener->waiting == 0) {
        return XS_EAGAIN;
    }
    if (sim_fault(sim, XS_LABEL_ACCEPT_MFILE)) {
        return XS_EMFILE;
    }
    link = xs_container_of(listener->backlog.next, struct sim_link, waiting);
    if (sim_fault(sim, XS_LABEL_ACCEPT_ABORTED)) {
        listener_refuse(listener, link);
        return XS_EABORTED;
    }
    conn = sim_conn_new(link);
    if (conn == NULL) {
        return XS_ENOMEM;
    }
    listener_take(listener, link);
    if (link->tap != NULL && link->tap->accepted != NULL) {
        link->tap->accepted(link->tap);
    }
    *out = &conn->base;
    return 0;
}

int sim_accept(struct xs_io_listener *base, struct xs_io_conn **out)
{
    struct sim_listener *listener = sim_listener_of(base);
    struct xs_sim *sim = sim_of_io(base->io);
    int err = listener_accept(listener, out);

    if (err != XS_EAGAIN) {
        sim_progress(sim);
    }
    sim_event(sim, err == 0 ? sim_conn_id(*out) : 0, "accept",
              listener->waiting, (uint64_t)err);
    return err;
}

void sim_accept_want(struct xs_io_listener *base, bool want)
{
    struct sim_listener *listener = sim_listener_of(base);

    if (listener->want != want) {
        listener->want = want;
        sim_event(sim_of_io(base->io), 0, "accept_want", want, 0);
        sim_kick(sim_of_io(base->io));
    }
}

void sim_unlisten(struct xs_io_listener *base)
{
    struct sim_listener *listener = sim_listener_of(base);
    struct xs_sim *sim = sim_of_io(base->io);

    sim_event(sim, 0, "unlisten", base->local.port, listener->waiting);
    while (!xs_list_empty(&listener->backlog)) {
        listener_refuse(listener, xs_container_of(listener->backlog.next,
                                                  struct sim_link, waiting));
    }
    if (sim->listening == &listener->all) {
        sim->listening = listener->all.next;
    }
    xs_list_remove(&listener->all);
    free(listener);
}

bool sim_listener_tell(struct sim_listener *listener)
{
    struct xs_sim *sim = sim_of_io(listener->base.io);

    if (!listener->want || listener->waiting == 0) {
        return false;
    }
    sim_enter(sim);
    sim_event(sim, 0, "listener.ready", listener->waiting, 0);
    XS_ASSERT(listener->base.on_ready != NULL);
    listener->base.on_ready(&listener->base);
    sim_leave(sim);
    return true;
}
