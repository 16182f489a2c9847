/* asgi_aside.c - what a step of `send(message)` does with fields that are not
 * those of the head: early hints and trailers. */

#include "core/base/base.h"
#include "core/base/error.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/aside.h"

#define HINT "http.response.early_hint"
#define TRAILERS "http.response.trailers"

/* ---- http.response.early_hint ---- */

/* `link` as the next field. */
static int add_link(struct ext_aside *aside, PyObject *link)
{
    struct xs_field field = {.name = XS_LIT("link")};
    PyObject *bytes;

    if (ext_aside_room(aside, HINT) < 0) {
        return -1;
    }
    bytes = asgi_field_bytes(link);
    if (bytes == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         HINT
                         ": a link must be bytes, not "
                         "%.100s",
                         Py_TYPE(link)->tp_name);
        }
        return -1;
    }
    field.value =
        xs_slice_of(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    ext_aside_add(aside, &field, NULL, bytes);
    Py_DECREF(bytes);
    return 0;
}

static int add_links(struct ext_aside *aside, PyObject *links)
{
    PyObject *list =
        PySequence_Fast(links, HINT ": 'links' must be an iterable of bytes");
    Py_ssize_t i;
    int err = 0;

    if (list == NULL) {
        return -1;
    }
    for (i = 0; err == 0 && i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *link = Py_NewRef(PySequence_Fast_GET_ITEM(list, i));

        err = add_link(aside, link);
        Py_DECREF(link);
    }
    Py_DECREF(list);
    return err;
}

static int say_links(struct asgi_request *request,
                     const struct ext_aside *aside)
{
    int err;

    if (asgi_request_check_live(request) < 0) {
        return -1;
    }
    err = xs_response_hint(request->req, aside->fields, aside->count);
    if (err == XS_EGONE) {
        return asgi_request_raise_gone(request);
    }
    if (err == 0 || err == XS_EAGAIN) {
        return 0; /* somebody has filled the queue since: it is no hint now */
    }
    return ext_aside_raise(aside, err, HINT, xs_aside_may_hint, "");
}

PySendResult asgi_aside_hint(struct asgi_request *request, PyObject *message)
{
    PyObject *links;
    struct ext_aside aside;
    int err;

    if (xs_response_full(request->req)) {
        return PYGEN_NEXT;
    }
    links = PyDict_GetItemWithError(message, request->asgi->str.links);
    if (links == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, HINT ": 'links' is missing");
        }
        return PYGEN_ERROR;
    }
    Py_INCREF(links);
    ext_aside_init(&aside);
    err = add_links(&aside, links);
    Py_DECREF(links);
    if (err == 0) {
        err = say_links(request, &aside);
    }
    ext_aside_fini(&aside);
    return err < 0 ? PYGEN_ERROR : PYGEN_RETURN;
}

/* ---- http.response.trailers ---- */

/* `*part`, a new reference, as bytes; 0, or -1 with an exception set. */
static int trailer_part(PyObject **part, struct xs_slice *out)
{
    PyObject *bytes = asgi_field_bytes(*part);

    if (bytes == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         TRAILERS
                         ": header names and values must be bytes, not %.100s",
                         Py_TYPE(*part)->tp_name);
        }
        return -1;
    }
    Py_SETREF(*part, bytes);
    *out =
        xs_slice_of(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    return 0;
}

static int add_trailer(struct ext_aside *aside, PyObject *item)
{
    struct xs_field field;
    PyObject *parts[2];
    int err = -1;

    if (ext_aside_room(aside, TRAILERS) < 0 ||
        asgi_header_parts(item, parts, TRAILERS) < 0) {
        return -1;
    }
    if (trailer_part(&parts[0], &field.name) == 0 &&
        trailer_part(&parts[1], &field.value) == 0) {
        ext_aside_add(aside, &field, parts[0], parts[1]);
        err = 0;
    }
    Py_DECREF(parts[0]);
    Py_DECREF(parts[1]);
    return err;
}

static int add_trailers(struct ext_aside *aside, PyObject *headers)
{
    PyObject *list = PySequence_Fast(
        headers, TRAILERS ": 'headers' must be an iterable of pairs");
    Py_ssize_t i;
    int err = 0;

    if (list == NULL) {
        return -1;
    }
    for (i = 0; err == 0 && i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(list, i));

        err = add_trailer(aside, item);
        Py_DECREF(item);
    }
    Py_DECREF(list);
    return err;
}

static int say_trailers(struct asgi_request *request,
                        const struct ext_aside *aside, bool more)
{
    int err;

    if (asgi_request_check_live(request) < 0) {
        return -1;
    }
    err = xs_response_trailers(request->req, aside->fields, aside->count, more);
    if (err == XS_EGONE) {
        return asgi_request_raise_gone(request);
    }
    if (err != 0) {
        return ext_aside_raise(aside, err, TRAILERS, xs_aside_may_trail,
                               "may not be in a trailer (RFC 9110 6.5.1)");
    }
    if (!more) {
        request->response = ASGI_RESPONSE_ENDED;
        asgi_request_detach(request);
    }
    return 0;
}

PySendResult asgi_aside_trailers(struct asgi_request *request,
                                 PyObject *message)
{
    const struct ext_asgi *asgi = request->asgi;
    PyObject *headers = PyDict_GetItemWithError(message, asgi->str.headers);
    struct ext_aside aside;
    int more;
    int err = 0;

    if (headers == NULL && PyErr_Occurred()) {
        return PYGEN_ERROR;
    }
    ext_aside_init(&aside);
    if (headers != NULL) {
        Py_INCREF(headers);
        err = add_trailers(&aside, headers);
        Py_DECREF(headers);
    }
    if (err == 0) {
        more = asgi_message_flag(message, asgi->str.more_trailers);
        err = more < 0 ? -1 : say_trailers(request, &aside, more != 0);
    }
    ext_aside_fini(&aside);
    return err < 0 ? PYGEN_ERROR : PYGEN_RETURN;
}
