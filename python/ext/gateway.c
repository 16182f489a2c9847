/* gateway.c - what both gateways are: one application under the core. */

#include "python/ext/gateway.h"

#include "core/base/base.h"
#include "core/base/limits.h"
#include "python/ext/bridge.h"
#include "python/ext/file.h"
#include "python/ext/fork.h"

PyDoc_STRVAR(disconnected_doc,
             "The client has gone: the response cannot reach it any more.\n"
             "\n"
             "Raised by what an application answers with. It may let it "
             "escape.");

PyObject *ext_gateway_init_type(PyObject *module)
{
    PyObject *type =
        PyErr_NewExceptionWithDoc("xsgi.ClientDisconnected", disconnected_doc,
                                  PyExc_ConnectionResetError, NULL);

    if (type != NULL &&
        PyModule_AddObjectRef(module, "ClientDisconnected", type) < 0) {
        Py_CLEAR(type);
    }
    return type;
}

int ext_gateway_init(struct ext_gateway *gateway, PyObject *app,
                     PyObject *disconnected)
{
    PyObject *logging = PyImport_ImportModule("logging");

    gateway->app = Py_NewRef(app);
    gateway->disconnected = Py_NewRef(disconnected);
    gateway->thread = PyThread_get_thread_ident();
    gateway->fork_count = ext_fork_count();
    if (logging != NULL) {
        gateway->logger =
            PyObject_CallMethod(logging, "getLogger", "s", "xsgi.error");
        Py_DECREF(logging);
    }
    return gateway->logger == NULL ? -1 : 0;
}

int ext_gateway_traverse(struct ext_gateway *gateway, visitproc visit,
                         void *arg)
{
    Py_VISIT(gateway->app);
    Py_VISIT(gateway->logger);
    Py_VISIT(gateway->disconnected);
    return 0;
}

void ext_gateway_fini(struct ext_gateway *gateway)
{
    XS_ASSERT(gateway->running == 0);
    Py_CLEAR(gateway->disconnected);
    Py_CLEAR(gateway->logger);
    Py_CLEAR(gateway->app);
}

static bool asks_for_websocket(const struct xs_head *head)
{
    bool asks = false;

    for (unsigned i = 0; i < head->field_count; i++) {
        struct xs_slice value = head->fields[i].value;
        struct xs_slice protocol;

        if (!xs_slice_eq_lower(head->fields[i].name, XS_LIT("upgrade"))) {
            continue;
        }
        while (xs_slice_list_next(&value, &protocol)) {
            asks |= xs_slice_eq_lower(protocol, XS_LIT("websocket"));
        }
    }
    return asks;
}

void ext_gateway_upgrade(struct ext_gateway *gateway,
                         const struct xs_head *head)
{
    PyObject *said;

    if (gateway->told_websocket || !asks_for_websocket(head)) {
        return;
    }
    gateway->told_websocket = true;
    said = PyObject_CallMethod(gateway->logger, "warning", "s",
                               "a client asks for a WebSocket: there are none "
                               "yet, its request is served as a plain one");
    if (said == NULL) {
        ext_unraisable(gateway->logger);
    }
    Py_XDECREF(said);
}

/* The core has written the bytes, or dropped them. GIL held. */
static void lend_release(void *owner)
{
    Py_DECREF((PyObject *)owner);
}

size_t ext_block_len(PyObject *block)
{
    if (block == NULL) {
        return 0;
    }
    return PyBytes_Check(block) ? (size_t)PyBytes_GET_SIZE(block)
                                : ext_range_of(block)->len;
}

static int lend_range(struct xs_request *req, struct ext_range *range,
                      bool more)
{
    int err = ext_file_lend(req, &range->file, range->offset, range->len, more);

    if (err == 0) {
        range->file.fd = -1; /* taken */
    }
    return err;
}

int ext_lend(struct xs_request *req, PyObject *block, bool more)
{
    struct xs_lent lent = {.release = NULL};
    int err;

    if (block != NULL && !PyBytes_Check(block)) {
        return lend_range(req, ext_range_of(block), more);
    }
    if (block != NULL) {
        lent.bytes = xs_slice_of(PyBytes_AS_STRING(block),
                                 (size_t)PyBytes_GET_SIZE(block));
    }
    /* Short ones are copied anyway. So are those of a subclass: the end of one
     * may run code of the application's, which may call us inside a write. */
    if (lent.bytes.len > XS_TX_COPY_MAX && PyBytes_CheckExact(block)) {
        lent.release = lend_release;
        lent.owner = Py_NewRef(block);
    }
    err = xs_response_body(req, &lent, more);
    if (err != 0 && lent.release != NULL) {
        Py_XDECREF(block);
    }
    return err;
}

const char *ext_field_rule(struct xs_slice name)
{
    if (xs_slice_eq_lower(name, XS_LIT("content-length"))) {
        return "a Content-Length is one number, said once";
    }
    if (xs_slice_eq_lower(name, XS_LIT("transfer-encoding"))) {
        return "the only coding is chunked";
    }
    return "a name is a token, a value has no CR, LF or NUL";
}

int ext_raise_gone(PyObject *disconnected, bool told, enum xs_abort why)
{
    PyErr_SetString(disconnected,
                    told ? xs_abort_text(why) : "the client is gone");
    return -1;
}
