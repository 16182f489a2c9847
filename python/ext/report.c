/* report.c - what the log says when an application ends badly. */

#include "python/ext/report.h"

#include <stdbool.h>

#include "core/base/base.h"
#include "python/ext/bridge.h"

/* How far a chain of causes is followed. */
#define CHAIN_MAX 16

PyObject *ext_raised_take(void)
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

static bool is_gone(const struct ext_report *report, PyObject *exc)
{
    return PyObject_TypeCheck(
               exc, (PyTypeObject *)report->gateway->disconnected) != 0;
}

/* `exc` is ClientDisconnected, or an exception group of nothing else. */
static bool is_only_gone(const struct ext_report *report, PyObject *exc)
{
    PyObject *members;
    Py_ssize_t i;
    bool only;

    if (is_gone(report, exc)) {
        return true;
    }
    members = PyObject_GetAttrString(exc, "exceptions");
    if (members == NULL) {
        PyErr_Clear();
        return false;
    }
    only = PyTuple_Check(members) && PyTuple_GET_SIZE(members) > 0;
    for (i = 0; only && i < PyTuple_GET_SIZE(members); i++) {
        only = is_gone(report, PyTuple_GET_ITEM(members, i));
    }
    Py_DECREF(members);
    return only;
}

/* A ClientDisconnected is among the causes of `exc`. */
static bool is_from_gone(const struct ext_report *report, PyObject *exc)
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
        found = exc != NULL && is_only_gone(report, exc);
    }
    Py_XDECREF(exc);
    return found;
}

/* about[key] as text, or "?". New. */
static PyObject *report_text(const struct ext_report *report, PyObject *key)
{
    PyObject *value = NULL;

    if (report->about != NULL) {
        value = PyDict_GetItemWithError(report->about, key);
        PyErr_Clear(); /* of a key that only looks like it */
    }
    if (value != NULL && PyBytes_Check(value)) {
        return PyUnicode_DecodeLatin1(PyBytes_AS_STRING(value),
                                      PyBytes_GET_SIZE(value), NULL);
    }
    if (value != NULL && PyUnicode_Check(value)) {
        return Py_NewRef(value);
    }
    return PyUnicode_FromString("?");
}

/* logger.LEVEL("METHOD TARGET: text", exc_info=exc). Takes `text`, which may
 * be NULL with an exception set; `exc` may be NULL. */
static void report_log(const struct ext_report *report, const char *level,
                       PyObject *text, PyObject *exc)
{
    PyObject *method = NULL;
    PyObject *target = NULL;
    PyObject *log = NULL;
    PyObject *args = NULL;
    PyObject *keywords = NULL;
    PyObject *result = NULL;

    if (text != NULL) {
        method = report_text(report, report->method_key);
        target = report_text(report, report->target_key);
        log = PyObject_GetAttrString(report->gateway->logger, level);
    }
    if (method != NULL && target != NULL && log != NULL) {
        args = Py_BuildValue("(sOOO)", "%s %s: %s", method, target, text);
        keywords =
            exc == NULL ? PyDict_New() : Py_BuildValue("{sO}", "exc_info", exc);
    }
    if (args != NULL && keywords != NULL) {
        result = PyObject_Call(log, args, keywords);
    }
    if (result == NULL) {
        ext_unraisable(exc);
    }
    Py_XDECREF(method);
    Py_XDECREF(target);
    Py_XDECREF(log);
    Py_XDECREF(text);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    Py_XDECREF(result);
}

void ext_report_raised(const struct ext_report *report, const char *what)
{
    PyObject *exc;

    if (PyErr_Occurred() == NULL) { /* a fault of somebody's C code */
        PyErr_SetString(PyExc_SystemError, "an error without an exception");
    }
    exc = ext_raised_take();
    if (exc == NULL) {
        return;
    }
    if (is_only_gone(report, exc)) {
        report_log(report, "debug", PyUnicode_FromString("the client left"),
                   NULL);
    } else if (is_from_gone(report, exc)) {
        report_log(
            report, "info",
            PyUnicode_FromFormat("the client left, and %s: %R", what, exc),
            NULL);
    } else {
        report_log(report, "error", PyUnicode_FromString(what), exc);
    }
    if (PyErr_GivenExceptionMatches(exc, PyExc_KeyboardInterrupt) != 0) {
        report->gateway->is_interrupted = true;
    }
    Py_DECREF(exc);
}

void ext_report_error(const struct ext_report *report, const char *what)
{
    report_log(report, "error", PyUnicode_FromString(what), NULL);
}
