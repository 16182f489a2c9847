/* wsgi_file.c - wsgi.file_wrapper: a file as the blocks of a response.
 *
 * `close` is there for every file and does nothing if the file has none, so
 * that the gateway, and whoever wraps this, need not ask.
 *
 * The gateway sends what it can by sendfile (PEP 3333, "Optional
 * Platform-Specific File Handling"), which is what Python's own binary files
 * have left, exactly of these types. Others may have a descriptor and give
 * something else: that of gzip.GzipFile is the compressed file's. */

#include "python/ext/file.h"
#include "python/ext/wsgi_parts.h"

struct wsgi_file {
    PyObject_HEAD

        PyObject *file; /* owned; NULL: closed */
    Py_ssize_t size;    /* how much to read at once */
    uint64_t left;      /* of what the response has room for */
};

static struct wsgi_file *file_of(PyObject *self)
{
    return (struct wsgi_file *)(void *)self;
}

/* `size` may be absent. */
static PyObject *file_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {(char *)"filelike", (char *)"block_size", NULL};
    Py_ssize_t size = WSGI_FILE_BLOCK;
    PyObject *file;
    PyObject *self;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:file_wrapper", names,
                                     &file, &size)) {
        return NULL;
    }
    if (size <= 0) {
        size = WSGI_FILE_BLOCK;
    }
    self = type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    file_of(self)->file = Py_NewRef(file);
    file_of(self)->size = size;
    file_of(self)->left = UINT64_MAX;
    return self;
}

/* Whether `object` is exactly of the type io.NAME. -1 with an exception set. */
static int is_of_io(PyObject *object, const char *name)
{
    PyObject *io = PyImport_ImportModule("io");
    PyObject *type = io == NULL ? NULL : PyObject_GetAttrString(io, name);
    int is = type == NULL ? -1 : (PyObject *)Py_TYPE(object) == type;

    Py_XDECREF(type);
    Py_XDECREF(io);
    return is;
}

/* Whether nothing is between `file` and its descriptor but a buffer of its
 * own. -1 with an exception set. */
static int file_is_plain(PyObject *file)
{
    int is = is_of_io(file, "FileIO");
    PyObject *raw;

    if (is == 0) {
        is = is_of_io(file, "BufferedReader");
        if (is <= 0) {
            return is;
        }
        raw = PyObject_GetAttrString(file, "raw");
        is = raw == NULL ? -1 : is_of_io(raw, "FileIO");
        Py_XDECREF(raw);
    }
    return is;
}

/* Where it stands; -1 with an exception set. */
static long long file_place(PyObject *file)
{
    PyObject *place = PyObject_CallMethod(file, "tell", NULL);
    long long at = place == NULL ? -1 : PyLong_AsLongLong(place);

    Py_XDECREF(place);
    return at;
}

/* What goes wrong here will go wrong again when it is read: then it is said. */
static PyObject *file_blocks(void)
{
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
    }
    return NULL;
}

void wsgi_file_limit(PyObject *wrapper, uint64_t max)
{
    file_of(wrapper)->left = max;
}

PyObject *wsgi_file_range(PyObject *wrapper, uint64_t max)
{
    PyObject *inner = file_of(wrapper)->file;
    struct ext_file file;
    long long at;
    uint64_t len;
    int is = inner == NULL ? 0 : file_is_plain(inner);
    int fd;

    if (is <= 0) {
        return is < 0 ? file_blocks() : NULL;
    }
    at = file_place(inner);
    fd = at < 0 ? -1 : PyObject_AsFileDescriptor(inner);
    if (fd < 0) {
        return file_blocks();
    }
    if (!ext_file_fits(fd)) {
        return NULL;
    }
    if (ext_file_dup(&file, fd, "wsgi.file_wrapper") < 0) {
        return file_blocks();
    }
    len = file.size > (uint64_t)at ? file.size - (uint64_t)at : 0;
    len = len < max ? len : max;
    if (len == 0) {
        ext_file_close(&file);
        return NULL;
    }
    return ext_range_new(&file, (uint64_t)at, (size_t)len);
}

static PyObject *file_iternext(PyObject *self)
{
    struct wsgi_file *file = file_of(self);
    PyObject *block;
    Py_ssize_t size;
    int more;

    if (file->file == NULL || file->left == 0) {
        return NULL;
    }
    size =
        (uint64_t)file->size < file->left ? file->size : (Py_ssize_t)file->left;
    block = PyObject_CallMethod(file->file, "read", "n", size);
    more = block == NULL ? 0 : PyObject_IsTrue(block);
    if (more <= 0) {
        Py_CLEAR(block);
    } else if (file->left != UINT64_MAX && PyBytes_Check(block)) {
        /* One that gives more than it was asked for is told so later. */
        size = PyBytes_GET_SIZE(block) < size ? PyBytes_GET_SIZE(block) : size;
        file->left -= (uint64_t)size;
    }
    return block;
}

static PyObject *file_close(PyObject *self, PyObject *unused)
{
    PyObject *inner = file_of(self)->file;
    PyObject *close;
    PyObject *done;

    (void)unused;
    file_of(self)->file = NULL;
    if (inner == NULL) {
        Py_RETURN_NONE;
    }
    close = PyObject_GetAttrString(inner, "close");
    Py_DECREF(inner);
    if (close == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return NULL;
        }
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    done = PyObject_CallNoArgs(close);
    Py_DECREF(close);
    return done;
}

static int file_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(file_of(self)->file);
    return 0;
}

static int file_clear(PyObject *self)
{
    Py_CLEAR(file_of(self)->file);
    return 0;
}

static void file_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    Py_CLEAR(file_of(self)->file);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef file_methods[] = {
    {"close", file_close, METH_NOARGS,
     PyDoc_STR("close()\n--\n\nClose the file, if it can be.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot file_slots[] = {
    {Py_tp_doc, (char *)"FileWrapper(filelike, block_size=65536)\n--\n\n"
                        "The blocks of a file: wsgi.file_wrapper of PEP 3333."},
    {Py_tp_new, file_new},
    {Py_tp_methods, file_methods},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, file_iternext},
    {Py_tp_traverse, file_traverse},
    {Py_tp_clear, file_clear},
    {Py_tp_dealloc, file_dealloc},
    {0, NULL},
};

static PyType_Spec file_spec = {
    .name = "xsgi._xsgi.FileWrapper",
    .basicsize = sizeof(struct wsgi_file),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = file_slots,
};

int wsgi_file_init_type(PyObject *module, struct ext_wsgi *wsgi)
{
    wsgi->file_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &file_spec, NULL);
    return wsgi->file_type == NULL ? -1 : 0;
}
