/* asgi_report.c - what the log says when an application ends badly.
 *
 *     what the application raised                    level   traceback
 *     anything                                       ERROR   yes
 *     ClientDisconnected, or a group of only that    DEBUG   no
 *     something because of it, by `raise` or `from`  INFO    no
 *
 * The second is what every streaming application does when its client leaves;
 * the third is what frameworks make of it, or a mistake in cleaning up. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

/* How far a chain of causes is followed. */
#define CHAIN_MAX 16

PyObject *asgi_raised_take(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type;
    PyObject *value;
    PyObject *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
#endif
}

static bool is_gone(const struct asgi_request *request, PyObject *exc)
{
    return PyObject_TypeCheck(exc,
                              (PyTypeObject *)request->asgi->disconnected) != 0;
}

/* `exc` is ClientDisconnected, or an exception group of nothing else. */
static bool is_only_gone(const struct asgi_request *request, PyObject *exc)
{
    PyObject *members;
    Py_ssize_t i;
    bool only;

    if (is_gone(request, exc)) {
        return true;
    }
    members = PyObject_GetAttrString(exc, "exceptions");
    if (members == NULL) {
        PyErr_Clear();
        return false;
    }
    only = PyTuple_Check(members) && PyTuple_GET_SIZE(members) > 0;
    for (i = 0; only && i < PyTuple_GET_SIZE(members); i++) {
        only = is_gone(request, PyTuple_GET_ITEM(members, i));
    }
    Py_DECREF(members);
    return only;
}

/* A ClientDisconnected is among the causes of `exc`. */
static bool is_from_gone(const struct asgi_request *request, PyObject *exc)
{
    bool found = false;
    unsigned steps;

    Py_INCREF(exc);
    for (steps = 0; steps < CHAIN_MAX && !found && exc != NULL; steps++) {
        PyObject *next = PyException_GetCause(exc);

        if (next == NULL) {
            next = PyException_GetContext(exc);
        }
        Py_DECREF(exc);
        exc = next;
        found = exc != NULL && is_only_gone(request, exc);
    }
    Py_XDECREF(exc);
    return found;
}

/* scope[key], or "?" where the application has taken it away. Borrowed or
 * static in effect: new reference. */
static PyObject *scope_text(const struct asgi_request *request, PyObject *key)
{
    PyObject *value = NULL;

    if (request->scope != NULL) {
        value = PyDict_GetItemWithError(request->scope, key);
    }
    if (value != NULL && PyBytes_Check(value)) {
        return PyUnicode_DecodeLatin1(PyBytes_AS_STRING(value),
                                      PyBytes_GET_SIZE(value), NULL);
    }
    if (value != NULL && PyUnicode_Check(value)) {
        Py_INCREF(value);
        return value;
    }
    PyErr_Clear();
    return PyUnicode_FromString("?");
}

/* logger.LEVEL("METHOD PATH: text", exc_info=exc); `exc` may be NULL. */
static int report_log(const struct asgi_request *request, const char *level,
                      PyObject *text, PyObject *exc)
{
    PyObject *logger = request->gateway->logger;
    PyObject *method = scope_text(request, request->asgi->str.method);
    PyObject *path = scope_text(request, request->asgi->str.raw_path);
    PyObject *log = PyObject_GetAttrString(logger, level);
    PyObject *args = NULL;
    PyObject *keywords = NULL;
    PyObject *result = NULL;

    if (method != NULL && path != NULL && log != NULL && text != NULL) {
        args = Py_BuildValue("(sOOO)", "%s %s: %s", method, path, text);
        keywords =
            exc == NULL ? PyDict_New() : Py_BuildValue("{sO}", "exc_info", exc);
    }
    if (args != NULL && keywords != NULL) {
        result = PyObject_Call(log, args, keywords);
    }
    Py_XDECREF(method);
    Py_XDECREF(path);
    Py_XDECREF(log);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

void asgi_report_raised(struct asgi_request *request)
{
    PyObject *exc = asgi_raised_take();
    PyObject *text;
    const char *level = "error";
    PyObject *info = exc;

    XS_ASSERT(exc != NULL);
    if (is_only_gone(request, exc)) {
        level = "debug";
        info = NULL;
        text = PyUnicode_FromString("the client left");
    } else if (is_from_gone(request, exc)) {
        level = "info";
        info = NULL;
        text = PyUnicode_FromFormat(
            "the client left, and the ASGI application raised %R", exc);
    } else {
        text = PyUnicode_FromString("the ASGI application raised an exception");
    }
    if (report_log(request, level, text, info) < 0) {
        PyErr_WriteUnraisable(exc);
    }
    Py_XDECREF(text);
    Py_DECREF(exc);
}

void asgi_report_incomplete(struct asgi_request *request)
{
    PyObject *text = PyUnicode_FromString(
        request->response == ASGI_RESPONSE_NONE
            ? "the ASGI application returned without a response"
            : "the ASGI application returned before its response was complete");

    if (report_log(request, "error", text, NULL) < 0) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(text);
}
