/* asgi_receive.c - what a step of `receive()` does.
 *
 * ASGI "Request - receive event" and "Disconnect - receive event": the body
 * in as many messages as it comes in, then, when the response is complete or
 * the client has gone, http.disconnect, as often as asked. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

/* {"type": `type`}. */
static PyObject *message_new(const struct ext_asgi *asgi, PyObject *type)
{
    PyObject *message = PyDict_New();

    if (message != NULL && PyDict_SetItem(message, asgi->str.type, type) < 0) {
        Py_CLEAR(message);
    }
    return message;
}

/* An http.request message; takes `body`, which may be NULL (no memory). */
static PyObject *message_body(const struct ext_asgi *asgi, PyObject *body,
                              bool more)
{
    PyObject *message =
        body == NULL ? NULL : message_new(asgi, asgi->str.http_request);

    if (message != NULL && (PyDict_SetItem(message, asgi->str.body, body) < 0 ||
                            PyDict_SetItem(message, asgi->str.more_body,
                                           more ? Py_True : Py_False) < 0)) {
        Py_CLEAR(message);
    }
    Py_XDECREF(body);
    return message;
}

/* Take what is there of the body, in one copy. */
static PySendResult receive_body(struct asgi_request *request,
                                 PyObject **result)
{
    struct xs_slice bytes = {NULL, 0};
    bool last = true;
    enum xs_body body = xs_request_body(request->req, &bytes, &last);

    if (body == XS_BODY_WAIT) {
        return PYGEN_NEXT;
    }
    if (body == XS_BODY_END) {
        bytes.len = 0;
        last = true;
    }
    *result = message_body(request->asgi,
                           PyBytes_FromStringAndSize((const char *)bytes.data,
                                                     (Py_ssize_t)bytes.len),
                           !last);
    if (*result == NULL) {
        return PYGEN_ERROR; /* nothing was taken: it may be tried again */
    }
    if (body == XS_BODY_DATA) {
        xs_request_body_consume(request->req, bytes.len);
    }
    request->body_taken = last;
    return PYGEN_RETURN;
}

PySendResult asgi_receive_step(struct asgi_await *await, PyObject **result)
{
    struct asgi_request *request = await->request;

    if (request->req != NULL && !request->body_taken) {
        return receive_body(request, result);
    }
    if (request->req != NULL && !request->at_eof) {
        return PYGEN_NEXT;
    }
    *result = message_new(request->asgi, request->asgi->str.http_disconnect);
    request->told = true;
    return *result == NULL ? PYGEN_ERROR : PYGEN_RETURN;
}
