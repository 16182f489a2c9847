/* wsgi_types.c - what the module holds of the WSGI gateway. */

#include "python/ext/wsgi_parts.h"

static int init_strings(struct ext_wsgi *wsgi)
{
    struct wsgi_strings *str = &wsgi->str;

    return true WSGI_STRINGS(EXT_STRING_INIT) ? 0 : -1;
}

int ext_wsgi_init(struct ext_wsgi *wsgi, PyObject *module)
{
    if (init_strings(wsgi) < 0 || wsgi_request_init_type(module, wsgi) < 0 ||
        wsgi_input_init_type(module, wsgi) < 0 ||
        wsgi_file_init_type(module, wsgi) < 0 ||
        wsgi_pool_init_type(module, wsgi) < 0) {
        return -1;
    }
    return 0;
}

int ext_wsgi_traverse(struct ext_wsgi *wsgi, visitproc visit, void *arg)
{
    Py_VISIT(wsgi->request_type);
    Py_VISIT(wsgi->input_type);
    Py_VISIT(wsgi->file_type);
    Py_VISIT(wsgi->pool_type);
    return 0;
}

void ext_wsgi_clear(struct ext_wsgi *wsgi)
{
    ext_spare_close(&wsgi->spare_requests, wsgi->request_type);
    Py_CLEAR(wsgi->request_type);
    Py_CLEAR(wsgi->input_type);
    Py_CLEAR(wsgi->file_type);
    Py_CLEAR(wsgi->pool_type);
}

void ext_wsgi_fini(struct ext_wsgi *wsgi)
{
    struct wsgi_strings *str = &wsgi->str;

    ext_wsgi_clear(wsgi);
    WSGI_STRINGS(EXT_STRING_FINI)
}
