/* sim_peer.c - SimPeer: the client's end of a simulated connection, for tests
 * in Python. */

#include "sim/sim_peer.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "python/ext/backend.h"
#include "python/ext/bridge.h"
#include "python/ext/state.h"

struct ext_sim_peer {
    PyObject_HEAD struct ext_backend
        *backend;             /* owned reference; NULL: closed */
    struct xs_sim_peer *peer; /* owned; NULL: closed */
    PyObject *on_event;       /* owned; NULL: none */
};

/* Begin to use it: until ext_backend_leave. NULL with an exception set. */
static struct xs_sim_peer *peer_enter(struct ext_sim_peer *peer)
{
    if (peer->peer == NULL || peer->backend->drive == NULL) {
        PyErr_SetString(PyExc_ValueError, "the peer is closed");
        return NULL;
    }
    return ext_backend_enter(peer->backend) < 0 ? NULL : peer->peer;
}

static void on_event(struct xs_sim_peer *sim_peer)
{
    struct ext_sim_peer *peer = sim_peer->user;

    ext_notify(peer->on_event);
}

/* Connect `self`, which is new, to `to`. */
static int peer_init(struct ext_sim_peer *self, struct ext_backend *backend,
                     const struct xs_io_addr *to)
{
    struct xs_sim *sim;
    int err;

    if (ext_backend_enter(backend) < 0) {
        return -1;
    }
    sim = xs_sim_of_drive(backend->drive);
    err = xs_sim_peer_open(sim, &self->peer, to);
    if (err == 0) {
        self->backend = (struct ext_backend *)Py_NewRef((PyObject *)backend);
        self->peer->on_event = on_event;
        self->peer->user = self;
    }
    ext_backend_leave(backend);
    return err != 0 ? ext_raise(err, "connect") : 0;
}

static PyObject *peer_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"backend", "host", "port", NULL};
    struct ext_state *state = ext_state_of_type(type);
    PyObject *object;
    const char *host;
    int port;
    struct ext_backend *backend;
    struct xs_io_addr to = {.is_unix = false};
    struct ext_sim_peer *self;

    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kw, "Osi:SimPeer", names, &object,
                                     &host, &port)) {
        return NULL;
    }
    backend = ext_backend_of(state, object);
    if (backend == NULL) {
        return NULL;
    }
    if (!backend->is_sim || strlen(host) >= sizeof to.host || port < 0 ||
        port > UINT16_MAX) {
        PyErr_SetString(PyExc_ValueError,
                        "no simulation, or no such host or port");
        return NULL;
    }
    (void)snprintf(to.host, sizeof to.host, "%s", host);
    to.port = (uint16_t)port;
    self = (struct ext_sim_peer *)type->tp_alloc(type, 0);
    if (self != NULL && peer_init(self, backend, &to) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static PyObject *peer_write(PyObject *self, PyObject *arg)
{
    struct ext_sim_peer *peer = (struct ext_sim_peer *)self;
    Py_buffer bytes;
    int64_t wrote;

    /* First, as what gives the bytes may be Python code. */
    if (PyObject_GetBuffer(arg, &bytes, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    if (peer_enter(peer) == NULL) {
        PyBuffer_Release(&bytes);
        return NULL;
    }
    wrote = xs_sim_peer_write(peer->peer, bytes.buf, (size_t)bytes.len);
    ext_backend_leave(peer->backend);
    PyBuffer_Release(&bytes);
    if (wrote == XS_EAGAIN) {
        return PyLong_FromLong(0);
    }
    if (wrote < 0) {
        (void)ext_raise((int)wrote, "write");
        return NULL;
    }
    return PyLong_FromLongLong(wrote);
}

static PyObject *peer_read(PyObject *self, PyObject *arg)
{
    struct ext_sim_peer *peer = (struct ext_sim_peer *)self;
    Py_ssize_t max = PyLong_AsSsize_t(arg);
    PyObject *bytes;
    int64_t got;

    if (max == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    if (max < 1) {
        PyErr_SetString(PyExc_ValueError, "read: at least 1 byte");
        return NULL;
    }
    bytes = PyBytes_FromStringAndSize(NULL, max);
    if (bytes == NULL) {
        return NULL;
    }
    if (peer_enter(peer) == NULL) {
        Py_DECREF(bytes);
        return NULL;
    }
    got = xs_sim_peer_read(peer->peer, PyBytes_AS_STRING(bytes), (size_t)max);
    ext_backend_leave(peer->backend);
    if (got < 0) {
        Py_DECREF(bytes);
        if (got == XS_EAGAIN) {
            Py_RETURN_NONE;
        }
        (void)ext_raise((int)got, "read");
        return NULL;
    }
    return _PyBytes_Resize(&bytes, (Py_ssize_t)got) < 0 ? NULL : bytes;
}

static PyObject *peer_shutdown(PyObject *self, PyObject *unused)
{
    struct ext_sim_peer *peer = (struct ext_sim_peer *)self;

    (void)unused;
    if (peer_enter(peer) == NULL) {
        return NULL;
    }
    xs_sim_peer_shutdown(peer->peer);
    ext_backend_leave(peer->backend);
    Py_RETURN_NONE;
}

static PyObject *peer_reset(PyObject *self, PyObject *unused)
{
    struct ext_sim_peer *peer = (struct ext_sim_peer *)self;

    (void)unused;
    if (peer_enter(peer) == NULL) {
        return NULL;
    }
    xs_sim_peer_reset(peer->peer);
    ext_backend_leave(peer->backend);
    Py_RETURN_NONE;
}

/* It is closed from now on. */
static void peer_end(struct ext_sim_peer *self)
{
    struct ext_backend *backend = self->backend;
    struct xs_sim_peer *peer = self->peer;

    self->peer = NULL;
    self->backend = NULL;
    if (peer != NULL) {
        ext_backend_drop_peer(backend, peer);
    }
    Py_XDECREF(backend);
}

static PyObject *peer_close(PyObject *self, PyObject *unused)
{
    struct ext_sim_peer *peer = (struct ext_sim_peer *)self;
    struct ext_backend *backend = peer->backend;

    (void)unused;
    if (peer->peer == NULL || backend->drive == NULL) {
        peer_end(peer);
        Py_RETURN_NONE;
    }
    if (ext_backend_enter(backend) < 0) {
        return NULL;
    }
    peer_end(peer);
    ext_backend_leave(backend);
    Py_RETURN_NONE;
}

static PyObject *peer_get_on_event(PyObject *self, void *unused)
{
    const struct ext_sim_peer *peer = (struct ext_sim_peer *)self;

    (void)unused;
    return Py_NewRef(peer->on_event == NULL ? Py_None : peer->on_event);
}

static int peer_set_on_event(PyObject *self, PyObject *value, void *unused)
{
    struct ext_sim_peer *peer = (struct ext_sim_peer *)self;
    PyObject *old = peer->on_event;

    (void)unused;
    peer->on_event =
        value == NULL || value == Py_None ? NULL : Py_NewRef(value);
    Py_XDECREF(old);
    return 0;
}

static int peer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct ext_sim_peer *)self)->backend);
    Py_VISIT(((struct ext_sim_peer *)self)->on_event);
    return 0;
}

static int peer_clear(PyObject *self)
{
    Py_CLEAR(((struct ext_sim_peer *)self)->on_event);
    return 0;
}

static void peer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    (void)peer_clear(self);
    peer_end((struct ext_sim_peer *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef peer_methods[] = {
    {"write", peer_write, METH_O,
     "write(data) -> how many bytes fitted. Raises OSError."},
    {"read", peer_read, METH_O,
     "read(max) -> bytes that have arrived, b'' at the end, None if there\n"
     "are none now. Raises ConnectionResetError."},
    {"shutdown", peer_shutdown, METH_NOARGS, "shutdown(): end our stream."},
    {"reset", peer_reset, METH_NOARGS, "reset(): reset the connection."},
    {"close", peer_close, METH_NOARGS, "close(): end both streams."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef peer_getset[] = {
    {"on_event", peer_get_on_event, peer_set_on_event,
     "Called inside select when something has changed for this end.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot peer_slots[] = {
    {Py_tp_new, peer_new},
    {Py_tp_dealloc, peer_dealloc},
    {Py_tp_traverse, peer_traverse},
    {Py_tp_clear, peer_clear},
    {Py_tp_methods, peer_methods},
    {Py_tp_getset, peer_getset},
    {Py_tp_doc,
     "SimPeer(backend, host, port): a client connected to a server that\n"
     "listens there in the simulation."},
    {0, NULL},
};

static PyType_Spec peer_spec = {
    .name = "xsgi._xsgi.SimPeer",
    .basicsize = sizeof(struct ext_sim_peer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = peer_slots,
};

int ext_init_sim_peer(PyObject *module)
{
    struct ext_state *state = ext_state_of(module);

    state->sim_peer_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &peer_spec, NULL);
    if (state->sim_peer_type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->sim_peer_type);
}
