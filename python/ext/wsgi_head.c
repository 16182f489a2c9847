/* wsgi_head.c - what start_response was given becomes a response head.
 *
 * On the loop's thread it goes to the core straight from the application's
 * strings. A worker may not touch the core; it asks a writer of its own, which
 * has the same rules, so that the application hears of its mistake inside the
 * call that made it. */

#include <string.h>

#include "core/base/base.h"
#include "core/base/mem.h"
#include "core/base/queue.h"
#include "core/http1/digits.h"
#include "core/http1/status.h"
#include "core/http1/writer.h"
#include "python/ext/bridge.h"
#include "python/ext/wsgi_parts.h"

/* Where the head goes. */
struct sink {
    struct xs_request *req; /* borrowed; NULL: to the writer */
    struct xs_mem mem;
    struct xs_queue queue;
    struct xs_writer writer;
};

static void sink_init(struct sink *sink, struct xs_request *req)
{
    sink->req = req;
    if (req == NULL) {
        sink->mem = xs_mem_libc();
        xs_queue_init(&sink->queue, &sink->mem);
        xs_writer_begin(&sink->writer, 1, false, true, xs_slice_of(NULL, 0));
    }
}

static void sink_fini(struct sink *sink)
{
    if (sink->req == NULL) {
        xs_queue_fini(&sink->queue);
    }
}

static int sink_start(struct sink *sink, unsigned status,
                      struct xs_slice reason)
{
    return sink->req != NULL
               ? xs_response_start(sink->req, status, reason)
               : xs_writer_start(&sink->writer, &sink->queue, status, reason);
}

static int sink_field(struct sink *sink, struct xs_slice name,
                      struct xs_slice value)
{
    return sink->req != NULL
               ? xs_response_header(sink->req, name, value)
               : xs_writer_header(&sink->writer, &sink->queue, name, value);
}

int wsgi_native(PyObject *text, const char *what, struct xs_slice *out)
{
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "the %s must be a str, not %.100s", what,
                     Py_TYPE(text)->tp_name);
        return -1;
    }
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text) < 0) {
        return -1;
    }
#endif
    if (PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND) {
        PyErr_Format(PyExc_ValueError,
                     "the %s has characters beyond latin-1: %R", what, text);
        return -1;
    }
    *out = xs_slice_of(PyUnicode_1BYTE_DATA(text),
                       (size_t)PyUnicode_GET_LENGTH(text));
    return 0;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* "200 OK", or "200" alone. */
static int give_status(struct sink *sink, PyObject *status,
                       struct wsgi_head_facts *facts)
{
    struct xs_slice text;
    struct xs_slice reason = {NULL, 0};
    unsigned code = 0;
    int err = XS_EINVALID;

    if (wsgi_native(status, "status", &text) < 0) {
        return -1;
    }
    if (text.len >= 3 && is_digit(text.data[0]) && is_digit(text.data[1]) &&
        is_digit(text.data[2]) && (text.len == 3 || text.data[3] == ' ')) {
        code = (text.data[0] - 48u) * 100u + (text.data[1] - 48u) * 10u +
               (text.data[2] - 48u);
        if (text.len > 4) {
            reason = xs_slice_of(text.data + 4, text.len - 4);
        }
        err = sink_start(sink, code, reason);
    }
    if (err == XS_EINVALID) {
        PyErr_Format(PyExc_ValueError,
                     "the status must be like \"200 OK\", from 200 to 999, "
                     "not %R",
                     status);
        return -1;
    }
    facts->is_bodiless = xs_status_is_bodiless(code);
    return err == 0 ? 0 : ext_raise(err, "start_response");
}

static int give_field(struct sink *sink, PyObject *field,
                      struct wsgi_head_facts *facts)
{
    struct xs_slice name;
    struct xs_slice value;
    int err;

    if (!PyTuple_Check(field) || PyTuple_GET_SIZE(field) != 2) {
        PyErr_Format(PyExc_TypeError,
                     "a header must be a tuple (name, value), not %R", field);
        return -1;
    }
    if (wsgi_native(PyTuple_GET_ITEM(field, 0), "name of a header", &name) <
            0 ||
        wsgi_native(PyTuple_GET_ITEM(field, 1), "value of a header", &value) <
            0) {
        return -1;
    }
    err = sink_field(sink, name, value);
    if (err == XS_EINVALID) {
        PyErr_Format(PyExc_ValueError, "not a legal header: %R: %s", field,
                     ext_field_rule(name));
        return -1;
    }
    if (err != 0) {
        return ext_raise(err, "start_response");
    }
    if (name.len == 14 && xs_slice_eq_lower(name, XS_LIT("content-length"))) {
        facts->has_length = xs_digits_get(value, &facts->length) == 0;
    }
    return 0;
}

static int give_fields(struct sink *sink, PyObject *fields,
                       struct wsgi_head_facts *facts)
{
    Py_ssize_t i;

    /* No code of the application runs in here: the size stays. */
    if (PyTuple_Check(fields)) {
        for (i = 0; i < PyTuple_GET_SIZE(fields); i++) {
            if (give_field(sink, PyTuple_GET_ITEM(fields, i), facts) < 0) {
                return -1;
            }
        }
        return 0;
    }
    if (!PyList_Check(fields)) {
        PyErr_Format(PyExc_TypeError,
                     "the headers must be a list of tuples, not %.100s",
                     Py_TYPE(fields)->tp_name);
        return -1;
    }
    for (i = 0; i < PyList_GET_SIZE(fields); i++) {
        if (give_field(sink, PyList_GET_ITEM(fields, i), facts) < 0) {
            return -1;
        }
    }
    return 0;
}

int wsgi_head_give(struct xs_request *req, PyObject *status, PyObject *fields,
                   struct wsgi_head_facts *facts)
{
    struct sink sink;
    int err;

    *facts = (struct wsgi_head_facts){0};
    sink_init(&sink, req);
    err = give_status(&sink, status, facts);
    if (err == 0) {
        err = give_fields(&sink, fields, facts);
    }
    sink_fini(&sink);
    return err;
}
