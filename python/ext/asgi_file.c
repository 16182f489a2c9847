/* asgi_file.c - what a step of `send(message)` does for the two messages whose
 * body is in a file: http.response.pathsend and http.response.zerocopysend.
 *
 * Both are http.response.body with other bytes: what is said of order, waiting
 * and errors in asgi_send.c holds for them. What is wrong with the file is
 * raised before anything of the message is taken: the application may send
 * something else. */

#include <unistd.h>

#include "core/base/error.h"
#include "python/ext/asgi_parts.h"
#include "python/ext/bridge.h"
#include "python/ext/file.h"

#define SEND_PATH "http.response.pathsend"
#define SEND_FILE "http.response.zerocopysend"

/* A range of a file that an application has named. */
struct file_range {
    struct ext_file file;
    uint64_t offset;
    uint64_t len;
};

/* As asgi_send_taken, which does not know the lengths. */
static PySendResult file_taken(struct asgi_await *await,
                               const struct file_range *range, bool more,
                               const char *what)
{
    struct asgi_request *request = await->request;
    uint64_t left = xs_response_left(request->req);
    struct ext_file file = range->file;
    int err;

    err = ext_file_lend(request->req, &file, range->offset, (size_t)range->len,
                        more);
    if (err != 0) {
        ext_file_close(&file);
    }
    if (err != XS_ELENGTH) {
        return asgi_send_taken(await, err, more, what);
    }
    asgi_send_failed(request);
    PyErr_Format(PyExc_RuntimeError,
                 "%s: the file gives %llu bytes, Content-Length leaves %llu",
                 what, (unsigned long long)range->len,
                 (unsigned long long)left);
    return PYGEN_ERROR;
}

/* ---- http.response.pathsend ---- */

/* message["path"] as bytes, new. */
static PyObject *path_bytes(const struct ext_asgi *asgi, PyObject *message)
{
    PyObject *path = PyDict_GetItemWithError(message, asgi->str.path);
    PyObject *bytes;

    if (path == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, SEND_PATH ": 'path' is missing");
        }
        return NULL;
    }
    Py_INCREF(path);
    if (!PyUnicode_FSConverter(path, &bytes)) {
        bytes = NULL;
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError,
                         SEND_PATH ": 'path' must be a str, not %.100s",
                         Py_TYPE(path)->tp_name);
        }
    }
    Py_DECREF(path);
    return bytes;
}

PySendResult asgi_send_path(struct asgi_await *await)
{
    struct asgi_request *request = await->request;
    PyObject *path = path_bytes(request->asgi, await->message);
    struct file_range range = {.offset = 0};
    int err;

    if (path == NULL) {
        return PYGEN_ERROR;
    }
    err = ext_file_open(&range.file, path, SEND_PATH);
    Py_DECREF(path);
    if (err < 0) {
        return PYGEN_ERROR;
    }
    if (asgi_request_check_live(request) < 0) {
        ext_file_close(&range.file);
        return PYGEN_ERROR;
    }
    range.len = range.file.size;
    return file_taken(await, &range, false, SEND_PATH);
}

/* ---- http.response.zerocopysend ---- */

/* The descriptor of message["file"]; -1 with an exception set. */
static int file_descriptor(PyObject *file)
{
    int fd = PyObject_AsFileDescriptor(file);

    if (fd < 0 && (PyErr_ExceptionMatches(PyExc_TypeError) ||
                   PyErr_ExceptionMatches(PyExc_OSError))) {
        PyErr_Format(PyExc_TypeError,
                     SEND_FILE
                     ": 'file' must be a file with a descriptor, not %.100s",
                     Py_TYPE(file)->tp_name);
    }
    return fd;
}

/* message[key], not negative; `*is_none` if it is not there. -1 with an
 * exception set. */
static int file_number(PyObject *message, PyObject *key, uint64_t *out,
                       bool *is_none)
{
    PyObject *object = PyDict_GetItemWithError(message, key);
    long long number;

    *is_none = object == NULL || object == Py_None;
    if (*is_none) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (!PyLong_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     SEND_FILE ": '%U' must be an int, not %.100s", key,
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    number = PyLong_AsLongLong(object);
    if (number < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError,
                     SEND_FILE ": '%U' must be from 0 to 2**63 - 1, not %S",
                     key, object);
        return -1;
    }
    *out = (uint64_t)number;
    return 0;
}

/* Where the file is; with `to` not negative, go there. Who buffers knows better
 * than the descriptor. -1 with an exception set. */
static long long file_place(PyObject *file, int fd, long long to)
{
    PyObject *said;
    long long at;

    if (PyLong_Check(file)) {
        at = to < 0 ? lseek(fd, 0, SEEK_CUR) : lseek(fd, (off_t)to, SEEK_SET);
        if (at < 0) {
            PyErr_SetFromErrno(PyExc_OSError);
        }
        return at;
    }
    said = to < 0 ? PyObject_CallMethod(file, "tell", NULL)
                  : PyObject_CallMethod(file, "seek", "L", to);
    if (said == NULL) {
        return -1;
    }
    at = to < 0 ? PyLong_AsLongLong(said) : to;
    Py_DECREF(said);
    if (at < 0 && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, SEND_FILE ": 'file' has no place");
    }
    return at < 0 ? -1 : at;
}

/* What the message says of the range, but for its file. `*from_here`: it names
 * no offset. -1 with an exception set. */
static int range_read(const struct ext_asgi *asgi, PyObject *message,
                      struct file_range *range, bool *from_here)
{
    bool is_all;

    if (file_number(message, asgi->str.offset, &range->offset, from_here) < 0 ||
        file_number(message, asgi->str.count, &range->len, &is_all) < 0) {
        return -1;
    }
    if (is_all) {
        range->len = UINT64_MAX;
    }
    return 0;
}

/* What the file has of it; who names no offset goes on from where it is, and
 * the next one from where this one ends. -1 with an exception set. */
static int range_place(PyObject *file, struct file_range *range, bool from_here)
{
    uint64_t size = range->file.size;
    uint64_t rest;
    long long at;

    if (from_here) {
        at = file_place(file, range->file.fd, -1);
        if (at < 0) {
            return -1;
        }
        range->offset = (uint64_t)at;
    }
    rest = size > range->offset ? size - range->offset : 0;
    range->len = range->len < rest ? range->len : rest;
    if (from_here) {
        at = (long long)range->offset + (long long)range->len;
        return file_place(file, range->file.fd, at) < 0 ? -1 : 0;
    }
    return 0;
}

static PySendResult send_file(struct asgi_await *await, PyObject *file)
{
    struct asgi_request *request = await->request;
    int more = asgi_send_more(request->asgi, await->message);
    struct file_range range;
    bool from_here;
    int fd;

    if (more < 0 ||
        range_read(request->asgi, await->message, &range, &from_here) < 0) {
        return PYGEN_ERROR;
    }
    fd = file_descriptor(file);
    if (fd < 0 || asgi_request_check_live(request) < 0) {
        return PYGEN_ERROR;
    }
    if (xs_response_full(request->req)) {
        return PYGEN_NEXT; /* before the file's place changes */
    }
    if (ext_file_dup(&range.file, fd, SEND_FILE) < 0) {
        return PYGEN_ERROR;
    }
    if (range_place(file, &range, from_here) < 0 ||
        asgi_request_check_live(request) < 0) {
        ext_file_close(&range.file);
        return PYGEN_ERROR;
    }
    return file_taken(await, &range, more != 0, SEND_FILE);
}

PySendResult asgi_send_file(struct asgi_await *await)
{
    PyObject *file =
        PyDict_GetItemWithError(await->message, await->request->asgi->str.file);
    PySendResult step;

    if (file == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, SEND_FILE ": 'file' is missing");
        }
        return PYGEN_ERROR;
    }
    Py_INCREF(file);
    step = send_file(await, file);
    Py_DECREF(file);
    return step;
}
