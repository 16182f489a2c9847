/* wsgi_report.c - what the log says when an application ends badly.
 *
 *     what the application raised          level   traceback
 *     anything                              ERROR   yes
 *     ClientDisconnected                    DEBUG   no
 *     something because of it, by `raise`   INFO    no
 *     or `from`
 *
 * The second is what every streaming application does when its client leaves;
 * the third is what frameworks make of it. */

#include "core/base/base.h"
#include "python/ext/wsgi_parts.h"

/* How far a chain of causes is followed. */
#define CHAIN_MAX 16

/* What is raised, cleared; a new reference with its traceback. */
static PyObject *raised_take(void)
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

static bool is_gone(const struct wsgi_request *request, PyObject *exc)
{
    return PyObject_IsInstance(exc, request->gateway->disconnected) == 1;
}

/* A ClientDisconnected is among the causes of `exc`. */
static bool is_from_gone(const struct wsgi_request *request, PyObject *exc)
{
    bool found = false;
    unsigned steps;

    Py_INCREF(exc);
    for (steps = 0; steps < CHAIN_MAX && !found && exc != NULL; steps++) {
        PyObject *next = PyException_GetCause(exc);

        if (next == NULL) {
            next = PyException_GetContext(exc);
        }
        Py_SETREF(exc, next);
        found = exc != NULL && is_gone(request, exc);
    }
    Py_XDECREF(exc);
    return found;
}

/* environ[key], or "?" where the application has taken it away. New. */
static PyObject *environ_text(const struct wsgi_request *request, PyObject *key)
{
    PyObject *value = NULL;

    if (request->environ != NULL) {
        value = PyDict_GetItemWithError(request->environ, key);
    }
    if (value != NULL && PyUnicode_Check(value)) {
        return Py_NewRef(value);
    }
    PyErr_Clear();
    return PyUnicode_FromString("?");
}

/* logger.LEVEL("METHOD TARGET: text", exc_info=exc); `exc` may be NULL. */
static int report_log(const struct wsgi_request *request, const char *level,
                      PyObject *text, PyObject *exc)
{
    const struct ext_wsgi *wsgi = request->gateway->wsgi;
    PyObject *method = environ_text(request, wsgi->str.request_method);
    PyObject *target = environ_text(request, wsgi->str.raw_uri);
    PyObject *log = PyObject_GetAttrString(request->gateway->logger, level);
    PyObject *args = NULL;
    PyObject *keywords = NULL;
    PyObject *result = NULL;

    if (method != NULL && target != NULL && log != NULL && text != NULL) {
        args = Py_BuildValue("(sOOO)", "%s %s: %s", method, target, text);
        keywords =
            exc == NULL ? PyDict_New() : Py_BuildValue("{sO}", "exc_info", exc);
    }
    if (args != NULL && keywords != NULL) {
        result = PyObject_Call(log, args, keywords);
    }
    Py_XDECREF(method);
    Py_XDECREF(target);
    Py_XDECREF(log);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

void wsgi_report_raised(struct wsgi_request *request, const char *what)
{
    PyObject *exc = raised_take();
    PyObject *text;
    int err;

    XS_ASSERT(exc != NULL);
    if (is_gone(request, exc)) {
        text = PyUnicode_FromString("the client left");
        err = report_log(request, "debug", text, NULL);
    } else if (is_from_gone(request, exc)) {
        text = PyUnicode_FromFormat("the client left, and %s: %R", what, exc);
        err = report_log(request, "info", text, NULL);
    } else {
        text = PyUnicode_FromString(what);
        err = report_log(request, "error", text, exc);
    }
    if (err < 0) {
        PyErr_WriteUnraisable(exc);
    }
    Py_XDECREF(text);
    Py_DECREF(exc);
}
