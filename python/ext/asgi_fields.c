/* asgi_fields.c - what asyncio.Task.__init__ puts into a task. */

#include "python/ext/asgi_fields.h"

#include "core/base/base.h"

#define FIELDS_BEGIN (sizeof(PyObject) / sizeof(PyObject *))

static PyObject **fields_of(PyObject *task)
{
    return (PyObject **)(void *)task;
}

void asgi_fields_fill(const struct asgi_fields *fields, PyObject *task,
                      PyObject *const *values)
{
    size_t i;

    for (i = 0; i < ASGI_FIELD_COUNT; i++) {
        Py_INCREF(values[i]);
        fields_of(task)[fields->at[i]] = values[i];
    }
}

void asgi_fields_empty(const struct asgi_fields *fields, PyObject *task)
{
    size_t i;

    for (i = 0; i < ASGI_FIELD_COUNT; i++) {
        Py_CLEAR(fields_of(task)[fields->at[i]]);
    }
}

bool asgi_fields_untouched(const struct asgi_fields *fields, PyObject *task,
                           PyObject *const *values)
{
    PyObject *const *words = fields_of(task);
    size_t others = 0;
    size_t i;

    for (i = FIELDS_BEGIN; i < fields->end; i++) {
        others += words[i] != NULL;
    }
    for (i = 0; i < ASGI_FIELD_COUNT; i++) {
        others -= words[fields->at[i]] == values[i];
    }
    return others == 0;
}

PyObject *asgi_fields_get(const struct asgi_fields *fields, PyObject *task,
                          enum asgi_field field)
{
    return fields_of(task)[fields->at[field]];
}

/* ---- finding them ---- */

/* What answers a new task like a loop, and does nothing. */
static PyObject *find_loop(void)
{
    PyObject *types = PyImport_ImportModule("types");
    PyObject *type = NULL;
    PyObject *args = PyTuple_New(0);
    PyObject *empty = PyUnicode_FromString("");
    PyObject *format = NULL;
    PyObject *keywords = NULL;
    PyObject *loop = NULL;

    if (types != NULL && args != NULL && empty != NULL) {
        type = PyObject_GetAttrString(types, "SimpleNamespace");
        /* Takes whatever arguments there are. */
        format = PyObject_GetAttrString(empty, "format");
    }
    if (type != NULL && format != NULL) {
        keywords = Py_BuildValue("{sOsO}", "get_debug",
                                 (PyObject *)&PyBool_Type, "call_soon", format);
    }
    if (keywords != NULL) {
        loop = PyObject_Call(type, args, keywords);
    }
    Py_XDECREF(keywords);
    Py_XDECREF(format);
    Py_XDECREF(empty);
    Py_XDECREF(args);
    Py_XDECREF(type);
    Py_XDECREF(types);
    return loop;
}

/* A task with `values`, scheduled and registered nowhere. */
static PyObject *find_task(PyTypeObject *type, PyObject *tasks,
                           PyObject *const *values)
{
    PyObject *args = PyTuple_Pack(1, values[ASGI_FIELD_CORO]);
    PyObject *keywords = Py_BuildValue(
        "{sOsOsO}", "loop", values[ASGI_FIELD_LOOP], "context",
        values[ASGI_FIELD_CONTEXT], "name", values[ASGI_FIELD_NAME]);
    PyObject *task = NULL;
    PyObject *done = NULL;

    if (args != NULL && keywords != NULL) {
        task = PyObject_Call((PyObject *)type, args, keywords);
    }
    if (task != NULL &&
        PyObject_SetAttrString(task, "_log_destroy_pending", Py_False) == 0) {
        done = PyObject_CallMethod(tasks, "_unregister_task", "O", task);
    }
    if (done == NULL) {
        Py_CLEAR(task);
    }
    Py_XDECREF(done);
    Py_XDECREF(keywords);
    Py_XDECREF(args);
    return task;
}

/* Each of `values` once in `task`, and nothing else. */
static bool find_at(struct asgi_fields *fields, PyObject *task,
                    PyObject *const *values)
{
    PyObject *const *words = fields_of(task);
    size_t found;
    size_t i;

    fields->end = (size_t)Py_TYPE(task)->tp_basicsize / sizeof(PyObject *);
    for (found = 0; found < ASGI_FIELD_COUNT; found++) {
        for (i = FIELDS_BEGIN; i < fields->end; i++) {
            if (words[i] == values[found]) {
                break;
            }
        }
        if (i == fields->end) {
            return false;
        }
        fields->at[found] = i;
    }
    return asgi_fields_untouched(fields, task, values);
}

int asgi_fields_find(struct asgi_fields *fields, PyTypeObject *type,
                     PyObject *tasks)
{
    PyObject *values[ASGI_FIELD_COUNT] = {
        [ASGI_FIELD_LOOP] = find_loop(),
        [ASGI_FIELD_CORO] = PyObject_CallMethod(tasks, "sleep", "i", 0),
        [ASGI_FIELD_CONTEXT] = PyContext_New(),
        [ASGI_FIELD_NAME] = PyUnicode_FromString("xsgi"),
    };
    PyObject *task = NULL;
    PyObject *closed = NULL;
    int found = -1;
    size_t i;

    if (values[ASGI_FIELD_LOOP] != NULL && values[ASGI_FIELD_CORO] != NULL &&
        values[ASGI_FIELD_CONTEXT] != NULL && values[ASGI_FIELD_NAME] != NULL) {
        task = find_task(type, tasks, values);
    }
    if (task != NULL) {
        found = find_at(fields, task, values);
    } else if (!PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear(); /* it cannot even be looked at */
        found = 0;
    }
    if (found >= 0 && values[ASGI_FIELD_CORO] != NULL) {
        closed = PyObject_CallMethod(values[ASGI_FIELD_CORO], "close", NULL);
        found = closed == NULL ? -1 : found;
    }
    Py_XDECREF(closed);
    Py_XDECREF(task);
    for (i = 0; i < ASGI_FIELD_COUNT; i++) {
        Py_XDECREF(values[i]);
    }
    return found;
}
