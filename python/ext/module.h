/* module.h - the extension's state and the list of its parts.
 *
 * One `struct ext_state` per interpreter. Each part is one file (or a family:
 * wsgi_*, asgi_*) that exports `int ext_init_PART(PyObject *module)`, creates
 * its heap types there and keeps them in its own struct inside the state. */

#ifndef XS_EXT_MODULE_H
#define XS_EXT_MODULE_H

#include "python/ext/python.h"

struct ext_state;

/* The state of `module`; borrowed. */
struct ext_state *ext_state_of(PyObject *module);

/* The parts, in the order in which they are made. 0, or -1 with an exception
 * set. */
int ext_init_names(PyObject *module);  /* interned strings, caches */
int ext_init_wsgi(PyObject *module);   /* WSGI types */
int ext_init_asgi(PyObject *module);   /* ASGI types */
int ext_init_loop(PyObject *module);   /* Selector */
int ext_init_server(PyObject *module); /* Server */

/* Set the Python exception for an XS_E… code, `what` in front of its text.
 * Always returns -1. GIL held. */
int ext_raise(int err, const char *what);

#endif
