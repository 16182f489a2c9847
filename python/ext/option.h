/* option.h - what a configuration says.
 *
 * It is any object with attributes, a dict, or None, which has none. What is
 * not there has its default. None is a value: there is no such thing, or no
 * limit to it. */

#ifndef XS_EXT_OPTION_H
#define XS_EXT_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "python/ext/python.h"

/* 1 and config.name, or config["name"] of a dict, new. 0 and NULL: it is not
 * there. -1 and NULL with an exception set. */
int ext_option_find(PyObject **out, PyObject *config, const char *name);

/* The same; None if it is not there. New, NULL with an exception set. */
PyObject *ext_option(PyObject *config, const char *name);

/* The same as a str; "" if it is None. New. */
PyObject *ext_option_str(PyObject *config, const char *name);

/* The same as a number from 1 to `most`; 1 if it is None. -1 with an exception
 * set. */
int ext_option_count(long *out, PyObject *config, const char *name, long most);

/* The following leave the default in `*out` if the option is not there. -1
 * with an exception set. */

/* Seconds, as ns; None is XS_NEVER. */
int ext_option_ns(uint64_t *out, PyObject *config, const char *name);

/* A whole number from 0 to `most`; None is `none`. */
int ext_option_number(uint64_t *out, PyObject *config, const char *name,
                      uint64_t none, uint64_t most);

/* A truth. */
int ext_option_flag(bool *out, PyObject *config, const char *name);

#endif
