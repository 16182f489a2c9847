/* asgi_report.c - what the log says of how an ASGI application ended. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/report.h"

/* scope[key], or NULL where the application has taken it away. Borrowed. */
static PyObject *scope_value(const struct asgi_request *request, PyObject *key)
{
    PyObject *value;

    if (request->scope == NULL) {
        return NULL;
    }
    value = PyDict_GetItemWithError(request->scope, key);
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

/* Nothing may be raised: looking at the scope would clear it. */
static struct ext_report report_of(const struct asgi_request *request)
{
    return (struct ext_report){
        .logger = request->gateway->logger,
        .disconnected = request->asgi->disconnected,
        .method = scope_value(request, request->asgi->str.method),
        .target = scope_value(request, request->asgi->str.raw_path),
    };
}

void asgi_report_raised(struct asgi_request *request)
{
    PyObject *exc = ext_raised_take();
    struct ext_report report;

    XS_ASSERT(exc != NULL);
    report = report_of(request);
    ext_report_raised(&report, exc, "the ASGI application raised an exception");
    Py_DECREF(exc);
}

void asgi_report_incomplete(struct asgi_request *request)
{
    struct ext_report report = report_of(request);

    ext_report_error(
        &report,
        request->response == ASGI_RESPONSE_NONE
            ? "the ASGI application returned without a response"
            : "the ASGI application returned before its response was complete");
}
