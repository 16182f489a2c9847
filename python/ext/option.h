/* option.h - what a configuration says.
 *
 * It is any object with attributes, a dict, or None. */

#ifndef XS_EXT_OPTION_H
#define XS_EXT_OPTION_H

#include "python/ext/python.h"

/* config.name, or config["name"] of a dict; None if it is not there. New
 * reference, NULL with an exception set. */
PyObject *ext_option(PyObject *config, const char *name);

/* The same as a str; "" if it is None. New. */
PyObject *ext_option_str(PyObject *config, const char *name);

/* The same as a number from 1 to `most`; 1 if it is None. -1 with an exception
 * set. */
int ext_option_count(long *out, PyObject *config, const char *name, long most);

#endif
