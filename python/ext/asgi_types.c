/* asgi_types.c - what the module holds of the ASGI gateway. */

#include "python/ext/asgi_parts.h"

PyDoc_STRVAR(disconnected_doc,
             "The client has gone: the response cannot reach it any more.\n"
             "\n"
             "Raised by ``await send(message)``. An application may let it "
             "escape.");

static int init_strings(struct ext_asgi *asgi)
{
#define X(name, text)                                  \
    asgi->str.name = PyUnicode_InternFromString(text); \
    if (asgi->str.name == NULL) {                      \
        return -1;                                     \
    }
    ASGI_STRINGS(X)
#undef X
    return 0;
}

int ext_asgi_init(struct ext_asgi *asgi, PyObject *module)
{
    asgi->module = module;
    asgi->disconnected =
        PyErr_NewExceptionWithDoc("xsgi.ClientDisconnected", disconnected_doc,
                                  PyExc_ConnectionResetError, NULL);
    if (asgi->disconnected == NULL ||
        PyModule_AddObjectRef(module, "ClientDisconnected",
                              asgi->disconnected) < 0) {
        return -1;
    }
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
    Py_VISIT(asgi->disconnected);
    Py_VISIT(asgi->lazy.type);
    Py_VISIT(asgi->lazy.enter);
    Py_VISIT(asgi->lazy.leave);
    Py_VISIT(asgi->lazy.cancelled);
    Py_VISIT(asgi->lazy.spare);
    return 0;
}

static void spare_clear(struct asgi_spare *spare)
{
    spare->closed = true;
    while (spare->count > 0) {
        spare->count--;
        PyObject_GC_Del(spare->objects[spare->count]);
    }
}

void ext_asgi_clear(struct ext_asgi *asgi)
{
    spare_clear(&asgi->spare_requests);
    spare_clear(&asgi->spare_awaits);
    spare_clear(&asgi->spare_runners);
    Py_CLEAR(asgi->request_type);
    Py_CLEAR(asgi->await_type);
    Py_CLEAR(asgi->runner_type);
    Py_CLEAR(asgi->disconnected);
    Py_CLEAR(asgi->lazy.spare);
    Py_CLEAR(asgi->lazy.type);
    Py_CLEAR(asgi->lazy.enter);
    Py_CLEAR(asgi->lazy.leave);
    Py_CLEAR(asgi->lazy.cancelled);
}

void ext_asgi_fini(struct ext_asgi *asgi)
{
    ext_asgi_clear(asgi);
#define X(name, text) Py_CLEAR(asgi->str.name);
    ASGI_STRINGS(X)
#undef X
}
