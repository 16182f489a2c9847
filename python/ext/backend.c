/* backend.c - Backend: a libuv or simulated backend, run from Python. */

#include "python/ext/backend.h"

#include <math.h>

#include "core/base/base.h"
#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "io/uv.h"
#include "python/ext/bridge.h"
#include "python/ext/fork.h"
#include "python/ext/server.h"
#include "python/ext/state.h"

static struct ext_backend *backend_open(PyObject *self)
{
    struct ext_backend *backend = (struct ext_backend *)self;

    if (backend->drive == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the backend is closed");
        return NULL;
    }
    return backend;
}

struct ext_backend *ext_backend_of(struct ext_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->backend_type)) {
        PyErr_Format(PyExc_TypeError, "a Backend is needed, not %s",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    return backend_open(object);
}

static void backend_on_kick(void *user)
{
    /* The bridge's `saved` is what a drive knows us by. */
    struct ext_backend *backend =
        xs_container_of((PyThreadState **)user, struct ext_backend, saved);

    if (backend->on_kick != NULL) { /* who drives calls `select` anyway */
        ext_backend_kick(backend);
    }
}

static int backend_new_sim(struct ext_backend *self, uint64_t seed, bool faults)
{
    struct xs_sim_options options = {0};
    int err;

    self->tape = PyMem_Calloc(1, sizeof *self->tape);
    if (self->tape == NULL) {
        return XS_ENOMEM;
    }
    self->is_sim = true;
    xs_tape_init(self->tape);
    xs_tape_start_seed(self->tape, seed);
    if (faults) {
        xs_faults_draw(&options.faults, self->tape);
    }
    err = xs_sim_new(&self->drive, self->tape, &options);
    return err;
}

/* For PyArg_Parse: a whole number of 64 bits. */
static int seed_of(PyObject *object, void *out)
{
    uint64_t *seed = out;

    *seed = PyLong_AsUnsignedLongLong(object);
    return *seed != UINT64_MAX || PyErr_Occurred() == NULL;
}

static PyObject *backend_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"kind", "seed", "faults", NULL};
    const char *kind = "uv";
    uint64_t seed = 0;
    int faults = 1;
    struct ext_backend *self;
    int err;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "|s$O&p:Backend", names, &kind,
                                     seed_of, &seed, &faults)) {
        return NULL;
    }
    if (strcmp(kind, "uv") != 0 && strcmp(kind, "sim") != 0) {
        PyErr_Format(PyExc_ValueError, "no backend '%s': uv or sim", kind);
        return NULL;
    }
    self = (struct ext_backend *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->fork_count = ext_fork_count();
    err = strcmp(kind, "sim") == 0 ? backend_new_sim(self, seed, faults != 0)
                                   : xs_uv_new(&self->drive);
    if (err != 0) {
        Py_DECREF(self);
        (void)ext_raise(err, "backend");
        return NULL;
    }
    ext_bridge_attach(self->drive, &self->saved);
    self->drive->kick = backend_on_kick;
    return (PyObject *)self;
}

int ext_backend_run(struct ext_backend *backend, uint64_t timeout_ns)
{
    struct ext_server *server = backend->server;
    int result = 0;
    int err;

    ext_fork_check(backend->fork_count);
    if (ext_backend_enter_alone(backend) < 0) {
        return -1;
    }
    timeout_ns = ext_server_wait(server, timeout_ns);
    err = backend->drive->ops->run(backend->drive, timeout_ns);
    if (server != NULL) {
        ext_server_flush_access(server);
    }
    if (server != NULL && server->gateway != NULL &&
        server->gateway->is_interrupted) {
        server->gateway->is_interrupted = false;
        PyErr_SetInterrupt();
    }
    if (err != 0 ? ext_raise(err, "poll") < 0 : PyErr_CheckSignals() < 0) {
        Py_CLEAR(backend->ready); /* it is ready the next time, too */
        result = -1;
    }
    ext_backend_leave(backend);
    return result;
}

PyObject *ext_backend_take_ready(struct ext_backend *backend)
{
    PyObject *ready = backend->ready;

    backend->ready = NULL;
    return ready != NULL ? ready : PyTuple_New(0);
}

/* Seconds, or None for no limit, as ns. -1 with an exception set. */
static int timeout_of(PyObject *arg, uint64_t *out)
{
    double seconds;

    *out = XS_NEVER;
    if (arg == Py_None) {
        return 0;
    }
    seconds = PyFloat_AsDouble(arg);
    if (seconds == -1.0 && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (isnan(seconds) || seconds <= 0) {
        *out = 0;
    } else if (seconds < 1e9) {
        *out = (uint64_t)ceil(seconds * 1e9);
    }
    return 0;
}

static PyObject *backend_select(PyObject *self, PyObject *timeout)
{
    struct ext_backend *backend = (struct ext_backend *)self;
    uint64_t timeout_ns;

    if (timeout_of(timeout, &timeout_ns) < 0 ||
        ext_backend_run(backend, timeout_ns) < 0) {
        return NULL;
    }
    return ext_backend_take_ready(backend);
}

static PyObject *backend_time(PyObject *self, PyObject *unused)
{
    struct ext_backend *backend = backend_open(self);
    uint64_t now;

    (void)unused;
    if (backend == NULL) {
        return NULL;
    }
    now = backend->drive->io->ops->now(backend->drive->io);
    return PyFloat_FromDouble((double)now / 1e9);
}

static PyObject *backend_fileno(PyObject *self, PyObject *unused)
{
    struct ext_backend *backend = backend_open(self);

    (void)unused;
    return backend == NULL
               ? NULL
               : PyLong_FromLong(backend->drive->ops->fd(backend->drive));
}

static PyObject *backend_next(PyObject *self, PyObject *unused)
{
    struct ext_backend *backend = (struct ext_backend *)self;
    uint64_t next;

    (void)unused;
    if (ext_backend_enter(backend) < 0) {
        return NULL;
    }
    next = backend->drive->ops->next(backend->drive);
    next = ext_server_wait(backend->server, next);
    ext_backend_leave(backend);
    if (next == XS_NEVER) {
        Py_RETURN_NONE;
    }
    return PyFloat_FromDouble((double)next / 1e9);
}

static PyObject *backend_hash(PyObject *self, PyObject *unused)
{
    struct ext_backend *backend = (struct ext_backend *)self;
    uint64_t hash;

    (void)unused;
    if (!backend->is_sim) {
        PyErr_SetString(PyExc_RuntimeError, "only a simulation has a trace");
        return NULL;
    }
    if (ext_backend_enter(backend) < 0) {
        return NULL;
    }
    hash = xs_sim_hash(xs_sim_of_drive(backend->drive));
    ext_backend_leave(backend);
    return PyLong_FromUnsignedLongLong(hash);
}

static PyObject *backend_calm(PyObject *self, PyObject *unused)
{
    struct ext_backend *backend = (struct ext_backend *)self;

    (void)unused;
    if (ext_backend_enter(backend) < 0) {
        return NULL;
    }
    if (backend->is_sim) {
        xs_sim_calm(xs_sim_of_drive(backend->drive));
    }
    ext_backend_leave(backend);
    Py_RETURN_NONE;
}

static void backend_free_drive(struct ext_backend *backend)
{
    struct xs_drive *drive = backend->drive;
    struct xs_tape *tape = backend->tape;

    if (drive != NULL) {
        backend->drive = NULL; /* to the Python code that this may run */
        ext_watch_clear(backend, drive);
        drive->ops->free(drive);
    }
    if (tape != NULL) {
        backend->tape = NULL;
        xs_tape_fini(tape);
        PyMem_Free(tape);
    }
}

static PyObject *backend_close(PyObject *self, PyObject *unused)
{
    struct ext_backend *backend = (struct ext_backend *)self;

    (void)unused;
    if (backend->drive == NULL) {
        Py_RETURN_NONE;
    }
    if (ext_backend_enter_alone(backend) < 0) {
        return NULL;
    }
    if (backend->server != NULL) {
        ext_server_close(backend->server);
    }
    backend_free_drive(backend);
    Py_CLEAR(backend->on_kick);
    ext_backend_leave(backend);
    Py_RETURN_NONE;
}

static PyObject *backend_get_on_kick(PyObject *self, void *unused)
{
    struct ext_backend *backend = (struct ext_backend *)self;

    (void)unused;
    return Py_NewRef(backend->on_kick == NULL ? Py_None : backend->on_kick);
}

static int backend_set_on_kick(PyObject *self, PyObject *value, void *unused)
{
    struct ext_backend *backend = (struct ext_backend *)self;
    PyObject *old = backend->on_kick;

    (void)unused;
    backend->on_kick =
        value == NULL || value == Py_None ? NULL : Py_NewRef(value);
    Py_XDECREF(old);
    return 0;
}

static int backend_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct ext_backend *backend = (struct ext_backend *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(backend->on_kick);
    if (backend->depth == 0) { /* else it is whose who is inside */
        Py_VISIT(backend->held);
    }
    return ext_watch_traverse(backend, visit, arg);
}

static int backend_clear(PyObject *self)
{
    struct ext_backend *backend = (struct ext_backend *)self;

    if (ext_backend_is_foreign(backend)) {
        return 0;
    }
    XS_ASSERT(backend->depth == 0);
    Py_CLEAR(backend->on_kick);
    Py_CLEAR(backend->held);
    ext_watch_clear(backend, backend->drive);
    return 0;
}

static void backend_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (!ext_backend_is_foreign((struct ext_backend *)self)) {
        (void)backend_clear(self);
        backend_free_drive((struct ext_backend *)self);
    } /* else memory is lost, and the child's end is near */
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef backend_methods[] = {
    {"select", backend_select, METH_O,
     "select(timeout) -> [(key, events), ...]: run once, waiting at most\n"
     "timeout seconds (None: without limit)."},
    {"watch", ext_watch_add, METH_VARARGS,
     "watch(fd, events, key): give key from select when fd is ready for one\n"
     "of events (1 read, 2 write); replaces an earlier watch of fd."},
    {"unwatch", ext_watch_remove, METH_O,
     "unwatch(fd): end the watch, before fd is closed."},
    {"time", backend_time, METH_NOARGS, "time() -> the clock, in seconds."},
    {"fileno", backend_fileno, METH_NOARGS,
     "fileno() -> a descriptor that is readable when select has work; -1 for\n"
     "a simulation."},
    {"next", backend_next, METH_NOARGS,
     "next() -> seconds until select wants to be called, or None."},
    {"trace_hash", backend_hash, METH_NOARGS,
     "trace_hash() -> a number that sums up all that has happened in a\n"
     "simulation."},
    {"calm", backend_calm, METH_NOARGS,
     "calm(): a simulation has no more\n"
     "faults from now on."},
    {"close", backend_close, METH_NOARGS, "close(): end everything on it."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef backend_getset[] = {
    {"on_kick", backend_get_on_kick, backend_set_on_kick,
     "Called when something outside select needs one soon; for guests.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot backend_slots[] = {
    {Py_tp_new, backend_new},
    {Py_tp_dealloc, backend_dealloc},
    {Py_tp_traverse, backend_traverse},
    {Py_tp_clear, backend_clear},
    {Py_tp_methods, backend_methods},
    {Py_tp_getset, backend_getset},
    {Py_tp_doc,
     "Backend(kind='uv', *, seed=0, faults=True): what polls sockets, or\n"
     "plays at it (kind='sim')."},
    {0, NULL},
};

static PyType_Spec backend_spec = {
    .name = "xsgi._xsgi.Backend",
    .basicsize = sizeof(struct ext_backend),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = backend_slots,
};

int ext_init_backend(PyObject *module)
{
    struct ext_state *state = ext_state_of(module);

    state->backend_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &backend_spec, NULL);
    if (state->backend_type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->backend_type);
}
