/* wsgi_input.c - wsgi.input: the request body as a stream of bytes.
 *
 * The body comes in blocks. One is held; when it is used up, `input_fill` gets
 * the next one, from where this input has its blocks:
 *
 *     nowhere      the block that it was made with is all
 *     a spool      a file in which the whole body lies
 *     a channel    the loop's thread: this waits (wsgi_channel.c)
 *
 * The end of the body is the end of the stream: b"" for ever after. */

#include <string.h>

#include "core/base/base.h"
#include "python/ext/wsgi_parts.h"

#define EVERYTHING WSGI_SIZE_MAX

struct wsgi_input {
    PyObject_HEAD

        PyObject *block;          /* owned; NULL: none is held */
    Py_ssize_t at;                /* bytes of it that were read */
    PyObject *spool;              /* owned; NULL: not from there */
    struct wsgi_request *request; /* owned; NULL: not from there */
};

static struct wsgi_input *input_of(PyObject *self)
{
    return (struct wsgi_input *)(void *)self;
}

static PyObject *input_new(struct ext_wsgi *wsgi)
{
    struct wsgi_input *input =
        PyObject_New(struct wsgi_input, wsgi->input_type);

    if (input != NULL) {
        input->block = NULL;
        input->at = 0;
        input->spool = NULL;
        input->request = NULL;
    }
    return (PyObject *)input;
}

PyObject *wsgi_input_of_block(struct ext_wsgi *wsgi, PyObject *block)
{
    PyObject *self = input_new(wsgi);

    if (self != NULL) {
        input_of(self)->block = Py_XNewRef(block);
    }
    return self;
}

PyObject *wsgi_input_of_spool(struct ext_wsgi *wsgi, PyObject *spool)
{
    PyObject *self = input_new(wsgi);

    if (self != NULL) {
        input_of(self)->spool = Py_NewRef(spool);
    }
    return self;
}

PyObject *wsgi_input_of_channel(struct wsgi_request *request)
{
    PyObject *self = input_new(request->gateway->wsgi);

    if (self != NULL) {
        Py_INCREF(request);
        input_of(self)->request = request;
    }
    return self;
}

/* There is nothing more, or nobody wants it. */
static void input_end(struct wsgi_input *input)
{
    struct wsgi_request *request = input->request;

    input->request = NULL;
    Py_XDECREF(request);
    wsgi_spool_close(&input->spool);
    Py_CLEAR(input->block);
}

/* The next block, a new reference; NULL at the end. May let other threads
 * run. */
static int input_next(struct wsgi_input *input, PyObject **block)
{
    *block = NULL;
    if (input->spool != NULL) {
        *block =
            PyObject_CallMethod(input->spool, "read", "n", WSGI_FILE_BLOCK);
        if (*block == NULL) {
            return -1;
        }
        if (!PyBytes_Check(*block)) {
            PyErr_SetString(PyExc_TypeError, "a spool did not read bytes");
            Py_CLEAR(*block);
            return -1;
        }
        if (PyBytes_GET_SIZE(*block) == 0) {
            Py_CLEAR(*block);
        }
        return 0;
    }
    if (input->request != NULL) {
        struct wsgi_request *request = input->request;
        int err;

        Py_INCREF(request);
        err = wsgi_channel_read(request->channel, block);
        Py_DECREF(request);
        return err;
    }
    return 0;
}

/* See to it that bytes are held. 1, 0 at the end, or -1 with an exception
 * set. */
static int input_fill(struct wsgi_input *input)
{
    PyObject *block;

    if (input->block != NULL && input->at < PyBytes_GET_SIZE(input->block)) {
        return 1;
    }
    if (input_next(input, &block) < 0) {
        return -1;
    }
    if (block == NULL) {
        input_end(input);
        return 0;
    }
    XS_ASSERT(PyBytes_GET_SIZE(block) > 0);
    Py_XSETREF(input->block, block);
    input->at = 0;
    return 1;
}

/* The first `len` > 0 of the bytes that are held. New. */
static PyObject *input_cut(struct wsgi_input *input, Py_ssize_t len)
{
    Py_ssize_t left = PyBytes_GET_SIZE(input->block) - input->at;
    PyObject *out;

    XS_ASSERT(len > 0);
    XS_ASSERT(len <= left);
    if (input->at == 0 && len == left) {
        out = input->block;
        input->block = NULL;
        return out;
    }
    out = PyBytes_FromStringAndSize(PyBytes_AS_STRING(input->block) + input->at,
                                    len);
    if (out != NULL) {
        input->at += len;
    }
    return out;
}

/* How many of the bytes that are held belong to what is read: at most `max`,
 * and nothing behind a line's end if a line is read. */
static Py_ssize_t input_span(const struct wsgi_input *input, Py_ssize_t max,
                             bool line, bool *done)
{
    const char *data = PyBytes_AS_STRING(input->block) + input->at;
    Py_ssize_t len = PyBytes_GET_SIZE(input->block) - input->at;
    const char *end;

    if (len >= max) {
        len = max;
        *done = true;
    }
    end = line ? memchr(data, '\n', (size_t)len) : NULL;
    if (end != NULL) {
        len = end - data + 1;
        *done = true;
    }
    return len;
}

/* b"".join(parts), with the reference to `parts` taken. New. */
static PyObject *parts_joined(PyObject *parts)
{
    PyObject *nothing = PyBytes_FromStringAndSize(NULL, 0);
    PyObject *all = NULL;

    if (nothing != NULL) {
        all = PyObject_CallMethod(nothing, "join", "O", parts);
        Py_DECREF(nothing);
    }
    Py_DECREF(parts);
    return all;
}

/* Put `part` (taken) behind what was read: nothing, one bytes object, or a
 * list of them. */
static int parts_add(PyObject **parts, PyObject *part)
{
    PyObject *list;
    int err;

    if (*parts == NULL) {
        *parts = part;
        return 0;
    }
    if (!PyList_Check(*parts)) {
        list = PyList_New(1);
        if (list == NULL) {
            Py_DECREF(part);
            return -1;
        }
        PyList_SET_ITEM(list, 0, *parts);
        *parts = list;
    }
    err = PyList_Append(*parts, part);
    Py_DECREF(part);
    return err;
}

/* Up to `max` bytes; up to a line's end if `line`. New. */
static PyObject *input_read(struct wsgi_input *input, Py_ssize_t max, bool line)
{
    PyObject *parts = NULL;
    bool done = max == 0;

    while (!done) {
        int more = input_fill(input);
        Py_ssize_t len;
        PyObject *part;

        if (more < 0) {
            Py_XDECREF(parts);
            return NULL;
        }
        if (more == 0) {
            break;
        }
        len = input_span(input, max, line, &done);
        part = input_cut(input, len);
        if (part == NULL || parts_add(&parts, part) < 0) {
            Py_XDECREF(parts);
            return NULL;
        }
        max -= len;
    }
    if (parts == NULL) {
        return PyBytes_FromStringAndSize(NULL, 0);
    }
    return PyList_Check(parts) ? parts_joined(parts) : parts;
}

/* ---- what the application sees ---- */

/* The one optional argument, a size: absent, None and negative ones are
 * everything. */
static int size_of(const char *name, PyObject *const *args, Py_ssize_t count,
                   Py_ssize_t *out)
{
    *out = EVERYTHING;
    if (count > 1) {
        PyErr_Format(PyExc_TypeError,
                     "%s() takes at most 1 argument (%zd given)", name, count);
        return -1;
    }
    if (count == 0 || args[0] == Py_None) {
        return 0;
    }
    *out = PyNumber_AsSsize_t(args[0], PyExc_OverflowError);
    if (*out == -1 && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (*out < 0) {
        *out = EVERYTHING;
    }
    return 0;
}

static PyObject *input_read_py(PyObject *self, PyObject *const *args,
                               Py_ssize_t count)
{
    Py_ssize_t max;

    if (size_of("read", args, count, &max) < 0) {
        return NULL;
    }
    return input_read(input_of(self), max, false);
}

static PyObject *input_readline_py(PyObject *self, PyObject *const *args,
                                   Py_ssize_t count)
{
    Py_ssize_t max;

    if (size_of("readline", args, count, &max) < 0) {
        return NULL;
    }
    return input_read(input_of(self), max, true);
}

static PyObject *input_readlines_py(PyObject *self, PyObject *const *args,
                                    Py_ssize_t count)
{
    PyObject *lines = PyList_New(0);
    Py_ssize_t total = 0;
    Py_ssize_t hint;

    if (lines == NULL || size_of("readlines", args, count, &hint) < 0) {
        Py_XDECREF(lines);
        return NULL;
    }
    /* As io.IOBase has it: 0 is no hint. */
    while (hint == 0 || total < hint) {
        PyObject *line = input_read(input_of(self), EVERYTHING, true);
        Py_ssize_t len = line == NULL ? 0 : PyBytes_GET_SIZE(line);

        if (line == NULL || (len > 0 && PyList_Append(lines, line) < 0)) {
            Py_XDECREF(line);
            Py_DECREF(lines);
            return NULL;
        }
        Py_DECREF(line);
        if (len == 0) {
            break;
        }
        total += len;
    }
    return lines;
}

static PyObject *input_iternext(PyObject *self)
{
    PyObject *line = input_read(input_of(self), EVERYTHING, true);

    if (line != NULL && PyBytes_GET_SIZE(line) == 0) {
        Py_CLEAR(line);
    }
    return line;
}

static PyObject *input_close_py(PyObject *self, PyObject *unused)
{
    (void)unused;
    input_end(input_of(self));
    Py_RETURN_NONE;
}

static void input_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    input_end(input_of(self));
    PyObject_Free(self);
    Py_DECREF(type);
}

#define FASTCALL(function) (PyCFunction)(void (*)(void)) function

static PyMethodDef input_methods[] = {
    {"read", FASTCALL(input_read_py), METH_FASTCALL,
     PyDoc_STR("read(size=-1, /)\n--\n\n"
               "Exactly `size` bytes, or fewer at the end of the body.")},
    {"readline", FASTCALL(input_readline_py), METH_FASTCALL,
     PyDoc_STR("readline(size=-1, /)\n--\n\n"
               "The next line with its end, cut at `size` bytes.")},
    {"readlines", FASTCALL(input_readlines_py), METH_FASTCALL,
     PyDoc_STR("readlines(hint=-1, /)\n--\n\n"
               "Lines until they have `hint` bytes together.")},
    {"close", input_close_py, METH_NOARGS,
     PyDoc_STR("close()\n--\n\nForget the rest of the body.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot input_slots[] = {
    {Py_tp_doc, (char *)"The body of a request: wsgi.input of PEP 3333."},
    {Py_tp_methods, input_methods},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, input_iternext},
    {Py_tp_dealloc, input_dealloc},
    {0, NULL},
};

static PyType_Spec input_spec = {
    .name = "xsgi._xsgi.Input",
    .basicsize = sizeof(struct wsgi_input),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = input_slots,
};

int wsgi_input_init_type(PyObject *module, struct ext_wsgi *wsgi)
{
    wsgi->input_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &input_spec, NULL);
    return wsgi->input_type == NULL ? -1 : 0;
}
