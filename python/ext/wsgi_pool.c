/* wsgi_pool.c - the workers: threads that run the application.
 *
 * They are Python's own threads (threading.Thread), so that everything that
 * asks for the present thread finds one. Requests wait in the order in which
 * they came; there are never more of them than connections, since each has at
 * most one request here. */

#include <pthread.h>

#include "core/base/base.h"
#include "python/ext/bridge.h"
#include "python/ext/wsgi_parts.h"

/* How long the end waits for applications that still run, all together. */
#define PATIENCE_S 1.0

struct wsgi_pool {
    PyObject_HEAD

        struct {
        pthread_mutex_t lock;   /* guards what follows */
        pthread_cond_t news;    /* for the workers: look again */
        struct xs_list waiting; /* wsgi_request.link; each holds a reference */
        bool is_ending;
    } shared;

    /* Only the loop's thread. */
    PyObject *threads; /* owned: list */
    bool has_lock;
};

static struct wsgi_pool *pool_of(PyObject *self)
{
    return (struct wsgi_pool *)(void *)self;
}

static void lock(struct wsgi_pool *pool)
{
    int err = pthread_mutex_lock(&pool->shared.lock);

    XS_ASSERT(err == 0);
    (void)err;
}

static void unlock(struct wsgi_pool *pool)
{
    int err = pthread_mutex_unlock(&pool->shared.lock);

    XS_ASSERT(err == 0);
    (void)err;
}

/* ---- a worker ---- */

/* Wait for a request; NULL at the end. The GIL is away meanwhile, which also
 * lets the loop's thread send what the last one left. */
static struct wsgi_request *pool_take(struct wsgi_pool *pool)
{
    PyThreadState *thread = ext_gil_release();
    struct xs_list *link;

    lock(pool);
    while ((link = xs_list_pop(&pool->shared.waiting)) == NULL &&
           !pool->shared.is_ending) {
        pthread_cond_wait(&pool->shared.news, &pool->shared.lock);
    }
    unlock(pool);
    ext_gil_take(thread);
    return link == NULL ? NULL
                        : xs_container_of(link, struct wsgi_request, link);
}

static PyObject *pool_work(PyObject *self, PyObject *unused)
{
    struct wsgi_request *request;

    (void)unused;
    while ((request = pool_take(pool_of(self))) != NULL) {
        wsgi_request_run(request);
        XS_ASSERT(PyErr_Occurred() == NULL);
        Py_DECREF(request);
    }
    Py_RETURN_NONE;
}

static PyMethodDef work_def = {
    "work", pool_work, METH_NOARGS,
    PyDoc_STR("work()\n--\n\nRun requests until the pool ends.")};

/* ---- the loop's thread ---- */

void wsgi_pool_submit(struct wsgi_pool *pool, struct wsgi_request *request)
{
    Py_INCREF(request);
    lock(pool);
    XS_ASSERT(!pool->shared.is_ending);
    xs_list_append(&pool->shared.waiting, &request->link);
    pthread_cond_signal(&pool->shared.news);
    unlock(pool);
}

bool wsgi_pool_revoke(struct wsgi_pool *pool, struct wsgi_request *request)
{
    bool found;

    lock(pool);
    found = !xs_list_empty(&request->link);
    xs_list_remove(&request->link);
    unlock(pool);
    if (found) {
        Py_DECREF(request);
    }
    return found;
}

static int pool_start_thread(struct wsgi_pool *pool, PyObject *type,
                             PyObject *work, long number)
{
    PyObject *args = PyTuple_New(0);
    PyObject *options = Py_BuildValue(
        "{sOsNsO}", "target", work, "name",
        PyUnicode_FromFormat("xsgi-worker-%ld", number), "daemon", Py_True);
    PyObject *thread = NULL;
    PyObject *done = NULL;

    if (args != NULL && options != NULL) {
        thread = PyObject_Call(type, args, options);
    }
    if (thread != NULL && PyList_Append(pool->threads, thread) == 0) {
        done = PyObject_CallMethod(thread, "start", NULL);
    }
    Py_XDECREF(done);
    Py_XDECREF(thread);
    Py_XDECREF(options);
    Py_XDECREF(args);
    return done == NULL ? -1 : 0;
}

static int pool_start(struct wsgi_pool *pool, long count)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *work = PyCFunction_New(&work_def, (PyObject *)pool);
    PyObject *type = NULL;
    int err = -1;
    long i;

    if (threading != NULL && work != NULL) {
        type = PyObject_GetAttrString(threading, "Thread");
    }
    if (type != NULL) {
        err = 0;
        for (i = 1; i <= count && err == 0; i++) {
            err = pool_start_thread(pool, type, work, i);
        }
    }
    Py_XDECREF(type);
    Py_XDECREF(work);
    Py_XDECREF(threading);
    return err;
}

struct wsgi_pool *wsgi_pool_new(struct ext_wsgi *wsgi, long count)
{
    struct wsgi_pool *pool = PyObject_New(struct wsgi_pool, wsgi->pool_type);

    if (pool == NULL) {
        return NULL;
    }
    xs_list_init(&pool->shared.waiting);
    pool->shared.is_ending = false;
    pool->threads = PyList_New(0);
    pool->has_lock = pthread_mutex_init(&pool->shared.lock, NULL) == 0;
    if (pool->has_lock && pthread_cond_init(&pool->shared.news, NULL) != 0) {
        pthread_mutex_destroy(&pool->shared.lock);
        pool->has_lock = false;
    }
    if (pool->threads == NULL || !pool->has_lock) {
        Py_DECREF(pool);
        PyErr_NoMemory();
        return NULL;
    }
    if (pool_start(pool, count) < 0) {
        wsgi_pool_free(pool);
        return NULL;
    }
    return pool;
}

/* Wait for the threads. One that stays in the application is left to itself:
 * it is a daemon, and holds a reference to the pool. */
static int pool_join(struct wsgi_pool *pool)
{
    Py_ssize_t count = PyList_GET_SIZE(pool->threads);
    Py_ssize_t i;

    for (i = 0; i < count; i++) {
        PyObject *done =
            PyObject_CallMethod(PyList_GET_ITEM(pool->threads, i), "join", "d",
                                PATIENCE_S / (double)count);

        if (done != NULL) {
            Py_DECREF(done);
        } else if (PyErr_ExceptionMatches(PyExc_RuntimeError)) {
            PyErr_Clear(); /* a worker dropped the server: this is its thread */
        } else {
            return -1;
        }
    }
    return 0;
}

/* Requests that wait although their response has ended (there was no memory for
 * their body): nobody runs them any more. */
static void pool_forget(struct wsgi_pool *pool)
{
    struct xs_list *link;

    do {
        struct wsgi_request *request;

        lock(pool);
        link = xs_list_pop(&pool->shared.waiting);
        unlock(pool);
        if (link != NULL) {
            request = xs_container_of(link, struct wsgi_request, link);
            wsgi_request_finish(request);
            Py_DECREF(request);
        }
    } while (link != NULL);
}

void wsgi_pool_free(struct wsgi_pool *pool)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;

    if (pool == NULL) {
        return;
    }
    pool_forget(pool);
    lock(pool);
    pool->shared.is_ending = true;
    pthread_cond_broadcast(&pool->shared.news);
    unlock(pool);
    PyErr_Fetch(&type, &value, &traceback);
    if (pool_join(pool) < 0) {
        ext_unraisable((PyObject *)pool);
    }
    PyErr_Restore(type, value, traceback);
    Py_DECREF(pool);
}

static void pool_dealloc(PyObject *self)
{
    struct wsgi_pool *pool = pool_of(self);
    PyTypeObject *type = Py_TYPE(self);

    if (pool->has_lock) {
        pthread_cond_destroy(&pool->shared.news);
        pthread_mutex_destroy(&pool->shared.lock);
    }
    Py_CLEAR(pool->threads);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot pool_slots[] = {
    {Py_tp_doc, (char *)"The threads of a WSGI application."},
    {Py_tp_dealloc, pool_dealloc},
    {0, NULL},
};

static PyType_Spec pool_spec = {
    .name = "xsgi._xsgi.Pool",
    .basicsize = sizeof(struct wsgi_pool),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = pool_slots,
};

int wsgi_pool_init_type(PyObject *module, struct ext_wsgi *wsgi)
{
    wsgi->pool_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &pool_spec, NULL);
    return wsgi->pool_type == NULL ? -1 : 0;
}
