/* weather.h - a server in the simulator, on days without faults of its own.
 *
 * The application says "hello" at once, unless a test has others. Nothing
 * happens but in `weather_turn` and `weather_wait`; the simulator counts the
 * calls that a backend would make of the system. */

#ifndef XS_TESTS_SIM_WEATHER_H
#define XS_TESTS_SIM_WEATHER_H

#include "core/base/deadline.h"
#include "core/conn/server.h"
#include "core/drive.h"
#include "sim/sim.h"
#include "sim/sim_peer.h"
#include "tests/testlib.h"

#define WEATHER_REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

struct weather {
    struct xs_gateway gateway; /* must be first */
    struct xs_tape tape;
    struct xs_drive *drive; /* owned */
    struct xs_sim *sim;     /* borrowed */
    struct xs_server server;

    /* Set by the test before `weather_open`; may be NULL. */
    const struct xs_gateway_ops *ops; /* static: its own application */
    const struct xs_sim_options *sim_options;
    const struct xs_server_events *events;
};

void weather_open(struct weather *weather);
/* All peers are closed; everything ends, and nothing is left. */
void weather_close(struct weather *weather);

/* The whole of an answer with "hello". */
void weather_hello(struct xs_gateway *gateway, struct xs_request *req);

struct xs_sim_peer *weather_connect(struct weather *weather);
/* The peer sends this, all at once. */
void weather_send(struct xs_sim_peer *peer, const char *text);
/* Take what has come and count the answers in it. */
unsigned weather_answers(struct xs_sim_peer *peer);

/* Each who is ready is told once. */
void weather_turn(struct weather *weather);
/* Turns until nothing more happens without time passing. */
void weather_settle(struct weather *weather);
/* Let so much time pass, and whatever happens in it. */
void weather_wait(struct weather *weather, uint64_t ns);

#endif
