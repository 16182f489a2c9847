/* option.c - what a configuration says. */

#include "python/ext/option.h"

PyObject *ext_option(PyObject *config, const char *name)
{
    PyObject *value;

    if (config == Py_None) {
        Py_RETURN_NONE;
    }
    value = PyDict_Check(config) ? PyMapping_GetItemString(config, name)
                                 : PyObject_GetAttrString(config, name);
    if (value == NULL && (PyErr_ExceptionMatches(PyExc_AttributeError) ||
                          PyErr_ExceptionMatches(PyExc_KeyError))) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return value;
}

PyObject *ext_option_str(PyObject *config, const char *name)
{
    PyObject *value = ext_option(config, name);

    if (value == Py_None) {
        Py_DECREF(value);
        return PyUnicode_FromString("");
    }
    if (value != NULL && !PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %.100s", name,
                     Py_TYPE(value)->tp_name);
        Py_CLEAR(value);
    }
    return value;
}

int ext_option_count(long *out, PyObject *config, const char *name, long most)
{
    PyObject *value = ext_option(config, name);
    long count = 1;

    if (value == NULL) {
        return -1;
    }
    if (value != Py_None) {
        count = PyLong_AsLong(value);
    }
    Py_DECREF(value);
    if (count == -1 && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (count < 1 || count > most) {
        PyErr_Format(PyExc_ValueError, "%s must be from 1 to %ld", name, most);
        return -1;
    }
    *out = count;
    return 0;
}
