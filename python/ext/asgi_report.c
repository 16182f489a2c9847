/* asgi_report.c - what the log says of how an ASGI application ended. */

#include "python/ext/asgi_parts.h"
#include "python/ext/report.h"

static struct ext_report report_of(const struct asgi_request *request)
{
    return (struct ext_report){
        .gateway = &request->gateway->base,
        .about = request->scope,
        .method_key = request->asgi->str.method,
        .target_key = request->asgi->str.raw_path,
    };
}

void asgi_report_raised(struct asgi_request *request)
{
    struct ext_report report = report_of(request);

    ext_report_raised(&report, "the ASGI application raised an exception");
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
