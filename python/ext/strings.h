/* strings.h - the interned strings of a gateway, by name.
 *
 *     #define FOO_STRINGS(X) X(type, "type") X(http, "http")
 *
 *     struct foo { struct { FOO_STRINGS(EXT_STRING_FIELD) } str; };
 *     if (true FOO_STRINGS(EXT_STRING_INIT)) ...    str is a pointer to them
 *     FOO_STRINGS(EXT_STRING_FINI) */

#ifndef XS_EXT_STRINGS_H
#define XS_EXT_STRINGS_H

#include "python/ext/python.h"

/* Owned; NULL until INIT. */
#define EXT_STRING_FIELD(name, text) PyObject *name;

/* False: an exception is set. */
#define EXT_STRING_INIT(name, text) \
    &&((str->name = PyUnicode_InternFromString(text)) != NULL)

/* Also of those that INIT did not come to. */
#define EXT_STRING_FINI(name, text) Py_CLEAR(str->name);

#endif
