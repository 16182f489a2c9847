/* loop_calls.c - call_soon, call_at and call_later of a loop.
 *
 * What is unusual in the arguments, and with that every mistake in them, is
 * left to the inherited methods. */

#include "python/ext/loop_turns.h"

/* callback, *args, context=None */
struct call {
    PyObject *callback; /* borrowed */
    PyObject *args;     /* owned: a tuple */
    PyObject *context;  /* borrowed; NULL: a copy of the current one */
};

/* The arguments from `first` on, after `first` others. True if they are as
 * usual; then `call->args` is new, or NULL with an exception set. */
static bool call_parse(const struct ext_turns *turns, struct call *call,
                       Py_ssize_t first, PyObject *const *args,
                       Py_ssize_t count, PyObject *keywords)
{
    call->context = NULL;
    if (keywords != NULL && PyTuple_GET_SIZE(keywords) > 0) {
        if (PyTuple_GET_SIZE(keywords) > 1 ||
            PyUnicode_Compare(PyTuple_GET_ITEM(keywords, 0),
                              turns->str.context) != 0) {
            return false;
        }
        call->context = args[count] == Py_None ? NULL : args[count];
    }
    if (count <= first) {
        return false;
    }
    call->callback = args[first];
    call->args = PyTuple_New(count - first - 1);
    for (Py_ssize_t i = first + 1; call->args != NULL && i < count; i++) {
        PyTuple_SET_ITEM(call->args, i - first - 1, Py_NewRef(args[i]));
    }
    return true;
}

/* The handle for `call`, whose arguments are given back. New. */
static PyObject *call_handle(const struct ext_turns *turns, PyTypeObject *type,
                             const struct call *call)
{
    PyObject *handle;

    if (call->args == NULL) {
        return NULL;
    }
    handle = ext_handle_new(&turns->handles, type, turns->loop, call->callback,
                            call->args, call->context);
    Py_DECREF(call->args);
    return handle;
}

PyObject *turns_call_soon(PyObject *self, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords)
{
    struct ext_turns *turns = (struct ext_turns *)self;
    PyObject *handle;
    PyObject *done;
    struct call call;

    if (turns->loop == NULL) {
        return turns_are_over();
    }
    if (!call_parse(turns, &call, 0, args, count, keywords)) {
        return PyObject_Vectorcall(turns->call_soon, args, (size_t)count,
                                   keywords);
    }
    handle = call_handle(turns, turns->handles.type, &call);
    if (handle == NULL) {
        return NULL;
    }
    done = PyObject_CallOneArg(turns->append, handle);
    if (done == NULL) {
        Py_DECREF(handle);
        return NULL;
    }
    Py_DECREF(done);
    return handle;
}

/* A timer for `call` at `when`, a float. New. */
static PyObject *turns_add_timer(struct ext_turns *turns, PyObject *when,
                                 const struct call *call)
{
    PyObject *timer = call_handle(turns, turns->handles.timer_type, call);
    PyObject *timers;

    if (timer == NULL) {
        return NULL;
    }
    ext_handle_set(timer, turns->handles.when, when);
    timers = PyObject_GetAttr(turns->loop, turns->str.scheduled);
    if (timers != NULL && !PyList_CheckExact(timers)) {
        PyErr_SetString(PyExc_TypeError, "loop._scheduled is not a list");
        Py_CLEAR(timers);
    }
    if (timers == NULL || turns_timers_add(turns, timers, timer) < 0) {
        Py_CLEAR(timer);
    }
    Py_XDECREF(timers);
    return timer;
}

PyObject *turns_call_at(PyObject *self, PyObject *const *args, Py_ssize_t count,
                        PyObject *keywords)
{
    struct ext_turns *turns = (struct ext_turns *)self;
    struct call call;

    if (turns->loop == NULL) {
        return turns_are_over();
    }
    if (count < 1 || !PyFloat_CheckExact(args[0]) ||
        !call_parse(turns, &call, 1, args, count, keywords)) {
        turns->strange_timers = true;
        return PyObject_Vectorcall(turns->call_at, args, (size_t)count,
                                   keywords);
    }
    return turns_add_timer(turns, args[0], &call);
}

PyObject *turns_call_later(PyObject *self, PyObject *const *args,
                           Py_ssize_t count, PyObject *keywords)
{
    struct ext_turns *turns = (struct ext_turns *)self;
    PyObject *timer = NULL;
    PyObject *when = NULL;
    struct call call;
    double delay;
    double now;

    if (turns->loop == NULL) {
        return turns_are_over();
    }
    if (turns->backend->drive == NULL || count < 1 ||
        !(PyFloat_CheckExact(args[0]) || PyLong_CheckExact(args[0])) ||
        !call_parse(turns, &call, 1, args, count, keywords)) {
        turns->strange_timers = true;
        return PyObject_Vectorcall(turns->call_later, args, (size_t)count,
                                   keywords);
    }
    delay = PyFloat_AsDouble(args[0]);
    if ((delay != -1.0 || PyErr_Occurred() == NULL) &&
        turns_now(turns, &now) == 0) {
        when = PyFloat_FromDouble(now + delay);
    }
    if (when == NULL) {
        Py_XDECREF(call.args);
        return NULL;
    }
    timer = turns_add_timer(turns, when, &call);
    Py_DECREF(when);
    return timer;
}
