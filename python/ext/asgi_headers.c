/* asgi_headers.c - the request's header fields as ASGI wants them: a list of
 * (name in lower case, value), both bytes, in the order in which they came.
 *
 * Names are few and repeat. Those seen lately are kept by their spelling
 * ("Host" and "host" are two entries for one object's value), so that on a hit
 * nothing is put in lower case and nothing is allocated. The table has a fixed
 * size; a new name takes the place of an old one. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

/* A multiplier that mixes well (the golden ratio in 64 bits). */
#define NAME_MIX 0x9E3779B97F4A7C15u

/* Where a name belongs: from its ends and its length. */
static unsigned name_slot(struct xs_slice name)
{
    uint64_t first = 0;
    uint64_t last = 0;

    if (name.len >= 8) {
        memcpy(&first, name.data, 8);
        memcpy(&last, name.data + name.len - 8, 8);
    } else {
        memcpy(&first, name.data, name.len);
    }
    first ^= (last << 29) ^ (last >> 35) ^ name.len;
    return (unsigned)((first * NAME_MIX) >> 56) % ASGI_NAMES;
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

/* `name` in lower case, new. */
static PyObject *header_name(struct asgi_gateway *gateway, struct xs_slice name)
{
    struct asgi_name *entry;
    PyObject *bytes;

    if (name.len == 0 || name.len > ASGI_NAME_MAX) {
        return name_new(name);
    }
    entry = &gateway->scope.names[name_slot(name)];
    if (entry->len == name.len &&
        memcmp(entry->spelling, name.data, name.len) == 0) {
        Py_INCREF(entry->bytes);
        return entry->bytes;
    }
    bytes = name_new(name);
    if (bytes != NULL) {
        Py_INCREF(bytes);
        Py_XSETREF(entry->bytes, bytes);
        entry->len = (uint8_t)name.len;
        memcpy(entry->spelling, name.data, name.len);
    }
    return bytes;
}

/* (name, value), new. */
static PyObject *header_pair(struct asgi_gateway *gateway,
                             const struct xs_head *head,
                             const struct xs_field *field)
{
    PyObject *pair = PyTuple_New(2);
    PyObject *name = header_name(gateway, field->name);
    struct xs_slice value = field->value;
    PyObject *bytes;

    /* RFC 9112 3.2.2: with a target in absolute form its authority counts,
     * and the Host that came is ignored. */
    if (head->authority.len > 0 &&
        xs_slice_eq_lower(field->name, XS_LIT("host"))) {
        value = head->authority;
    }
    bytes = PyBytes_FromStringAndSize((const char *)value.data,
                                      (Py_ssize_t)value.len);
    if (pair == NULL || name == NULL || bytes == NULL) {
        Py_XDECREF(pair);
        Py_XDECREF(name);
        Py_XDECREF(bytes);
        return NULL;
    }
    PyTuple_SET_ITEM(pair, 0, name);
    PyTuple_SET_ITEM(pair, 1, bytes);
    return pair;
}

PyObject *asgi_headers_new(struct asgi_gateway *gateway,
                           const struct xs_head *head)
{
    PyObject *list = PyList_New((Py_ssize_t)head->field_count);
    unsigned i;

    for (i = 0; list != NULL && i < head->field_count; i++) {
        PyObject *pair = header_pair(gateway, head, &head->fields[i]);

        if (pair == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
        }
    }
    return list;
}
