/* method.h - the methods that most requests have, as objects. */

#ifndef XS_EXT_METHOD_H
#define XS_EXT_METHOD_H

#include "core/base/slice.h"
#include "python/ext/python.h"

/* A tuple of interned str; the first is "GET". New; NULL with an exception
 * set. */
PyObject *ext_methods_new(void);

/* The one of them that is `method`. Borrowed; NULL without an exception: it is
 * none of them. */
PyObject *ext_methods_find(PyObject *methods, struct xs_slice method);

#endif
