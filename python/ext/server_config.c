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

/* Any longer comes near what 64 bits of ns can count. */
#define SECONDS_MAX 1e9

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
    if (isnan(seconds) || seconds <= 0 || seconds > SECONDS_MAX) {
        PyErr_Format(PyExc_ValueError,
                     "%s must be above 0 and at most 1e9 seconds", name);
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
                                   &timeout[XS_DEADLINE_WRITE]) < 0 ||
                   config_duration(config, "timeout_linger",
                                   &timeout[XS_DEADLINE_LINGER]) < 0
               ? -1
               : 0;
}

/* Likewise, in what of `limits` is at most 32 bits wide. */
static int config_count(PyObject *config, const char *name, uint64_t none,
                        uint64_t max, unsigned *out)
{
    uint64_t number = *out;

    if (config_number(config, name, none, max, &number) < 0) {
        return -1;
    }
    *out = (unsigned)number;
    return 0;
}

static int config_size(PyObject *config, const char *name, uint64_t max,
                       size_t *out)
{
    uint64_t number = *out;

    if (config_number(config, name, max, max, &number) < 0) {
        return -1;
    }
    *out = number;
    return 0;
}

/* What bounds one request. */
static int config_request_limits(PyObject *config, struct xs_limits *limits)
{
    if (config_size(config, "limit_request_line", XS_RX_BLOCK,
                    &limits->request_line_max) < 0 ||
        config_size(config, "limit_request_field_size", XS_RX_BLOCK,
                    &limits->request_field_max) < 0 ||
        config_size(config, "limit_request_head", XS_RX_BLOCK,
                    &limits->request_head_max) < 0 ||
        config_size(config, "limit_request_trailer", INT32_MAX,
                    &limits->request_trailer_max) < 0 ||
        config_size(config, "limit_chunk_extensions", INT32_MAX,
                    &limits->chunk_extra_max) < 0 ||
        config_number(config, "limit_request_body", UINT64_MAX, UINT64_MAX,
                      &limits->request_body_max) < 0 ||
        config_count(config, "limit_request_fields", XS_FIELDS_MAX,
                     XS_FIELDS_MAX, &limits->request_fields_max) < 0) {
        return -1;
    }
    if (limits->request_fields_max == 0) {
        PyErr_SetString(PyExc_ValueError, "limit_request_fields is 0");
        return -1;
    }
    return 0;
}

/* What bounds how many there are. */
static int config_limits(PyObject *config, struct xs_limits *limits)
{
    return config_request_limits(config, limits) < 0 ||
                   config_count(config, "limit_keep_alive_requests", 0,
                                INT32_MAX, &limits->keep_alive_max) < 0 ||
                   config_count(config, "limit_connections", 0, INT32_MAX,
                                &limits->connections_max) < 0 ||
                   config_count(config, "limit_concurrency", 0, INT32_MAX,
                                &limits->requests_max) < 0
               ? -1
               : 0;
}

/* What bounds the bytes that wait for clients. */
static int config_write_limits(PyObject *config, struct xs_limits *limits)
{
    if (config_size(config, "limit_write_buffer", INT32_MAX, &limits->tx_high) <
            0 ||
        config_size(config, "limit_write_backlog", SIZE_MAX,
                    &limits->backlog_max) < 0) {
        return -1;
    }
    if (limits->tx_high == 0) {
        PyErr_SetString(PyExc_ValueError, "limit_write_buffer is 0");
        return -1;
    }
    limits->tx_low = limits->tx_high / 4;
    return 0;
}

int ext_server_config(PyObject *config, struct xs_server_config *out)
{
    bool server_header = true;

    *out =
        (struct xs_server_config){.limits = xs_limits_default(), .date = true};
    if (config_timeouts(config, &out->limits) < 0 ||
        config_limits(config, &out->limits) < 0 ||
        config_write_limits(config, &out->limits) < 0 ||
        config_flag(config, "date_header", &out->date) < 0 ||
        config_flag(config, "server_header", &server_header) < 0) {
        return -1;
    }
    if (server_header) {
        out->server_name = XS_LIT("xsgi");
    }
    return 0;
}

int ext_server_hosts(PyObject *config, char **out, struct xs_slice *hosts)
{
    PyObject *names = config_get(config, "allowed_hosts");
    PyObject *comma = PyUnicode_FromString(",");
    PyObject *list = NULL;
    const char *text;
    Py_ssize_t len = 0;
    int err = -1;

    *out = NULL;
    *hosts = (struct xs_slice){NULL, 0};
    if (names == NULL && PyErr_Occurred() == NULL) {
        err = 0; /* all */
    } else if (names != NULL && comma != NULL) {
        list = PyUnicode_Join(comma, names);
    }
    text = list != NULL ? PyUnicode_AsUTF8AndSize(list, &len) : NULL;
    if (text != NULL) {
        *out = PyMem_Malloc((size_t)len + 1);
        if (*out != NULL) {
            memcpy(*out, text, (size_t)len + 1);
            *hosts = xs_slice_of(*out, (size_t)len);
            err = 0;
        } else {
            (void)PyErr_NoMemory();
        }
    }
    Py_XDECREF(list);
    Py_XDECREF(comma);
    Py_XDECREF(names);
    return err;
}
