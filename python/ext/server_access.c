/* server_access.c - the access log of a server, and the way of its lines.
 *
 *     on_access ──▶ access_line ──▶ sink         written once a turn, in C
 *               └─▶ config.access_emit(...)      if Python's logging is to
 *                                                have them */

#include "python/ext/server_access.h"

#include <string.h>
#include <unistd.h>

#include "access/format.h"
#include "access/line.h"
#include "access/sink.h"
#include "access/text.h"
#include "core/base/base.h"
#include "core/base/limits.h"
#include "python/ext/bridge.h"
#include "python/ext/option.h"

/* How often to look whether a reader that was slow reads again. */
#define RETRY_NS (100 * XS_MS_NS)

/* How long a server that closes waits for it. */
#define DRAIN_MS 1000

/* Lost lines are told of once in this time, and at the end. */
#define TELL_NS (10 * XS_SECOND_NS)

struct ext_access {
    struct access_format format;
    struct access_clock clock;
    struct access_sink sink; /* if there is no `emit` */
    PyObject *emit;          /* owned; NULL: the sink takes the lines */
    char *line;              /* owned; NULL: `emit` wants no line */
    uint64_t tell_ns;        /* lost lines are not told of before */
};

/* ext_option, but NULL, without an exception, in place of None. */
static PyObject *access_option(PyObject *config, const char *name)
{
    PyObject *value = ext_option(config, name);

    if (value == Py_None) {
        Py_CLEAR(value);
    }
    return value;
}

/* `text`, a str. -1 with ValueError that says what is wrong, and where. */
static int access_read(struct access_format *out, PyObject *text)
{
    struct access_fault fault;
    Py_ssize_t len;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &len);

    if (bytes == NULL) {
        return -1;
    }
    if (access_format_read(out, xs_slice_of(bytes, (size_t)len), &fault)) {
        return 0;
    }
    if (fault.at == 0) {
        PyErr_Format(PyExc_ValueError, "%R: %s.", text, fault.text);
    } else {
        PyErr_Format(PyExc_ValueError, "%R: %s, at character %zu.", text,
                     fault.text, fault.at);
    }
    return -1;
}

int ext_access_check(PyObject *text)
{
    struct access_format *format = PyMem_Malloc(sizeof *format);
    int err;

    if (format == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    err = access_read(format, text);
    PyMem_Free(format);
    return err;
}

static int access_init_format(struct ext_access *access, PyObject *config)
{
    PyObject *text = access_option(config, "access_log_format");
    int err;

    if (text == NULL && PyErr_Occurred() == NULL) {
        text = PyUnicode_FromString("default");
    }
    err = text == NULL ? -1 : access_read(&access->format, text);
    if (err == 0 && access->emit != NULL &&
        PyUnicode_CompareWithASCIIString(text, "default") != 0) {
        access->line = PyMem_Malloc(access->format.line_max);
        if (access->line == NULL) {
            (void)PyErr_NoMemory();
            err = -1;
        }
    }
    Py_XDECREF(text);
    return err;
}

static int access_init(struct ext_access *access, PyObject *config)
{
    access->clock.process = (uint64_t)getpid();
    access->emit = access_option(config, "access_emit");
    if (access->emit == NULL && PyErr_Occurred() != NULL) {
        return -1;
    }
    if (access_init_format(access, config) < 0) {
        return -1;
    }
    if (access->emit == NULL &&
        !access_sink_init(&access->sink, STDOUT_FILENO)) {
        (void)PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int ext_access_new(struct ext_access **out, PyObject *config)
{
    PyObject *wanted = access_option(config, "access_log");
    int truth = wanted == NULL ? 0 : PyObject_IsTrue(wanted);

    *out = NULL;
    Py_XDECREF(wanted);
    if (truth <= 0) {
        return PyErr_Occurred() != NULL ? -1 : 0;
    }
    *out = PyMem_Calloc(1, sizeof **out);
    if (*out == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    if (access_init(*out, config) < 0) {
        ext_access_free(*out);
        *out = NULL;
        return -1;
    }
    return 0;
}

void ext_access_free(struct ext_access *access)
{
    if (access == NULL) {
        return;
    }
    Py_CLEAR(access->emit);
    PyMem_Free(access->line);
    access_sink_fini(&access->sink);
    PyMem_Free(access);
}

const struct xs_access_wants *ext_access_wants(const struct ext_access *access)
{
    return &access->format.wants;
}

PyObject *ext_access_emit(const struct ext_access *access)
{
    return access->emit;
}

/* ---- one request ---- */

static size_t access_render(struct ext_access *access, char *out,
                            const struct xs_access *entry, struct xs_io *io)
{
    return access_line(out, &access->format, entry, io->ops->wall(io),
                       &access->clock);
}

/* A new str of a client's bytes, escaped. */
static PyObject *access_str(struct xs_slice bytes)
{
    char text[4 * XS_ACCESS_TEXT];
    size_t len = 0;

    if (bytes.data != NULL) {
        XS_ASSERT(bytes.len <= XS_ACCESS_TEXT);
        len = access_escape(text, bytes);
    }
    return PyUnicode_FromStringAndSize(text, (Py_ssize_t)len);
}

/* The line as a new str without its end, or None. */
static PyObject *access_line_str(struct ext_access *access,
                                 const struct xs_access *entry,
                                 struct xs_io *io)
{
    size_t len;

    if (access->line == NULL) {
        return Py_NewRef(Py_None);
    }
    len = access_render(access, access->line, entry, io);
    return PyUnicode_DecodeUTF8(access->line, (Py_ssize_t)len - 1, "replace");
}

static void access_tell(struct ext_access *access,
                        const struct xs_access *entry, struct xs_io *io)
{
    char client[ACCESS_CLIENT_MAX];
    PyObject *result = NULL;
    PyObject *args;

    (void)access_client(client, entry->peer);
    /* N: what could not be made ends it with the exception that is set. */
    args = Py_BuildValue(
        "(sNNsIKdsKN)", client, access_str(entry->method),
        access_str(entry->target), entry->minor == 0 ? "1.0" : "1.1",
        entry->status, (unsigned long long)entry->body_bytes,
        (double)(entry->end_ns - entry->start_ns) / 1e9, entry->why,
        (unsigned long long)entry->conn_id, access_line_str(access, entry, io));
    if (args != NULL) {
        result = PyObject_CallObject(access->emit, args);
        Py_DECREF(args);
    }
    if (result == NULL) {
        ext_unraisable(access->emit);
    }
    Py_XDECREF(result);
}

void ext_access_add(struct ext_access *access, const struct xs_access *entry,
                    struct xs_io *io)
{
    char *out;

    if (access->emit != NULL) {
        access_tell(access, entry, io);
        return;
    }
    out = access_sink_room(&access->sink, access->format.line_max);
    if (out != NULL) {
        access_sink_add(&access->sink, access_render(access, out, entry, io));
    }
}

/* ---- the sink ---- */

/* Say that lines were lost. */
static void access_tell_lost(struct ext_access *access, PyObject *logger)
{
    struct access_sink *sink = &access->sink;
    const char *why = sink->error != 0 ? strerror(sink->error)
                                       : "whoever reads it is too slow";
    const char *format = sink->lost == 1
                             ? "%d line of the access log is lost: %s"
                             : "%d lines of the access log are lost: %s";
    PyObject *result = PyObject_CallMethod(logger, "warning", "sKs", format,
                                           (unsigned long long)sink->lost, why);

    sink->lost = 0;
    sink->error = 0;
    if (result == NULL) {
        ext_unraisable(logger);
    }
    Py_XDECREF(result);
}

bool ext_access_waits(const struct ext_access *access)
{
    return access_sink_waits(&access->sink);
}

void ext_access_flush(struct ext_access *access, PyObject *logger,
                      struct xs_io *io)
{
    struct access_sink *sink = &access->sink;
    PyThreadState *thread = ext_gil_release();
    uint64_t now;

    access_sink_flush(sink);
    ext_gil_take(thread);
    /* Not while the reader is still slow: it may be the same who reads what we
     * would say. */
    if (sink->lost > 0 && !access_sink_waits(sink)) {
        now = io->ops->now(io);
        if (now >= access->tell_ns) {
            access->tell_ns = now + TELL_NS;
            access_tell_lost(access, logger);
        }
    }
}

void ext_access_close(struct ext_access *access, PyObject *logger)
{
    PyThreadState *thread = ext_gil_release();

    access_sink_drain(&access->sink, DRAIN_MS);
    ext_gil_take(thread);
    if (access->sink.lost > 0) {
        access_tell_lost(access, logger);
    }
}

uint64_t ext_access_wait(const struct ext_access *access, uint64_t timeout_ns)
{
    return access_sink_waits(&access->sink) && timeout_ns > RETRY_NS
               ? RETRY_NS
               : timeout_ns;
}
