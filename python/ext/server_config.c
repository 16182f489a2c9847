/* server_config.c - the server's options, read from a Config.
 *
 * The names are those of xsgi.Config; what an object lacks has the core's
 * default, so that tests may give a namespace with the few that matter. */

#include <math.h>
#include <string.h>

#include "core/base/limits.h"
#include "python/ext/server.h"

/* The attribute as a new reference; NULL without an exception if it is not
 * there, with one if it fails. */
static PyObject *config_get(PyObject *config, const char *name)
{
    PyObject *value = PyObject_GetAttrString(config, name);

    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }
    return value;
}

/* Seconds; None is without limit. */
static int config_duration(PyObject *config, const char *name, uint64_t *out)
{
    PyObject *value = config_get(config, name);
    double seconds;

    if (value == NULL) {
        return PyErr_Occurred() != NULL ? -1 : 0;
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
    if (isnan(seconds) || seconds <= 0 || seconds > 1e9) {
        PyErr_Format(PyExc_ValueError, "%s must be above 0 seconds", name);
        return -1;
    }
    *out = (uint64_t)(seconds * 1e9);
    return 0;
}

/* A whole number from 0; None is `none`. */
static int config_number(PyObject *config, const char *name, uint64_t none,
                         uint64_t max, uint64_t *out)
{
    PyObject *value = config_get(config, name);
    unsigned long long number = none;

    if (value == NULL) {
        return PyErr_Occurred() != NULL ? -1 : 0;
    }
    if (value != Py_None) {
        number = PyLong_AsUnsignedLongLong(value);
    }
    Py_DECREF(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (number > max) {
        PyErr_Format(PyExc_ValueError, "%s is too large", name);
        return -1;
    }
    *out = number;
    return 0;
}

static int config_flag(PyObject *config, const char *name, bool *out)
{
    PyObject *value = config_get(config, name);
    int truth;

    if (value == NULL) {
        return PyErr_Occurred() != NULL ? -1 : 0;
    }
    truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    *out = truth > 0;
    return truth < 0 ? -1 : 0;
}

static int config_timeouts(PyObject *config, struct xs_limits *limits)
{
    uint64_t *timeout = limits->timeout_ns;

    return config_duration(config, "timeout_request_head",
                           &timeout[XS_DEADLINE_HEAD]) < 0 ||
                   config_duration(config, "timeout_request_body",
                                   &timeout[XS_DEADLINE_BODY]) < 0 ||
                   config_duration(config, "timeout_keep_alive",
                                   &timeout[XS_DEADLINE_KEEP_ALIVE]) < 0 ||
                   config_duration(config, "timeout_write",
                                   &timeout[XS_DEADLINE_WRITE]) < 0
               ? -1
               : 0;
}

static int config_limits(PyObject *config, struct xs_limits *limits)
{
    uint64_t line = limits->request_line_max;
    uint64_t field = limits->request_field_max;
    uint64_t fields = limits->request_fields_max;
    uint64_t connections = limits->connections_max;
    uint64_t requests = limits->requests_max;

    if (config_number(config, "limit_request_line", line, XS_RX_BLOCK, &line) <
            0 ||
        config_number(config, "limit_request_field_size", field, XS_RX_BLOCK,
                      &field) < 0 ||
        config_number(config, "limit_request_fields", fields, XS_FIELDS_MAX,
                      &fields) < 0 ||
        config_number(config, "limit_connections", 0, INT32_MAX, &connections) <
            0 ||
        config_number(config, "limit_concurrency", 0, INT32_MAX, &requests) <
            0 ||
        config_number(config, "limit_request_body", UINT64_MAX, UINT64_MAX,
                      &limits->request_body_max) < 0) {
        return -1;
    }
    if (fields == 0) {
        PyErr_SetString(PyExc_ValueError, "limit_request_fields is 0");
        return -1;
    }
    limits->request_line_max = line;
    limits->request_field_max = field;
    limits->request_fields_max = (unsigned)fields;
    limits->connections_max = (unsigned)connections;
    limits->requests_max = (unsigned)requests;
    return 0;
}

int ext_server_config(PyObject *config, struct xs_server_config *out)
{
    bool server_header = true;

    *out =
        (struct xs_server_config){.limits = xs_limits_default(), .date = true};
    if (config_timeouts(config, &out->limits) < 0 ||
        config_limits(config, &out->limits) < 0 ||
        config_flag(config, "date_header", &out->date) < 0 ||
        config_flag(config, "server_header", &server_header) < 0) {
        return -1;
    }
    if (server_header) {
        out->server_name = XS_LIT("xsgi");
    }
    return 0;
}
