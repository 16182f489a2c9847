/* option.c - what a configuration says. */

#include "python/ext/option.h"

#include <math.h>

#include "core/base/deadline.h"

/* Any longer comes near what 64 bits of ns can count. */
#define SECONDS_MAX 1e9

int ext_option_find(PyObject **out, PyObject *config, const char *name)
{
    *out = NULL;
    if (config == Py_None) {
        return 0;
    }
    *out = PyDict_Check(config) ? PyMapping_GetItemString(config, name)
                                : PyObject_GetAttrString(config, name);
    if (*out != NULL) {
        return 1;
    }
    if (PyErr_ExceptionMatches(PyExc_AttributeError) ||
        PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        return 0;
    }
    return -1;
}

PyObject *ext_option(PyObject *config, const char *name)
{
    PyObject *value;
    int found = ext_option_find(&value, config, name);

    return found == 0 ? Py_NewRef(Py_None) : value;
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

int ext_option_ns(uint64_t *out, PyObject *config, const char *name)
{
    PyObject *value;
    int found = ext_option_find(&value, config, name);
    double seconds;

    if (found <= 0) {
        return found;
    }
    if (value == Py_None) {
        Py_DECREF(value);
        *out = XS_NEVER;
        return 0;
    }
    seconds = PyFloat_AsDouble(value);
    Py_DECREF(value);
    if (seconds == -1.0 && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (isnan(seconds) || seconds <= 0 || seconds > SECONDS_MAX) {
        PyErr_Format(PyExc_ValueError,
                     "%s must be above 0 and at most 1e9 seconds", name);
        return -1;
    }
    *out = (uint64_t)(seconds * 1e9);
    return 0;
}

int ext_option_number(uint64_t *out, PyObject *config, const char *name,
                      uint64_t none, uint64_t most)
{
    PyObject *value;
    int found = ext_option_find(&value, config, name);
    unsigned long long number = none;

    if (found <= 0) {
        return found;
    }
    if (value != Py_None) {
        number = PyLong_AsUnsignedLongLong(value);
    }
    Py_DECREF(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (number > most) {
        PyErr_Format(PyExc_ValueError, "%s is too large", name);
        return -1;
    }
    *out = number;
    return 0;
}

int ext_option_flag(bool *out, PyObject *config, const char *name)
{
    PyObject *value;
    int found = ext_option_find(&value, config, name);
    int truth;

    if (found <= 0) {
        return found;
    }
    truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    *out = truth > 0;
    return truth < 0 ? -1 : 0;
}
