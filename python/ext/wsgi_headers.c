/* wsgi_headers.c - header fields become HTTP_ variables of an environ.
 *
 * The same names come again with every request, and often the same values. A
 * table remembers, for each name, the key that it becomes and its last value;
 * the comparison of a value is cheaper than a new string. Names come from
 * outside, so the table has a fixed size and never grows. */

#include <string.h>

#include "core/base/base.h"
#include "python/ext/wsgi_parts.h"

/* How far from its place an entry may be. */
#define PROBES 8u

/* A value longer than this is not kept. */
#define VALUE_MAX ((Py_ssize_t)160)

/* What browsers and proxies send: they have their places before anybody. */
static const char *const common_names[] = {
    "host",
    "user-agent",
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "dnt",
    "expect",
    "forwarded",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "range",
    "referer",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "te",
    "traceparent",
    "transfer-encoding",
    "upgrade-insecure-requests",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "x-request-id",
    "x-requested-with",
};

static bool is_name(const uint8_t *name, size_t len, const char *lower)
{
    return xs_slice_eq_lower(xs_slice_of(name, len), xs_slice_str(lower));
}

/* The environ's key for a header name; new and interned, NULL with an
 * exception set. */
static PyObject *key_of(const struct ext_wsgi *wsgi, struct xs_slice name)
{
    PyObject *key;
    uint8_t *out;
    size_t i;

    if (is_name(name.data, name.len, "content-type")) {
        return Py_NewRef(wsgi->str.content_type);
    }
    if (is_name(name.data, name.len, "content-length")) {
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

static unsigned place_of(struct xs_slice name)
{
    unsigned first = name.data[0] | 0x20u;
    unsigned last = name.data[name.len - 1] | 0x20u;
    unsigned middle = name.data[name.len / 2] | 0x20u;

    return (unsigned)name.len * 37u + first * 5u + last * 17u + middle * 59u;
}

/* Setting 0x20 makes letters small and leaves digits and "-" alone. It maps
 * other bytes as well, but onto none of those: entries hold no others. */
static bool is_entry_of(const struct wsgi_name *entry, struct xs_slice name)
{
    const uint64_t small = 0x2020202020202020u;
    size_t i = 0;

    if (entry->len != name.len) {
        return false;
    }
    for (; i + 8 <= name.len; i += 8) {
        uint64_t theirs;
        uint64_t ours;

        memcpy(&theirs, name.data + i, 8);
        memcpy(&ours, entry->name + i, 8);
        if ((theirs | small) != ours) {
            return false;
        }
    }
    for (; i < name.len; i++) {
        if ((name.data[i] | 0x20) != entry->name[i]) {
            return false;
        }
    }
    return true;
}

static bool is_plain(struct xs_slice name)
{
    size_t i;

    for (i = 0; i < name.len; i++) {
        uint8_t c = (uint8_t)(name.data[i] | 0x20);

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
            return false;
        }
        if (c == '-' && name.data[i] != '-') {
            return false;
        }
    }
    return true;
}

static int entry_set(const struct ext_wsgi *wsgi, struct wsgi_name *entry,
                     struct xs_slice name)
{
    PyObject *key = key_of(wsgi, name);
    size_t i;

    if (key == NULL) {
        return -1;
    }
    PyUnicode_InternInPlace(&key);
    /* Its hash is asked for with every request: let it be there. */
    if (PyObject_Hash(key) == -1) {
        Py_DECREF(key);
        return -1;
    }
    for (i = 0; i < name.len; i++) {
        entry->name[i] = (uint8_t)(name.data[i] | 0x20);
    }
    entry->len = (uint8_t)name.len;
    entry->key = key;
    entry->is_secret = is_name(name.data, name.len, "cookie") ||
                       is_name(name.data, name.len, "authorization") ||
                       is_name(name.data, name.len, "proxy-authorization");
    return 0;
}

/* The entry of `name`, made if there is room. 1 and the entry; 0: it has none;
 * -1 with an exception set. */
static int entry_find(struct wsgi_gateway *gateway, struct xs_slice name,
                      struct wsgi_name **out)
{
    unsigned place;
    unsigned i;

    if (name.len > WSGI_NAME_MAX || name.len == 0) {
        return 0;
    }
    place = place_of(name);
    for (i = 0; i < PROBES; i++) {
        struct wsgi_name *entry =
            &gateway->environ.names[(place + i) % WSGI_NAMES];

        if (entry->key == NULL) {
            if (!is_plain(name)) {
                return 0;
            }
            *out = entry;
            return entry_set(gateway->wsgi, entry, name) < 0 ? -1 : 1;
        }
        if (is_entry_of(entry, name)) {
            *out = entry;
            return 1;
        }
    }
    return 0;
}

/* The value as a str; new, NULL with an exception set. */
static PyObject *entry_value(struct wsgi_name *entry, struct xs_slice value)
{
    PyObject *text = entry->value;

    if (text != NULL && (size_t)PyUnicode_GET_LENGTH(text) == value.len &&
        memcmp(PyUnicode_1BYTE_DATA(text), value.data, value.len) == 0) {
        return Py_NewRef(text);
    }
    text = wsgi_text(value);
    if (text != NULL && !entry->is_secret &&
        (Py_ssize_t)value.len <= VALUE_MAX) {
        Py_XSETREF(entry->value, Py_NewRef(text));
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
    struct wsgi_name *entry = NULL;
    int found = entry_find(gateway, field->name, &entry);
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
    size_t i;

    for (i = 0; i < XS_COUNT_OF(common_names); i++) {
        struct wsgi_name *entry;

        if (entry_find(gateway, xs_slice_str(common_names[i]), &entry) < 0) {
            return -1;
        }
    }
    return 0;
}

void wsgi_headers_fini(struct wsgi_gateway *gateway)
{
    size_t i;

    for (i = 0; i < WSGI_NAMES; i++) {
        Py_CLEAR(gateway->environ.names[i].key);
        Py_CLEAR(gateway->environ.names[i].value);
    }
}
