/* backend_watch.c - descriptors that Python watches on a backend. */

#include "core/base/base.h"
#include "core/base/error.h"
#include "python/ext/backend.h"
#include "python/ext/bridge.h"

/* Descriptors are below this, as on Linux: the table has a bound. */
#define FD_LIMIT (1 << 20)
#define EVENTS_ALL (XS_IO_READ | XS_IO_WRITE)

/* One descriptor. `key` comes back from select when it is ready. */
struct ext_watch {
    struct xs_watch watch;
    struct ext_backend *backend; /* borrowed */
    PyObject *key;               /* owned */
};

static void on_ready(struct xs_watch *base, unsigned events)
{
    struct ext_watch *watch = base->user;
    struct ext_backend *backend = watch->backend;
    PyObject *pair = Py_BuildValue("(OI)", watch->key, events);

    if (backend->ready == NULL) {
        backend->ready = PyList_New(0);
    }
    if (pair == NULL || backend->ready == NULL ||
        PyList_Append(backend->ready, pair) < 0) {
        ext_unraisable((PyObject *)backend); /* it stays ready: next time */
    }
    Py_XDECREF(pair);
}

/* What was found ready in this run is no longer wanted for `key`. */
static void watch_forget_ready(struct ext_backend *backend, PyObject *key)
{
    Py_ssize_t i = backend->ready == NULL ? 0 : PyList_GET_SIZE(backend->ready);

    while (i-- > 0) {
        PyObject *pair = PyList_GET_ITEM(backend->ready, i);
        if (PyTuple_GET_ITEM(pair, 0) == key &&
            PyList_SetSlice(backend->ready, i, i + 1, NULL) < 0) {
            ext_unraisable((PyObject *)backend);
        }
    }
}

static void watch_stop(struct xs_drive *drive, struct ext_watch *watch)
{
    if (watch->watch.backend != NULL) {
        int err = drive->ops->watch(drive, &watch->watch, 0);
        XS_ASSERT(err == 0); /* drive.h: the end of a watch cannot fail */
    }
}

static int watch_make_place(struct ext_backend *backend, int fd)
{
    struct ext_watch **watches;
    int cap = backend->watch_cap;

    if (fd < cap) {
        return 0;
    }
    cap = fd < 32 ? 64 : fd * 2;
    watches = PyMem_Realloc(backend->watches, (size_t)cap * sizeof *watches);
    if (watches == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    for (int i = backend->watch_cap; i < cap; i++) {
        watches[i] = NULL;
    }
    backend->watches = watches;
    backend->watch_cap = cap;
    return 0;
}

/* Nobody is told of it any more. When its key goes Python's code may run: the
 * descriptor is free to be watched again by then. */
static void watch_end(struct ext_backend *backend, struct ext_watch *watch)
{
    PyObject *key = watch->key;

    backend->watches[watch->watch.fd] = NULL;
    watch_stop(backend->drive, watch);
    PyMem_Free(watch);
    watch_forget_ready(backend, key);
    Py_DECREF(key);
}

static struct ext_watch *watch_new(struct ext_backend *backend, int fd)
{
    struct ext_watch *watch = PyMem_Calloc(1, sizeof *watch);

    if (watch == NULL) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    watch->watch =
        (struct xs_watch){.fd = fd, .on_ready = on_ready, .user = watch};
    watch->backend = backend;
    backend->watches[fd] = watch;
    return watch;
}

static int watch_set(struct ext_backend *backend, int fd, unsigned events,
                     PyObject *key)
{
    struct ext_watch *watch;
    PyObject *old;
    int err;

    if (watch_make_place(backend, fd) < 0) {
        return -1;
    }
    watch = backend->watches[fd];
    if (watch == NULL) {
        watch = watch_new(backend, fd);
        if (watch == NULL) {
            return -1;
        }
    }
    old = watch->key;
    watch->key = Py_NewRef(key);
    err = backend->drive->ops->watch(backend->drive, &watch->watch, events);
    if (err != 0) {
        watch_end(backend, watch);
    }
    if (old != NULL) {
        watch_forget_ready(backend, old);
        Py_DECREF(old);
    }
    return err != 0 ? ext_raise(err, "watch") : 0;
}

PyObject *ext_watch_add(PyObject *self, PyObject *args)
{
    struct ext_backend *backend = (struct ext_backend *)self;
    PyObject *key;
    int events;
    int fd;
    int result;

    if (!PyArg_ParseTuple(args, "iiO:watch", &fd, &events, &key)) {
        return NULL;
    }
    if (fd < 0 || fd >= FD_LIMIT || events < 1 || events > EVENTS_ALL) {
        PyErr_SetString(PyExc_ValueError, "watch: no such fd or event");
        return NULL;
    }
    if (ext_backend_enter(backend) < 0) {
        return NULL;
    }
    result = watch_set(backend, fd, (unsigned)events, key);
    ext_backend_leave(backend);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject *ext_watch_remove(PyObject *self, PyObject *arg)
{
    struct ext_backend *backend = (struct ext_backend *)self;
    long fd = PyLong_AsLong(arg);

    if (fd == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    if (backend->drive == NULL) {
        Py_RETURN_NONE; /* it ended with the backend */
    }
    if (ext_backend_enter(backend) < 0) {
        return NULL;
    }
    if (fd >= 0 && fd < backend->watch_cap && backend->watches[fd] != NULL) {
        watch_end(backend, backend->watches[fd]);
    }
    ext_backend_leave(backend);
    Py_RETURN_NONE;
}

void ext_watch_clear(struct ext_backend *backend, struct xs_drive *drive)
{
    struct ext_watch **watches = backend->watches;
    PyObject *ready = backend->ready;
    int cap = backend->watch_cap;

    backend->watches = NULL;
    backend->watch_cap = 0;
    backend->ready = NULL;
    for (int fd = 0; fd < cap; fd++) {
        if (watches[fd] != NULL) {
            watch_stop(drive, watches[fd]);
            Py_DECREF(watches[fd]->key);
            PyMem_Free(watches[fd]);
        }
    }
    PyMem_Free(watches);
    Py_XDECREF(ready);
}

int ext_watch_traverse(struct ext_backend *backend, visitproc visit, void *arg)
{
    for (int fd = 0; fd < backend->watch_cap; fd++) {
        if (backend->watches[fd] != NULL) {
            Py_VISIT(backend->watches[fd]->key);
        }
    }
    Py_VISIT(backend->ready);
    return 0;
}
