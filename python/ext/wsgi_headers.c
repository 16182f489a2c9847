/* wsgi_headers.c - header fields become HTTP_ variables of an environ.
 *
 * Of those seen lately both strings are there already: see names.h. */

#include <string.h>

#include "core/base/base.h"
#include "python/ext/wsgi_parts.h"

/* The environ's key for a header name; new, NULL with an exception set. */
static PyObject *key_of(const struct ext_wsgi *wsgi, struct xs_slice name)
{
    PyObject *key;
    uint8_t *out;
    size_t i;

    if (xs_slice_eq_lower(name, XS_LIT("content-type"))) {
        return Py_NewRef(wsgi->str.content_type);
    }
    if (xs_slice_eq_lower(name, XS_LIT("content-length"))) {
        return Py_NewRef(wsgi->str.content_length);
    }
    key = PyUnicode_New((Py_ssize_t)(name.len + 5), 127);
    if (key == NULL) {
        return NULL;
    }
    out = PyUnicode_1BYTE_DATA(key);
    memcpy(out, "HTTP_", 5);
    for (i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];

        if (c >= 'a' && c <= 'z') {
            c = (uint8_t)(c - 'a' + 'A');
        } else if (c == '-') {
            c = '_';
        }
        out[5 + i] = c;
    }
    return key;
}

/* See ext_names_init. */
static PyObject *key_new(void *user, struct xs_slice name)
{
    PyObject *key = key_of(user, name);

    if (key != NULL) {
        PyUnicode_InternInPlace(&key);
    }
    return key;
}

/* The value as a str; new, NULL with an exception set. */
static PyObject *entry_value(struct ext_name *entry, struct xs_slice value)
{
    PyObject *text = ext_name_value(entry, value);

    if (text != NULL) {
        return Py_NewRef(text);
    }
    text = wsgi_text(value);
    if (text != NULL) {
        ext_name_keep(entry, value, text, PyUnicode_1BYTE_DATA(text));
    }
    return text;
}

/* The field has come before: "a, b" of RFC 9110 5.2 in the form that CGI
 * gateways give it; cookies have their own separator (RFC 6265 4.2.1). */
static PyObject *joined(PyObject *environ, PyObject *key, PyObject *value)
{
    PyObject *before = PyDict_GetItemWithError(environ, key);
    bool is_cookie = PyUnicode_CompareWithASCIIString(key, "HTTP_COOKIE") == 0;

    if (before == NULL) {
        return PyErr_Occurred() != NULL ? NULL : Py_NewRef(value);
    }
    return PyUnicode_FromFormat(is_cookie ? "%U; %U" : "%U,%U", before, value);
}

/* environ[key] = value, joined to what is there if `again`. Takes `value`,
 * which may be NULL with an exception set. */
static int field_set(const struct ext_wsgi *wsgi, PyObject *environ,
                     PyObject *key, PyObject *value, bool again)
{
    int err;

    /* All Content-Length fields say the same, or the parser had refused. */
    if (again && value != NULL && key != wsgi->str.content_length) {
        Py_SETREF(value, joined(environ, key, value));
    }
    if (value == NULL) {
        return -1;
    }
    err = PyDict_SetItem(environ, key, value);
    Py_DECREF(value);
    return err;
}

static int field_add_rare(struct wsgi_gateway *gateway, PyObject *environ,
                          const struct xs_field *field)
{
    PyObject *key = key_of(gateway->wsgi, field->name);
    int again;
    int err = -1;

    if (key == NULL) {
        return -1;
    }
    again = PyDict_Contains(environ, key);
    if (again >= 0) {
        err = field_set(gateway->wsgi, environ, key, wsgi_text(field->value),
                        again == 1);
    }
    Py_DECREF(key);
    return err;
}

static int field_add(struct wsgi_gateway *gateway, PyObject *environ,
                     const struct xs_field *field)
{
    struct ext_name *entry = NULL;
    int found = ext_names_get(&gateway->environ.names, field->name, &entry);
    bool again;

    if (found < 0) {
        return -1;
    }
    if (found == 0) {
        /* "a_b" and "a-b" would be one variable, and proxies guard only the
         * second: nobody gets to say it the first way. */
        if (memchr(field->name.data, '_', field->name.len) != NULL) {
            return 0;
        }
        return field_add_rare(gateway, environ, field);
    }
    again = entry->seen == gateway->environ.serial;
    entry->seen = gateway->environ.serial;
    return field_set(gateway->wsgi, environ, entry->key,
                     entry_value(entry, field->value), again);
}

int wsgi_headers_add(struct wsgi_gateway *gateway, PyObject *environ,
                     const struct xs_head *head)
{
    unsigned i;

    gateway->environ.serial++;
    for (i = 0; i < head->field_count; i++) {
        if (field_add(gateway, environ, &head->fields[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

int wsgi_headers_init(struct wsgi_gateway *gateway)
{
    return ext_names_init(&gateway->environ.names, key_new, gateway->wsgi);
}
