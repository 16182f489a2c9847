/* method.c - the methods that most requests have, as objects. */

#include "python/ext/method.h"

#include <string.h>

#include "core/base/base.h"

static const char *const method_names[] = {
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"};

PyObject *ext_methods_new(void)
{
    PyObject *methods = PyTuple_New((Py_ssize_t)XS_COUNT_OF(method_names));
    size_t i;

    for (i = 0; methods != NULL && i < XS_COUNT_OF(method_names); i++) {
        PyObject *name = PyUnicode_InternFromString(method_names[i]);

        if (name == NULL) {
            Py_CLEAR(methods);
        } else {
            PyTuple_SET_ITEM(methods, (Py_ssize_t)i, name);
        }
    }
    return methods;
}

PyObject *ext_methods_find(PyObject *methods, struct xs_slice method)
{
    Py_ssize_t i;

    for (i = 0; i < PyTuple_GET_SIZE(methods); i++) {
        PyObject *name = PyTuple_GET_ITEM(methods, i);

        if ((size_t)PyUnicode_GET_LENGTH(name) == method.len &&
            memcmp(PyUnicode_1BYTE_DATA(name), method.data, method.len) == 0) {
            return name;
        }
    }
    return NULL;
}
