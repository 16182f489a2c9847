/* asgi_lazy.c - a task that becomes one only if it has to.
 *
 * Most requests go through without waiting. For them all that a Task does is
 * to be asyncio.current_task(): making one costs more than running them. So
 * the object that is current while the coroutine takes its first step is an
 * asyncio.Task whose __init__ has not been called.
 *
 *     the first step ends       it never was one; kept for the next request
 *     ... in a wait             Task.__init__ now; its first step gives what
 *                               the coroutine yielded already
 *     ... and it was kept       the same: who has it finds that it is done (on
 *                               Python 3.11 after the loop's next turn)
 *     anybody looks at it       Task.__init__ at once, in the middle of the
 *                               step; how that ends is given to its first
 *                               step, which the loop calls soon
 *
 * "Looks at it" is any attribute, its repr, or an await. An unbound method,
 * asyncio.Task.cancel(task), asks for none: it finds the fields of a pending
 * task, see asgi_fields.h, and what it does to them is noticed when the step
 * ends and done again to the real one. So nobody ever meets an uninitialized
 * task, and its identity stays the same. What remains to be seen is that
 * asyncio.all_tasks() does not list it before it is one, and that its unbound
 * get_name() says Task-0.
 *
 * Needs Task(context=...) of Python 3.11 and the C Task of asyncio with the
 * fields that we know; without them asgi_task.c does something else. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/asgi_touched.h"
#include "python/ext/bridge.h"
#include "python/ext/report.h"

/* Behind the fields of asyncio.Task. All are set only while the first step is
 * made without a task. */
struct lazy_task {
    struct asgi_gateway *gateway; /* borrowed */
    PyObject *runner;             /* borrowed */
    PyObject *context;            /* borrowed */
};

static struct lazy_task *lazy_of(PyObject *task)
{
    Py_ssize_t offset = Py_TYPE(task)->tp_base->tp_basicsize;

    return (struct lazy_task *)(void *)((char *)task + offset);
}

/* What is in it until it is a task. */
static void lazy_values(PyObject *task, PyObject **values)
{
    const struct lazy_task *lazy = lazy_of(task);

    values[ASGI_FIELD_LOOP] = lazy->gateway->loop;
    values[ASGI_FIELD_CORO] = lazy->runner;
    values[ASGI_FIELD_CONTEXT] = lazy->context;
    values[ASGI_FIELD_NAME] = lazy->gateway->asgi->lazy.name;
}

static bool lazy_untouched(PyObject *task)
{
    PyObject *values[ASGI_FIELD_COUNT];

    lazy_values(task, values);
    return asgi_fields_untouched(&lazy_of(task)->gateway->asgi->lazy.fields,
                                 task, values);
}

static void lazy_fill(PyObject *task)
{
    PyObject *values[ASGI_FIELD_COUNT];

    lazy_values(task, values);
    asgi_fields_fill(&lazy_of(task)->gateway->asgi->lazy.fields, task, values);
}

/* ---- becoming one ---- */

/* Task.__init__(task, runner, loop=, context=[, name=][, eager_start=True]) */
static int become_init(PyObject *task, PyObject *runner, PyObject *name,
                       bool eager)
{
    const struct lazy_task *lazy = lazy_of(task);
    PyObject *args = PyTuple_Pack(1, runner);
    PyObject *keywords = Py_BuildValue("{sOsO}", "loop", lazy->gateway->loop,
                                       "context", lazy->context);
    int err = -1;

    if (args != NULL && keywords != NULL &&
        (name == NULL || PyDict_SetItemString(keywords, "name", name) == 0) &&
        (!eager ||
         PyDict_SetItemString(keywords, "eager_start", Py_True) == 0)) {
        err = Py_TYPE(task)->tp_base->tp_init(task, args, keywords);
    }
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return err;
}

/* Become a task. What was done to it is done again: __init__ forgets. */
static int lazy_become(PyObject *task, bool eager)
{
    struct lazy_task *lazy = lazy_of(task);
    const struct asgi_fields *fields = &lazy->gateway->asgi->lazy.fields;
    PyObject *runner = lazy->runner;
    struct asgi_touched touched = {.name = NULL};
    bool untouched = lazy_untouched(task);
    int err;

    /* First: all that follows looks at the task, too. */
    lazy->runner = NULL;
    err = untouched ? 0 : asgi_touched_save(&touched, task);
    if (err == 0) {
        asgi_fields_empty(fields, task);
        err = become_init(task, runner, touched.name, eager && untouched);
        if (err < 0) {
            lazy->runner = runner;
            asgi_fields_empty(fields, task);
            lazy_fill(task);
        }
    } else {
        lazy->runner = runner;
    }
    if (err == 0 && !untouched && asgi_touched_redo(&touched, task) < 0) {
        err = -1;
    }
    asgi_touched_fini(&touched);
    return err;
}

/* Somebody looks at it. */
static int lazy_touch(PyObject *task)
{
    return lazy_of(task)->runner == NULL ? 0 : lazy_become(task, false);
}

static PyObject *lazy_getattro(PyObject *self, PyObject *name)
{
    return lazy_touch(self) < 0 ? NULL : PyObject_GenericGetAttr(self, name);
}

static int lazy_setattro(PyObject *self, PyObject *name, PyObject *value)
{
    return lazy_touch(self) < 0 ? -1
                                : PyObject_GenericSetAttr(self, name, value);
}

static PyObject *lazy_repr(PyObject *self)
{
    return lazy_touch(self) < 0 ? NULL : Py_TYPE(self)->tp_base->tp_repr(self);
}

static PyObject *lazy_iter(PyObject *self)
{
    return lazy_touch(self) < 0 ? NULL : Py_TYPE(self)->tp_base->tp_iter(self);
}

static PyObject *lazy_await(PyObject *self)
{
    return lazy_touch(self) < 0
               ? NULL
               : Py_TYPE(self)->tp_base->tp_as_async->am_await(self);
}

/* ---- the type ---- */

static PyType_Slot lazy_slots[] = {
    {Py_tp_doc, (char[]){"The asyncio.Task of a request."}},
    {Py_tp_getattro, lazy_getattro},
    {Py_tp_setattro, lazy_setattro},
    {Py_tp_repr, lazy_repr},
    {Py_tp_iter, lazy_iter},
    {Py_am_await, lazy_await},
    {0, NULL},
};

static PyTypeObject *lazy_new_type(struct ext_asgi *asgi, PyTypeObject *base)
{
    PyType_Spec spec = {
        .name = "xsgi.Task",
        .basicsize =
            (int)(base->tp_basicsize + (Py_ssize_t)sizeof(struct lazy_task)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = lazy_slots,
    };
    PyObject *bases = PyTuple_Pack(1, base);
    PyObject *type = NULL;

    if (bases != NULL) {
        type = PyType_FromModuleAndSpec(asgi->module, &spec, bases);
        Py_DECREF(bases);
    }
    return (PyTypeObject *)type;
}

static int lazy_make(struct ext_asgi *asgi, PyTypeObject *base)
{
    if (asgi->lazy.name == NULL) {
        /* asyncio's own begin with 1. */
        asgi->lazy.name = PyUnicode_FromString("Task-0");
    }
    if (asgi->lazy.name != NULL) {
        asgi->lazy.type = lazy_new_type(asgi, base);
    }
    return asgi->lazy.type == NULL ? -1 : 0;
}

/* asyncio.tasks.NAME, or NULL without an exception. */
static PyObject *lazy_private(PyObject *tasks, const char *name)
{
    PyObject *function = PyObject_GetAttrString(tasks, name);

    if (function == NULL) {
        PyErr_Clear();
    }
    return function;
}

/* The base has everything that the functions above call, in C. */
static bool lazy_fits(PyObject *base)
{
    const PyTypeObject *type = (const PyTypeObject *)base;

    return PyType_Check(base) && type->tp_itemsize == 0 &&
           type->tp_weaklistoffset != 0 && type->tp_init != NULL &&
           type->tp_repr != NULL && type->tp_iter != NULL &&
           type->tp_as_async != NULL && type->tp_as_async->am_await != NULL &&
           strcmp(type->tp_name, "_asyncio.Task") == 0;
}

int asgi_lazy_init(struct ext_asgi *asgi)
{
    PyObject *tasks;
    PyObject *base;
    int can;

    if (PY_VERSION_HEX < 0x030B0000) {
        return 0;
    }
    if (asgi->lazy.type != NULL) {
        return 1;
    }
    tasks = PyImport_ImportModule("asyncio.tasks");
    if (tasks == NULL) {
        return -1;
    }
    asgi->lazy.enter = lazy_private(tasks, "_swap_current_task");
    if (asgi->lazy.enter == NULL) {
        asgi->lazy.enter = lazy_private(tasks, "_enter_task");
        asgi->lazy.leave = lazy_private(tasks, "_leave_task");
    }
    base = lazy_private(tasks, "Task");
    can = base != NULL && lazy_fits(base) && asgi->lazy.enter != NULL &&
          (PY_VERSION_HEX >= 0x030C0000) == (asgi->lazy.leave == NULL);
    if (can > 0) {
        can = asgi_fields_find(&asgi->lazy.fields, (PyTypeObject *)base, tasks);
    }
    if (can > 0) {
        can = lazy_make(asgi, (PyTypeObject *)base) < 0 ? -1 : 1;
    }
    Py_XDECREF(base);
    Py_DECREF(tasks);
    return can;
}

/* ---- one request ---- */

/* A task that is none yet, new. */
static PyObject *lazy_take(struct ext_asgi *asgi)
{
    PyObject *task = asgi->lazy.spare;

    if (task != NULL) {
        asgi->lazy.spare = NULL;
        return task;
    }
    /* Zeroed: pending, and not to be missed when it goes. */
    return asgi->lazy.type->tp_alloc(asgi->lazy.type, 0);
}

/* Nobody can ever meet it, or what was done to it. */
static bool lazy_unseen(PyObject *task)
{
    return Py_REFCNT(task) == 1 && lazy_untouched(task);
}

/* Takes `task`, which nobody has seen and which never became one. */
static void lazy_give(struct ext_asgi *asgi, PyObject *task)
{
    const char *weak = (char *)task + Py_TYPE(task)->tp_weaklistoffset;
    PyObject *const *dict = _PyObject_GetDictPtr(task);

    asgi_fields_empty(&asgi->lazy.fields, task);
    *lazy_of(task) = (struct lazy_task){NULL, NULL, NULL};
    if (EXT_SPARE_KEEP > 0 && asgi->lazy.spare == NULL &&
        *(PyObject *const *)(const void *)weak == NULL &&
        (dict == NULL || *dict == NULL)) {
        asgi->lazy.spare = task;
    } else {
        Py_DECREF(task);
    }
}

static PyObject *lazy_call(PyObject *function, PyObject *loop, PyObject *task)
{
    PyObject *args[3] = {NULL, loop, task};

    return PyObject_Vectorcall(function, args + 1,
                               2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

/* Back to the task that was current before: `before` is what entering gave,
 * taken. Nothing is raised. */
static void lazy_leave(struct asgi_gateway *gateway, PyObject *task,
                       PyObject *before)
{
    const struct ext_asgi *asgi = gateway->asgi;
    PyObject *done;

    done = asgi->lazy.leave != NULL
               ? lazy_call(asgi->lazy.leave, gateway->loop, task)
               : lazy_call(asgi->lazy.enter, gateway->loop, before);
    if (done == NULL) {
        ext_unraisable(task);
    }
    Py_XDECREF(done);
    Py_DECREF(before);
}

/* Likewise. Keeps what is raised. */
static void lazy_leave_raised(struct asgi_gateway *gateway, PyObject *task,
                              PyObject *before)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    lazy_leave(gateway, task, before);
    PyErr_Restore(type, value, traceback);
}

/* It is a task now; if that has failed, nothing. */
static void lazy_end(const struct ext_asgi *asgi, PyObject *task)
{
    if (lazy_of(task)->runner != NULL) {
        asgi_fields_empty(&asgi->lazy.fields, task);
    }
    *lazy_of(task) = (struct lazy_task){NULL, NULL, NULL};
}

/* The first step, in `context` and with `task` as the current one. */
static int lazy_step(struct asgi_gateway *gateway, PyObject *task,
                     PySendResult *step, PyObject **result)
{
    struct lazy_task *lazy = lazy_of(task);
    PyObject *runner = lazy->runner;
    PyObject *context = lazy->context;
    PyObject *before;

    if (PyContext_Enter(context) < 0) {
        return -1;
    }
    before = lazy_call(gateway->asgi->lazy.enter, gateway->loop, task);
    if (before == NULL) {
        (void)PyContext_Exit(context);
        return -1;
    }
    *step = PyIter_Send(runner, Py_None, result);
    if (*step == PYGEN_ERROR) {
        lazy_leave_raised(gateway, task, before);
    } else {
        lazy_leave(gateway, task, before);
    }
    if (PyContext_Exit(context) < 0) {
        ext_unraisable(context);
    }
    return 0;
}

/* Out of what never was a task comes nothing but its cancellation, and that has
 * nobody to tell. */
static void lazy_raised(const struct asgi_gateway *gateway)
{
    if (PyErr_ExceptionMatches(gateway->asgi->cancelled)) {
        PyErr_Clear();
    } else {
        ext_unraisable(gateway->base.app);
    }
}

/* It has to be a task now, or is one: `step` is for its own first step. */
static int lazy_go_on(struct asgi_request *request, PyObject *task,
                      PyObject *runner, PySendResult step, PyObject *result)
{
    struct lazy_task *lazy = lazy_of(task);

    if (step == PYGEN_ERROR) {
        result = ext_raised_take();
    }
    asgi_runner_hold(runner, step, result);
    if (lazy->runner != NULL &&
        lazy_become(task, PY_VERSION_HEX >= 0x030C0000) < 0) {
        return -1;
    }
    if (request->gateway != NULL) {
        Py_INCREF(task);
        request->task = task;
    }
    return step == PYGEN_NEXT;
}

int asgi_lazy_start(struct asgi_request *request, PyObject *runner)
{
    struct asgi_gateway *gateway = request->gateway;
    struct ext_asgi *asgi = gateway->asgi;
    PyObject *task = lazy_take(asgi);
    PyObject *context = PyContext_Copy(gateway->context);
    PyObject *result = NULL;
    PySendResult step = PYGEN_ERROR;
    int err = -1;

    if (task != NULL && context != NULL) {
        *lazy_of(task) = (struct lazy_task){gateway, runner, context};
        lazy_fill(task);
        err = lazy_step(gateway, task, &step, &result);
    }
    if (err == 0 && (step == PYGEN_NEXT || lazy_of(task)->runner == NULL ||
                     !lazy_unseen(task))) {
        err = lazy_go_on(request, task, runner, step, result);
    } else if (err == 0) {
        Py_XDECREF(result);
        if (step == PYGEN_ERROR) {
            lazy_raised(gateway);
        }
        lazy_give(asgi, task);
        task = NULL;
    }
    if (task != NULL) {
        lazy_end(asgi, task);
    }
    Py_XDECREF(task);
    Py_XDECREF(context);
    return err;
}
