/* asgi_types.c - what the module holds of the ASGI gateway. */

#include "python/ext/asgi_parts.h"

static int init_strings(struct ext_asgi *asgi)
{
    struct asgi_strings *str = &asgi->str;

    return true ASGI_STRINGS(EXT_STRING_INIT) ? 0 : -1;
}

int ext_asgi_init(struct ext_asgi *asgi, PyObject *module)
{
    asgi->module = module;
    if (init_strings(asgi) < 0 || asgi_request_init_type(module, asgi) < 0 ||
        asgi_await_init_type(module, asgi) < 0 ||
        asgi_runner_init_type(module, asgi) < 0) {
        return -1;
    }
    return 0;
}

int ext_asgi_traverse(struct ext_asgi *asgi, visitproc visit, void *arg)
{
    Py_VISIT(asgi->request_type);
    Py_VISIT(asgi->await_type);
    Py_VISIT(asgi->runner_type);
    Py_VISIT(asgi->lazy.type);
    Py_VISIT(asgi->lazy.enter);
    Py_VISIT(asgi->lazy.leave);
    Py_VISIT(asgi->cancelled);
    Py_VISIT(asgi->lazy.spare);
    return 0;
}

void ext_asgi_clear(struct ext_asgi *asgi)
{
    ext_spare_close(&asgi->spare_requests, asgi->request_type);
    ext_spare_close(&asgi->spare_awaits, asgi->await_type);
    ext_spare_close(&asgi->spare_runners, asgi->runner_type);
    Py_CLEAR(asgi->request_type);
    Py_CLEAR(asgi->await_type);
    Py_CLEAR(asgi->runner_type);
    Py_CLEAR(asgi->lazy.spare);
    Py_CLEAR(asgi->lazy.type);
    Py_CLEAR(asgi->lazy.enter);
    Py_CLEAR(asgi->lazy.leave);
    Py_CLEAR(asgi->lazy.name);
    Py_CLEAR(asgi->cancelled);
}

void ext_asgi_fini(struct ext_asgi *asgi)
{
    struct asgi_strings *str = &asgi->str;

    ext_asgi_clear(asgi);
    ASGI_STRINGS(EXT_STRING_FINI)
}
