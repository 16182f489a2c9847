/* asgi_headers.c - the request's header fields as ASGI wants them: a list of
 * (name in lower case, value), both bytes, in the order in which they came.
 *
 * Of fields seen lately the name, or the whole pair, is there already: see
 * names.h. */

#include "core/base/base.h"
#include "python/ext/asgi_parts.h"

/* `name` in lower case, new. */
static PyObject *name_new(void *user, struct xs_slice name)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)name.len);
    size_t i;

    (void)user;
    for (i = 0; bytes != NULL && i < name.len; i++) {
        PyBytes_AS_STRING(bytes)[i] =
            (char)Py_TOLOWER(Py_CHARMASK(name.data[i]));
    }
    return bytes;
}

/* (name, value), new; takes `name`, which may be NULL with an exception set. */
static PyObject *pair_new(PyObject *name, struct xs_slice value)
{
    PyObject *bytes;
    PyObject *pair;

    if (name == NULL) {
        return NULL;
    }
    bytes = PyBytes_FromStringAndSize((const char *)value.data,
                                      (Py_ssize_t)value.len);
    pair = bytes == NULL ? NULL : PyTuple_New(2);
    if (pair == NULL) {
        Py_DECREF(name);
        Py_XDECREF(bytes);
        return NULL;
    }
    PyTuple_SET_ITEM(pair, 0, name);
    PyTuple_SET_ITEM(pair, 1, bytes);
    return pair;
}

/* (name, value) of `field`, new. */
static PyObject *header_pair(struct asgi_gateway *gateway,
                             const struct xs_field *field)
{
    struct ext_name *entry;
    int found = ext_names_get(&gateway->scope.names, field->name, &entry);
    PyObject *pair;

    if (found <= 0) {
        return found < 0 ? NULL
                         : pair_new(name_new(NULL, field->name), field->value);
    }
    pair = ext_name_value(entry, field->value);
    if (pair != NULL) {
        return Py_NewRef(pair);
    }
    pair = pair_new(Py_NewRef(entry->key), field->value);
    if (pair != NULL) {
        PyObject *bytes = PyTuple_GET_ITEM(pair, 1);

        ext_name_keep(entry, field->value, pair,
                      (const uint8_t *)PyBytes_AS_STRING(bytes));
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

int asgi_headers_init(struct asgi_gateway *gateway)
{
    return ext_names_init(&gateway->scope.names, name_new, NULL);
}
