/* module.h - what the parts of the extension ask of the module.
 *
 *     module.c          the parts, in the order in which they are made
 *     bridge.c          the GIL, and core errors as exceptions
 *     backend.c         Backend: a libuv or simulated backend, run from Python
 *     backend_enter.c   who may use it, and when
 *     backend_watch.c   descriptors that Python watches on it
 *     loop_turns.c      Turns: an asyncio loop's call_soon and turns, in C
 *     loop_calls.c      its call_soon, call_at, call_later
 *     loop_timers.c     its timers
 *     loop_handle.c     asyncio's handles
 *     server.c          Server: the core under one application
 *     server_close.c    its end
 *     server_config.c   its options, read from a Config
 *     server_refused.c  what the log says of refused requests
 *     server_access.c   the access log
 *     sim_peer.c        SimPeer: the other end of a simulated connection
 *     gateway.c         what both gateways are; gateway.h lists their parts
 *     wsgi_*, asgi_*    the gateways: see wsgi.h, asgi.h
 *
 * One `struct ext_state` per interpreter; no static object anywhere. */

#ifndef XS_EXT_MODULE_H
#define XS_EXT_MODULE_H

#include "python/ext/python.h"

struct ext_state;

/* The state of `module`; borrowed. */
struct ext_state *ext_state_of(PyObject *module);

/* The state of the module that made `type` or one it derives from; borrowed.
 * NULL with an exception set. */
struct ext_state *ext_state_of_type(PyTypeObject *type);

/* Its xsgi.ClientDisconnected; borrowed. */
PyObject *ext_disconnected(PyTypeObject *type);

/* Make a part's types and put them on the module. 0, or -1 with an exception
 * set. */
int ext_init_backend(PyObject *module);
int ext_init_server(PyObject *module);
int ext_init_sim_peer(PyObject *module);
int ext_init_turns(PyObject *module);

#endif
