/* server_config.c - the server's options, read from a Config.
 *
 * The names are those of xsgi.Config; what an object lacks has the core's
 * default, so that tests may give a namespace with the few that matter. */

#include <string.h>

#include "core/base/limits.h"
#include "python/ext/option.h"
#include "python/ext/server.h"

static int config_timeouts(PyObject *config, struct xs_limits *limits)
{
    uint64_t *timeout = limits->timeout_ns;

    return ext_option_ns(&timeout[XS_DEADLINE_HEAD], config,
                         "timeout_request_head") < 0 ||
                   ext_option_ns(&timeout[XS_DEADLINE_BODY], config,
                                 "timeout_request_body") < 0 ||
                   ext_option_ns(&timeout[XS_DEADLINE_KEEP_ALIVE], config,
                                 "timeout_keep_alive") < 0 ||
                   ext_option_ns(&timeout[XS_DEADLINE_WRITE], config,
                                 "timeout_write") < 0 ||
                   ext_option_ns(&timeout[XS_DEADLINE_LINGER], config,
                                 "timeout_linger") < 0
               ? -1
               : 0;
}

/* ext_option_number, for what of `limits` is narrower. */
static int config_count(unsigned *out, PyObject *config, const char *name,
                        uint64_t none, uint64_t most)
{
    uint64_t number = *out;

    if (ext_option_number(&number, config, name, none, most) < 0) {
        return -1;
    }
    *out = (unsigned)number;
    return 0;
}

static int config_size(size_t *out, PyObject *config, const char *name,
                       uint64_t most)
{
    uint64_t number = *out;

    if (ext_option_number(&number, config, name, most, most) < 0) {
        return -1;
    }
    *out = number;
    return 0;
}

/* What bounds one request. */
static int config_request_limits(PyObject *config, struct xs_limits *limits)
{
    if (config_size(&limits->request_line_max, config, "limit_request_line",
                    XS_RX_BLOCK) < 0 ||
        config_size(&limits->request_field_max, config,
                    "limit_request_field_size", XS_RX_BLOCK) < 0 ||
        config_size(&limits->request_head_max, config, "limit_request_head",
                    XS_RX_BLOCK) < 0 ||
        config_size(&limits->request_trailer_max, config,
                    "limit_request_trailer", INT32_MAX) < 0 ||
        config_size(&limits->chunk_extra_max, config, "limit_chunk_extensions",
                    INT32_MAX) < 0 ||
        ext_option_number(&limits->request_body_max, config,
                          "limit_request_body", UINT64_MAX, UINT64_MAX) < 0 ||
        config_count(&limits->request_fields_max, config,
                     "limit_request_fields", XS_FIELDS_MAX,
                     XS_FIELDS_MAX) < 0) {
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
                   config_count(&limits->keep_alive_max, config,
                                "limit_keep_alive_requests", 0,
                                INT32_MAX) < 0 ||
                   config_count(&limits->connections_max, config,
                                "limit_connections", 0, INT32_MAX) < 0 ||
                   config_count(&limits->requests_max, config,
                                "limit_concurrency", 0, INT32_MAX) < 0
               ? -1
               : 0;
}

/* What bounds the bytes that wait for clients. */
static int config_write_limits(PyObject *config, struct xs_limits *limits)
{
    if (config_size(&limits->tx_high, config, "limit_write_buffer", INT32_MAX) <
            0 ||
        config_size(&limits->backlog_max, config, "limit_write_backlog",
                    SIZE_MAX) < 0) {
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
        ext_option_flag(&out->date, config, "date_header") < 0 ||
        ext_option_flag(&server_header, config, "server_header") < 0) {
        return -1;
    }
    if (server_header) {
        out->server_name = XS_LIT("xsgi");
    }
    return 0;
}

int ext_server_hosts(PyObject *config, char **out, struct xs_slice *hosts)
{
    PyObject *names = ext_option(config, "allowed_hosts");
    PyObject *comma = PyUnicode_FromString(",");
    PyObject *list = NULL;
    const char *text;
    Py_ssize_t len = 0;
    int err = -1;

    *out = NULL;
    *hosts = (struct xs_slice){NULL, 0};
    if (names == Py_None && comma != NULL) {
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
