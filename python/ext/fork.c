/* fork.c - a child of the application that the application's process forks. */

#include "python/ext/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "python/ext/python.h"

/* Of the process, as forks are: written in a child before any of its code. */
static unsigned fork_count;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_error;

static void on_child(void)
{
    fork_count++;
}

static void fork_register(void)
{
    fork_error = pthread_atfork(NULL, NULL, on_child);
}

int ext_fork_init(void)
{
    if (pthread_once(&fork_once, fork_register) != 0 || fork_error != 0) {
        (void)PyErr_NoMemory();
        return -1;
    }
    return 0;
}

unsigned ext_fork_count(void)
{
    return fork_count;
}

/* What is set, as an object; None: nothing is. New. */
static PyObject *fork_error_set(void)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;

    if (PyErr_Occurred() == NULL) {
        return Py_NewRef(Py_None);
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        (void)PyException_SetTraceback(value, traceback);
    }
    Py_DECREF(type);
    Py_XDECREF(traceback);
    return value;
}

void ext_fork_leave(void)
{
    PyObject *error = fork_error_set();
    PyObject *child = PyImport_ImportModule("xsgi.child");

    if (child != NULL) {
        (void)PyObject_CallMethod(child, "leave", "O", error);
    }
    _exit(1); /* whatever went wrong with that */
}
