/* module.c - the extension: the list of its parts. */

#include "python/ext/module.h"

#include "python/ext/fork.h"
#include "python/ext/server_access.h"
#include "python/ext/state.h"

static int module_exec(PyObject *module);
static int module_traverse(PyObject *module, visitproc visit, void *arg);
static int module_clear(PyObject *module);
static void module_free(void *module);

static PyObject *module_check_access_format(PyObject *module, PyObject *text)
{
    (void)module;
    if (ext_access_check(text) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *module_keep_for_ever(PyObject *module, PyObject *object)
{
    (void)module;
    Py_INCREF(object);
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"check_access_format", module_check_access_format, METH_O,
     "check_access_format(text): raise ValueError that says what is wrong\n"
     "with it, and where."},
    {"keep_for_ever", module_keep_for_ever, METH_O,
     "keep_for_ever(object): it is not freed, not even at the very end."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "xsgi._xsgi",
    .m_doc = "The server core of xsgi.",
    .m_size = sizeof(struct ext_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

struct ext_state *ext_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

struct ext_state *ext_state_of_type(PyTypeObject *type)
{
    while (type != NULL && PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        PyObject *module = PyType_GetModule(type);
        if (module != NULL && PyModule_GetDef(module) == &module_def) {
            return ext_state_of(module);
        }
        PyErr_Clear();
        type = type->tp_base;
    }
    PyErr_SetString(PyExc_TypeError, "not a type of xsgi");
    return NULL;
}

PyObject *ext_disconnected(PyTypeObject *type)
{
    return ext_state_of_type(type)->disconnected;
}

static int module_exec(PyObject *module)
{
    struct ext_state *state = ext_state_of(module);

    state->disconnected = ext_gateway_init_type(module);
    if (state->disconnected == NULL || ext_fork_init() < 0 ||
        ext_asgi_init(&state->asgi, module) < 0 ||
        ext_wsgi_init(&state->wsgi, module) < 0 ||
        ext_init_backend(module) < 0 || ext_init_server(module) < 0 ||
        ext_init_sim_peer(module) < 0 || ext_init_turns(module) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "__version__", XS_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct ext_state *state = ext_state_of(module);
    int err;

    Py_VISIT(state->disconnected);
    Py_VISIT(state->backend_type);
    Py_VISIT(state->server_type);
    Py_VISIT(state->sim_peer_type);
    Py_VISIT(state->turns_type);
    err = ext_asgi_traverse(&state->asgi, visit, arg);
    return err != 0 ? err : ext_wsgi_traverse(&state->wsgi, visit, arg);
}

static int module_clear(PyObject *module)
{
    struct ext_state *state = ext_state_of(module);

    Py_CLEAR(state->disconnected);
    Py_CLEAR(state->backend_type);
    Py_CLEAR(state->server_type);
    Py_CLEAR(state->sim_peer_type);
    Py_CLEAR(state->turns_type);
    ext_asgi_clear(&state->asgi);
    ext_wsgi_clear(&state->wsgi);
    return 0;
}

static void module_free(void *module)
{
    struct ext_state *state = ext_state_of(module);

    (void)module_clear(module);
    ext_asgi_fini(&state->asgi);
    ext_wsgi_fini(&state->wsgi);
}

PyMODINIT_FUNC PyInit__xsgi(void); /* what CPython looks for */

PyMODINIT_FUNC PyInit__xsgi(void)
{
    return PyModuleDef_Init(&module_def);
}
