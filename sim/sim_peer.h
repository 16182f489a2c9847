/* sim_peer.h - the client's end of a simulated connection, by hand.
 *
 * No script and no faults: who holds a peer says what it does and when. All
 * calls are made on the thread that runs the simulation, at any time, also
 * inside callbacks. What a call sets off happens in the next `run`; if the
 * weather is nice, without time passing.
 *
 *     struct xs_sim_peer *peer;
 *
 *     err = xs_sim_peer_open(sim, &peer, &listener->local);
 *     n = xs_sim_peer_write(peer, data, len);
 *     (void)drive->ops->run(drive, XS_NEVER);
 *     n = xs_sim_peer_read(peer, data, sizeof data);
 *     xs_sim_peer_close(peer); */

#ifndef XS_SIM_SIM_PEER_H
#define XS_SIM_SIM_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/io.h"
#include "sim/sim.h"

struct xs_sim_peer {
    struct xs_sim *sim;       /* borrowed */
    uint64_t id;              /* of the connection, from 1: as in the trace */
    struct xs_io_addr local;  /* this end, as the server sees it */
    struct xs_io_addr remote; /* the listener */

    /* Set by the holder; may be NULL. Something has changed: bytes have come,
     * there is room to write again, the stream has ended or was reset. Called
     * inside `run`, once for all that changed before. May close the peer. */
    void (*on_event)(struct xs_sim_peer *peer);
    void *user; /* the holder's */
};

/* Connect to the listener at `to`: it can be accepted from the next `run` on.
 * `*out` is the caller's until `xs_sim_peer_close`.
 *
 * Errors: XS_ERESET nobody listens there, XS_ENOMEM */
XS_MUST_CHECK int xs_sim_peer_open(struct xs_sim *sim, struct xs_sim_peer **out,
                                   const struct xs_io_addr *to);

/* Write as much as fits. The number of bytes, > 0 unless `len` is 0, or
 *   XS_EAGAIN  the send buffer is full
 *   XS_EPIPE, XS_ERESET  the server is gone, or our side was ended */
int64_t xs_sim_peer_write(struct xs_sim_peer *peer, const void *data,
                          size_t len);

/* Read what has arrived, at most `len` > 0 bytes. The number of bytes, 0 at
 * the end, or
 *   XS_EAGAIN  nothing is there now
 *   XS_ERESET  the connection was reset */
int64_t xs_sim_peer_read(struct xs_sim_peer *peer, void *data, size_t len);

/* Bytes that the server has written and that this end has not acknowledged. */
size_t xs_sim_peer_owed(const struct xs_sim_peer *peer);

/* Bytes that have arrived at the server, and that it has not read. */
size_t xs_sim_peer_unread(const struct xs_sim_peer *peer);

/* The server's stream has ended and all of it was read. */
bool xs_sim_peer_ended(const struct xs_sim_peer *peer);
/* This end was reset, whether or not that shows: behind the end of the
 * server's stream it does not. */
bool xs_sim_peer_is_dead(const struct xs_sim_peer *peer);
/* Bytes that had arrived and were not read when it was, and are lost. */
size_t xs_sim_peer_purged(const struct xs_sim_peer *peer);
/* What the server wants to be told: a set of xs_io_event. */
unsigned xs_sim_peer_wanted(const struct xs_sim_peer *peer);

/* End our side; reading goes on. */
void xs_sim_peer_shutdown(struct xs_sim_peer *peer);
/* Reset. The peer remains to be closed. */
void xs_sim_peer_reset(struct xs_sim_peer *peer);
/* End both sides; if something is unread that is a reset. `peer` is gone. */
void xs_sim_peer_close(struct xs_sim_peer *peer);

/* Nothing arrives any more in either direction, and nobody is told. */
void xs_sim_peer_vanish(struct xs_sim_peer *peer);

/* Who watches what the server does at its end. Set on a peer; survives
 * `xs_sim_peer_close`, until the server has closed too. Any member may be
 * NULL. None may call the simulation. */
struct xs_sim_tap {
    /* `accept` has given it to the server. */
    void (*accepted)(struct xs_sim_tap *tap);
    /* `recv` has given so many bytes; 0: the end of the stream. */
    void (*received)(struct xs_sim_tap *tap, size_t len);
    /* `writev` or `sendfile` has taken these bytes. */
    void (*wrote)(struct xs_sim_tap *tap, const uint8_t *data, size_t len);
    /* `sendfile` has said that this file ends or cannot be read. */
    void (*torn)(struct xs_sim_tap *tap, int file);
    /* `shutdown_wr`, or `close` without abort before any shutdown. */
    void (*ended)(struct xs_sim_tap *tap);
    /* `close`; `dead`: the connection had been reset before. The last call. */
    void (*closed)(struct xs_sim_tap *tap, bool abort, bool dead);
};

/* Lends `tap` until `closed`, or until the simulation is freed. */
void xs_sim_peer_tap(struct xs_sim_peer *peer, struct xs_sim_tap *tap);

#endif
