/* loop_handle.c - asyncio.Handle, made and run in C. */

#include "python/ext/loop_handle.h"

#include <string.h>

#include "core/base/base.h"

/* The slots that a handle has, in any order. Others would be for something
 * that we do not do. */
static const char *const handle_slots[] = {
    "_callback",         "_args", "_cancelled",  "_loop",
    "_source_traceback", "_repr", "__weakref__", "_context",
};
static const char *const timer_slots[] = {"_scheduled", "_when"};

static int unknown(const char *what)
{
    PyErr_Format(PyExc_NotImplementedError, "asyncio has another %s", what);
    return -1;
}

/* That `type.__slots__` has these names and no others. */
static int check_slots(PyTypeObject *type, const char *const *names,
                       Py_ssize_t count)
{
    PyObject *slots = PyObject_GetAttrString((PyObject *)type, "__slots__");
    Py_ssize_t len = slots == NULL ? -1 : PyObject_Size(slots);
    int found = len == count;

    for (Py_ssize_t i = 0; found == 1 && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        found = name == NULL ? -1 : PySequence_Contains(slots, name);
        Py_XDECREF(name);
    }
    Py_XDECREF(slots);
    if (found == 0 && len >= 0) {
        return unknown("Handle");
    }
    return found == 1 ? 0 : -1;
}

/* Where the slot `name` of `type` is. */
static int find_slot(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *descr = PyObject_GetAttrString((PyObject *)type, name);
    const PyMemberDef *member;

    if (descr == NULL) {
        return -1;
    }
    if (!Py_IS_TYPE(descr, &PyMemberDescr_Type)) {
        Py_DECREF(descr);
        return unknown("Handle");
    }
    member = ((PyMemberDescrObject *)descr)->d_member;
    *offset = member->offset;
    Py_DECREF(descr);
    return *offset > 0 ? 0 : unknown("Handle");
}

static int get_type(const char *name, PyTypeObject **out)
{
    PyObject *events = PyImport_ImportModule("asyncio.events");
    PyObject *type;

    if (events == NULL) {
        return -1;
    }
    type = PyObject_GetAttrString(events, name);
    Py_DECREF(events);
    if (type == NULL) {
        return -1;
    }
    if (!PyType_Check(type)) {
        Py_DECREF(type);
        return unknown("Handle");
    }
    *out = (PyTypeObject *)type;
    return 0;
}

static int init_types(struct ext_handles *handles)
{
    if (get_type("Handle", &handles->type) < 0 ||
        get_type("TimerHandle", &handles->timer_type) < 0 ||
        check_slots(handles->type, handle_slots,
                    (Py_ssize_t)XS_COUNT_OF(handle_slots)) < 0 ||
        check_slots(handles->timer_type, timer_slots,
                    (Py_ssize_t)XS_COUNT_OF(timer_slots)) < 0) {
        return -1;
    }
    return PyType_IsSubtype(handles->timer_type, handles->type)
               ? 0
               : unknown("TimerHandle");
}

int ext_handles_init(struct ext_handles *handles)
{
    if (init_types(handles) < 0) {
        return -1;
    }
    handles->str_run = PyUnicode_InternFromString("_run");
    if (handles->str_run == NULL ||
        find_slot(handles->type, "_callback", &handles->callback) < 0 ||
        find_slot(handles->type, "_args", &handles->args) < 0 ||
        find_slot(handles->type, "_cancelled", &handles->cancelled) < 0 ||
        find_slot(handles->type, "_loop", &handles->loop) < 0 ||
        find_slot(handles->type, "_source_traceback", &handles->traceback) <
            0 ||
        find_slot(handles->type, "_repr", &handles->repr) < 0 ||
        find_slot(handles->type, "_context", &handles->context) < 0 ||
        find_slot(handles->timer_type, "_when", &handles->when) < 0 ||
        find_slot(handles->timer_type, "_scheduled", &handles->scheduled) < 0) {
        return -1;
    }
    return 0;
}

void ext_handles_clear(struct ext_handles *handles)
{
    Py_CLEAR(handles->type);
    Py_CLEAR(handles->timer_type);
    Py_CLEAR(handles->str_run);
}

int ext_handles_traverse(struct ext_handles *handles, visitproc visit,
                         void *arg)
{
    Py_VISIT(handles->type);
    Py_VISIT(handles->timer_type);
    return 0;
}

PyObject *ext_handle_new(const struct ext_handles *handles, PyTypeObject *type,
                         PyObject *loop, PyObject *callback, PyObject *args,
                         PyObject *context)
{
    PyObject *handle = type->tp_alloc(type, 0);
    PyObject *copy;

    if (handle == NULL) {
        return NULL;
    }
    if (context == NULL) {
        copy = PyContext_CopyCurrent();
        if (copy == NULL) {
            Py_DECREF(handle);
            return NULL;
        }
        ext_handle_set(handle, handles->context, copy);
        Py_DECREF(copy);
    } else {
        ext_handle_set(handle, handles->context, context);
    }
    ext_handle_set(handle, handles->loop, loop);
    ext_handle_set(handle, handles->callback, callback);
    ext_handle_set(handle, handles->args, args);
    ext_handle_set(handle, handles->cancelled, Py_False);
    ext_handle_set(handle, handles->repr, Py_None);
    ext_handle_set(handle, handles->traceback, Py_None);
    return handle;
}

/* The call itself, in its context. New; NULL with an exception set. */
static PyObject *handle_call(PyObject *context, PyObject *callback,
                             PyObject *args)
{
    PyObject *const *items = ((PyTupleObject *)args)->ob_item;
    size_t count = (size_t)PyTuple_GET_SIZE(args);
    PyObject *result;

    if (PyContext_Enter(context) < 0) {
        return NULL;
    }
    result = PyObject_Vectorcall(callback, items, count, NULL);
    if (PyContext_Exit(context) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* What is set goes on if it ends the program, and to `failed` if not. */
static int handle_failed(PyObject *handle, PyObject *failed)
{
    PyObject *type;
    PyObject *error;
    PyObject *traceback;
    PyObject *result;

    if (PyErr_ExceptionMatches(PyExc_SystemExit) ||
        PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        return -1;
    }
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        (void)PyException_SetTraceback(error, traceback);
    }
    result = PyObject_CallFunctionObjArgs(failed, handle, error, NULL);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int ext_handle_run(const struct ext_handles *handles, PyObject *handle,
                   PyObject *failed)
{
    PyObject *callback = ext_handle_get(handle, handles->callback);
    PyObject *args = ext_handle_get(handle, handles->args);
    PyObject *context = ext_handle_get(handle, handles->context);
    PyObject *result;

    if (ext_handle_get(handle, handles->cancelled) != Py_False) {
        return 0;
    }
    if (callback == NULL || args == NULL || context == NULL ||
        !PyTuple_CheckExact(args)) {
        /* Somebody has made it in his own way. */
        result = PyObject_CallMethodNoArgs(handle, handles->str_run);
        Py_XDECREF(result);
        return result == NULL ? -1 : 0;
    }
    /* The call may cancel its own handle, which then drops them. */
    Py_INCREF(callback);
    Py_INCREF(args);
    Py_INCREF(context);
    result = handle_call(context, callback, args);
    Py_DECREF(context);
    Py_DECREF(args);
    Py_DECREF(callback);
    if (result == NULL) {
        return handle_failed(handle, failed);
    }
    Py_DECREF(result);
    return 0;
}
