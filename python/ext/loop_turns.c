/* loop_turns.c - Turns: what a loop does for each turn and call, in C.
 *
 * One turn of a selector loop, as in asyncio/base_events.py:
 *
 *     drop cancelled timers ─▶ how long may we wait? ─▶ run the backend
 *         ─▶ watched descriptors ─▶ timers that are due ─▶ run what is ready
 *
 * The state stays where asyncio has it, in `loop._ready` and `_scheduled`, and
 * all else of the loop is asyncio's own code. So a turn may be run by this or
 * by the inherited `_run_once`, which is asked for what is rare. */

#include "python/ext/loop_turns.h"

#include "python/ext/fork.h"
#include "python/ext/state.h"

/* The next CPython may do more in a turn than we know. */
#define TURNS_PYTHON_MAX 0x03100000

/* ---- a turn ---- */

PyObject *turns_are_over(void)
{
    PyErr_SetString(PyExc_RuntimeError, "Event loop is closed");
    return NULL;
}

static int turns_is_stopping(const struct ext_turns *turns)
{
    PyObject *value = PyObject_GetAttr(turns->loop, turns->str.stopping);
    int stopping = value == NULL ? -1 : PyObject_IsTrue(value);

    Py_XDECREF(value);
    return stopping;
}

/* How long this turn may wait. */
static int turns_timeout(struct ext_turns *turns, PyObject *timers,
                         uint64_t *out)
{
    Py_ssize_t ready = PyObject_Size(turns->ready);
    int stopping = turns_is_stopping(turns);

    if (ready < 0 || stopping < 0) {
        return -1;
    }
    if (ready > 0 || stopping > 0) {
        *out = 0;
        return 0;
    }
    return turns_timers_wait(turns, timers, out);
}

/* Run the backend, and give asyncio what it watches. */
static int turns_poll(struct ext_turns *turns, uint64_t timeout_ns)
{
    PyObject *ready;
    PyObject *done;

    if (ext_backend_run(turns->backend, timeout_ns) < 0) {
        return -1;
    }
    if (turns->backend->ready == NULL) {
        return 0;
    }
    ready = ext_backend_take_ready(turns->backend);
    done = PyObject_CallMethodOneArg(turns->loop, turns->str.process_events,
                                     ready);
    Py_DECREF(ready);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* A handle of another kind runs itself. */
static int turns_run_stranger(const struct ext_turns *turns, PyObject *handle)
{
    PyObject *value = PyObject_GetAttr(handle, turns->str.cancelled);
    int cancelled = value == NULL ? -1 : PyObject_IsTrue(value);
    PyObject *done;

    Py_XDECREF(value);
    if (cancelled != 0) {
        return cancelled < 0 ? -1 : 0;
    }
    done = PyObject_CallMethodNoArgs(handle, turns->str.run);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Run what is ready now; what it makes ready has its turn later. */
static int turns_run_ready(struct ext_turns *turns)
{
    Py_ssize_t todo = PyObject_Size(turns->ready);
    int err = todo < 0 ? -1 : 0;

    while (err == 0 && todo-- > 0) {
        PyObject *handle = PyObject_CallNoArgs(turns->popleft);
        if (handle == NULL) {
            return -1;
        }
        err = ext_handle_is_known(&turns->handles, handle)
                  ? ext_handle_run(&turns->handles, handle, turns->failed)
                  : turns_run_stranger(turns, handle);
        Py_DECREF(handle);
    }
    return err;
}

static PyObject *turns_run_once(PyObject *self, PyObject *unused)
{
    struct ext_turns *turns = (struct ext_turns *)self;
    PyObject *timers;
    uint64_t timeout_ns;
    int rare = 1;
    int err;

    (void)unused;
    if (turns->loop == NULL) {
        return turns_are_over();
    }
    timers = PyObject_GetAttr(turns->loop, turns->str.scheduled);
    if (timers == NULL) {
        return NULL;
    }
    if (PyList_CheckExact(timers) && turns->backend->drive != NULL) {
        rare = turns_timers_are_rare(turns, timers);
    }
    if (rare != 0) {
        Py_DECREF(timers);
        return rare < 0 ? NULL : PyObject_CallNoArgs(turns->run_once);
    }
    err = turns_timers_drop(turns, timers) < 0 ||
          turns_timeout(turns, timers, &timeout_ns) < 0 ||
          turns_poll(turns, timeout_ns) < 0 ||
          turns_timers_run(turns, timers) < 0 || turns_run_ready(turns) < 0;
    ext_fork_check(turns->backend->fork_count);
    Py_DECREF(timers);
    if (err != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- the object ---- */

static int turns_init_strings(struct ext_turns *turns)
{
#define X(name, text)                                   \
    turns->str.name = PyUnicode_InternFromString(text); \
    if (turns->str.name == NULL) {                      \
        return -1;                                      \
    }
    TURNS_STRINGS(X)
#undef X
    return 0;
}

/* What `loop` has must be what asyncio gave it. */
static int turns_init_loop(struct ext_turns *turns)
{
    PyObject *heapq = PyImport_ImportModule("heapq");

    if (heapq == NULL) {
        return -1;
    }
    turns->heappush = PyObject_GetAttrString(heapq, "heappush");
    turns->heappop = PyObject_GetAttrString(heapq, "heappop");
    Py_DECREF(heapq);
    turns->ready = PyObject_GetAttrString(turns->loop, "_ready");
    if (turns->heappush == NULL || turns->heappop == NULL ||
        turns->ready == NULL) {
        return -1;
    }
    turns->append = PyObject_GetAttrString(turns->ready, "append");
    turns->popleft = PyObject_GetAttrString(turns->ready, "popleft");
    turns->call_soon = PyObject_GetAttrString(turns->loop, "call_soon");
    turns->call_at = PyObject_GetAttrString(turns->loop, "call_at");
    turns->call_later = PyObject_GetAttrString(turns->loop, "call_later");
    turns->run_once = PyObject_GetAttrString(turns->loop, "_run_once");
    return turns->append == NULL || turns->popleft == NULL ||
                   turns->call_soon == NULL || turns->call_at == NULL ||
                   turns->call_later == NULL || turns->run_once == NULL
               ? -1
               : 0;
}

static PyObject *turns_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"loop", "backend", "failed", NULL};
    struct ext_state *state = ext_state_of_type(type);
    struct ext_backend *backend;
    struct ext_turns *self;
    PyObject *loop;
    PyObject *object;
    PyObject *failed;

    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kw, "OOO:Turns", names, &loop,
                                     &object, &failed)) {
        return NULL;
    }
    backend = ext_backend_of(state, object);
    if (backend == NULL) {
        return NULL;
    }
    if (PY_VERSION_HEX >= TURNS_PYTHON_MAX) {
        PyErr_SetString(PyExc_NotImplementedError, "an unknown asyncio");
        return NULL;
    }
    self = (struct ext_turns *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->backend = (struct ext_backend *)Py_NewRef((PyObject *)backend);
    self->loop = Py_NewRef(loop);
    self->failed = Py_NewRef(failed);
    self->strange_timers = true; /* until there are none */
    if (turns_init_strings(self) < 0 || ext_handles_init(&self->handles) < 0 ||
        turns_init_loop(self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int turns_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct ext_turns *turns = (struct ext_turns *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(turns->backend);
    Py_VISIT(turns->loop);
    Py_VISIT(turns->failed);
    Py_VISIT(turns->call_soon);
    Py_VISIT(turns->call_at);
    Py_VISIT(turns->call_later);
    Py_VISIT(turns->run_once);
    Py_VISIT(turns->ready);
    Py_VISIT(turns->append);
    Py_VISIT(turns->popleft);
    Py_VISIT(turns->heappush);
    Py_VISIT(turns->heappop);
    return ext_handles_traverse(&turns->handles, visit, arg);
}

static int turns_clear(PyObject *self)
{
    struct ext_turns *turns = (struct ext_turns *)self;

    Py_CLEAR(turns->backend);
    Py_CLEAR(turns->loop);
    Py_CLEAR(turns->failed);
    Py_CLEAR(turns->call_soon);
    Py_CLEAR(turns->call_at);
    Py_CLEAR(turns->call_later);
    Py_CLEAR(turns->run_once);
    Py_CLEAR(turns->ready);
    Py_CLEAR(turns->append);
    Py_CLEAR(turns->popleft);
    Py_CLEAR(turns->heappush);
    Py_CLEAR(turns->heappop);
    return 0;
}

static void turns_dealloc(PyObject *self)
{
    struct ext_turns *turns = (struct ext_turns *)self;
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    (void)turns_clear(self);
    ext_handles_clear(&turns->handles);
#define X(name, text) Py_CLEAR(turns->str.name);
    TURNS_STRINGS(X)
#undef X
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef turns_methods[] = {
    {"call_soon", (PyCFunction)(void (*)(void))turns_call_soon,
     METH_FASTCALL | METH_KEYWORDS,
     "call_soon(callback, *args, context=None) -> asyncio.Handle"},
    {"call_at", (PyCFunction)(void (*)(void))turns_call_at,
     METH_FASTCALL | METH_KEYWORDS,
     "call_at(when, callback, *args, context=None) -> asyncio.TimerHandle"},
    {"call_later", (PyCFunction)(void (*)(void))turns_call_later,
     METH_FASTCALL | METH_KEYWORDS,
     "call_later(delay, callback, *args, context=None)\n"
     "-> asyncio.TimerHandle"},
    {"run_once", turns_run_once, METH_NOARGS, "run_once(): one turn."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot turns_slots[] = {
    {Py_tp_new, turns_new},
    {Py_tp_dealloc, turns_dealloc},
    {Py_tp_traverse, turns_traverse},
    {Py_tp_clear, turns_clear},
    {Py_tp_methods, turns_methods},
    {Py_tp_doc,
     "Turns(loop, backend, failed): what an asyncio loop does for each call\n"
     "and each turn; failed(handle, error) is told what callbacks raise.\n"
     "Raises NotImplementedError if asyncio is not as it is known."},
    {0, NULL},
};

static PyType_Spec turns_spec = {
    .name = "xsgi._xsgi.Turns",
    .basicsize = sizeof(struct ext_turns),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = turns_slots,
};

int ext_init_turns(PyObject *module)
{
    struct ext_state *state = ext_state_of(module);

    state->turns_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &turns_spec, NULL);
    if (state->turns_type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->turns_type);
}
