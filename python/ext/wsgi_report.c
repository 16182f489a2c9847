/* wsgi_report.c - what the log says of how a WSGI application ended. */

#include "core/base/base.h"
#include "python/ext/report.h"
#include "python/ext/wsgi_parts.h"

/* environ[key], or NULL where the application has taken it away. Borrowed. */
static PyObject *environ_value(const struct wsgi_request *request,
                               PyObject *key)
{
    PyObject *value;

    if (request->environ == NULL) {
        return NULL;
    }
    value = PyDict_GetItemWithError(request->environ, key);
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

void wsgi_report_raised(struct wsgi_request *request, const char *what)
{
    const struct ext_wsgi *wsgi = request->gateway->wsgi;
    PyObject *exc = ext_raised_take();
    struct ext_report report;

    XS_ASSERT(exc != NULL);
    report = (struct ext_report){
        .logger = request->gateway->logger,
        .disconnected = request->gateway->disconnected,
        .method = environ_value(request, wsgi->str.request_method),
        .target = environ_value(request, wsgi->str.raw_uri),
    };
    ext_report_raised(&report, exc, what);
    Py_DECREF(exc);
}
