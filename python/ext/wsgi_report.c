/* wsgi_report.c - what the log says of how a WSGI application ended. */

#include "python/ext/report.h"
#include "python/ext/wsgi_parts.h"

void wsgi_report_raised(struct wsgi_request *request, const char *what)
{
    const struct ext_wsgi *wsgi = request->gateway->wsgi;
    const struct ext_report report = {
        .gateway = &request->gateway->base,
        .about = request->environ,
        .method_key = wsgi->str.request_method,
        .target_key = wsgi->str.raw_uri,
    };

    ext_report_raised(&report, what);
}
