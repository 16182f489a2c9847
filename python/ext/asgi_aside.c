/* asgi_aside.c - what a step of `send(message)` does with fields that are not
 * those of the head: early hints. */

#include "core/base/base.h"
#include "core/base/error.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/aside.h"

#define HINT "http.response.early_hint"

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
