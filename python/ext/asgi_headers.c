/* asgi_headers.c - the request's header fields as ASGI wants them: a list of
 * (name in lower case, value), both bytes, in the order in which they came.
 *
 * Clients say the same things again and again. Two tables of a fixed size keep
 * what was seen lately, a new entry in the place of an old one:
 *
 *     names   spelling ("Host", "host") ──▶ b"host"
 *     pairs   b"host", value            ──▶ (b"host", value)
 *
 * so that on a hit nothing is put in lower case and nothing is allocated.
 * Credentials and long values are not kept. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

/* A multiplier that mixes well (the golden ratio in 64 bits). */
#define SLOT_MIX 0x9E3779B97F4A7C15u

/* Where `bytes` belong: from their ends, their length and `salt`; 8 bits. */
static unsigned slot_of(struct xs_slice bytes, uint64_t salt)
{
    uint64_t first = 0;
    uint64_t last = 0;

    if (bytes.len >= 8) {
        memcpy(&first, bytes.data, 8);
        memcpy(&last, bytes.data + bytes.len - 8, 8);
    } else if (bytes.len > 0) {
        memcpy(&first, bytes.data, bytes.len);
    }
    first ^= (last << 29) ^ (last >> 35) ^ bytes.len ^ salt;
    return (unsigned)((first * SLOT_MIX) >> 56);
}

static bool name_is_secret(PyObject *name)
{
    static const char *const secrets[] = {"cookie", "authorization",
                                          "proxy-authorization"};
    size_t i;

    for (i = 0; i < XS_COUNT_OF(secrets); i++) {
        if (strcmp(PyBytes_AS_STRING(name), secrets[i]) == 0) {
            return true;
        }
    }
    return false;
}

static PyObject *name_new(struct xs_slice name)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)name.len);
    size_t i;

    for (i = 0; bytes != NULL && i < name.len; i++) {
        PyBytes_AS_STRING(bytes)[i] =
            (char)Py_TOLOWER(Py_CHARMASK(name.data[i]));
    }
    return bytes;
}

/* `name` in lower case, new; `*keep`: pairs with it may be kept. */
static PyObject *header_name(struct asgi_gateway *gateway, struct xs_slice name,
                             bool *keep)
{
    struct asgi_name *entry;
    PyObject *bytes;

    *keep = false;
    if (name.len == 0 || name.len > ASGI_NAME_MAX) {
        return name_new(name);
    }
    entry = &gateway->scope.names[slot_of(name, 0)];
    if (entry->len != name.len ||
        memcmp(entry->spelling, name.data, name.len) != 0) {
        bytes = name_new(name);
        if (bytes == NULL) {
            return NULL;
        }
        Py_XSETREF(entry->bytes, bytes);
        entry->secret = name_is_secret(bytes);
        entry->len = (uint8_t)name.len;
        memcpy(entry->spelling, name.data, name.len);
    }
    *keep = !entry->secret;
    Py_INCREF(entry->bytes);
    return entry->bytes;
}

/* (name, value), new; takes `name`. */
static PyObject *pair_new(PyObject *name, struct xs_slice value)
{
    PyObject *pair = PyTuple_New(2);
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)value.data,
                                                (Py_ssize_t)value.len);

    if (pair == NULL || bytes == NULL) {
        Py_XDECREF(pair);
        Py_DECREF(name);
        Py_XDECREF(bytes);
        return NULL;
    }
    PyTuple_SET_ITEM(pair, 0, name);
    PyTuple_SET_ITEM(pair, 1, bytes);
    return pair;
}

static bool pair_is(PyObject *pair, PyObject *name, struct xs_slice value)
{
    PyObject *bytes;

    if (pair == NULL || PyTuple_GET_ITEM(pair, 0) != name) {
        return false;
    }
    bytes = PyTuple_GET_ITEM(pair, 1);
    return (size_t)PyBytes_GET_SIZE(bytes) == value.len &&
           memcmp(PyBytes_AS_STRING(bytes), value.data, value.len) == 0;
}

/* (name, value) of `field`, new. */
static PyObject *header_pair(struct asgi_gateway *gateway,
                             const struct xs_field *field)
{
    const struct xs_slice value = field->value;
    PyObject **entry;
    PyObject *pair;
    bool keep;
    PyObject *name = header_name(gateway, field->name, &keep);

    if (name == NULL) {
        return NULL;
    }
    if (!keep || value.len == 0 || value.len > ASGI_VALUE_MAX) {
        return pair_new(name, value);
    }
    entry = &gateway->scope.pairs[slot_of(value, (uint64_t)(uintptr_t)name)];
    if (pair_is(*entry, name, value)) {
        Py_DECREF(name);
        Py_INCREF(*entry);
        return *entry;
    }
    pair = pair_new(name, value);
    if (pair != NULL) {
        Py_INCREF(pair);
        Py_XSETREF(*entry, pair);
    }
    return pair;
}

PyObject *asgi_headers_new(struct asgi_gateway *gateway,
                           const struct xs_head *head)
{
    PyObject *list = PyList_New((Py_ssize_t)head->field_count);
    unsigned i;

    for (i = 0; list != NULL && i < head->field_count; i++) {
        PyObject *pair = header_pair(gateway, &head->fields[i]);

        if (pair == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
        }
    }
    return list;
}
