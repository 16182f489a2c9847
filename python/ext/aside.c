/* aside.c - fields besides those of a head, on their way from Python to the
 * core. */

#include "python/ext/aside.h"

#include "core/base/base.h"
#include "core/base/limits.h"
#include "python/ext/bridge.h"

void ext_aside_fini(struct ext_aside *aside)
{
    unsigned i;

    for (i = 0; i < 2 * aside->count; i++) {
        Py_XDECREF(aside->kept[i]);
    }
    aside->count = 0;
}

int ext_aside_room(const struct ext_aside *aside, const char *what)
{
    if (aside->count < EXT_ASIDE_FIELDS) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: more than %u fields at once", what,
                 EXT_ASIDE_FIELDS);
    return -1;
}

void ext_aside_add(struct ext_aside *aside, const struct xs_field *field,
                   PyObject *name, PyObject *value)
{
    unsigned i = aside->count;

    XS_ASSERT(i < EXT_ASIDE_FIELDS);
    aside->fields[i] = *field;
    aside->kept[2 * i] = Py_XNewRef(name);
    aside->kept[2 * i + 1] = Py_XNewRef(value);
    aside->count++;
}

/* Always -1. */
static int raise_invalid(const struct ext_aside *aside, const char *what,
                         bool (*may)(struct xs_slice name), const char *rule)
{
    unsigned i = 0;
    PyObject *name;
    PyObject *value;
    const char *is;

    while (i + 1 < aside->count && xs_aside_is_field(&aside->fields[i]) &&
           may(aside->fields[i].name)) {
        i++;
    }
    name = aside->kept[2 * i];
    value = aside->kept[2 * i + 1];
    is = xs_aside_is_field(&aside->fields[i]) ? rule : "is not valid";
    if (name == NULL) {
        PyErr_Format(PyExc_ValueError, "%s: %R %s", what, value, is);
    } else {
        PyErr_Format(PyExc_ValueError, "%s: header (%R, %R) %s", what, name,
                     value, is);
    }
    return -1;
}

int ext_aside_raise(const struct ext_aside *aside, int err, const char *what,
                    bool (*may)(struct xs_slice name), const char *rule)
{
    if (err == XS_EINVALID && aside->count > 0) {
        return raise_invalid(aside, what, may, rule);
    }
    if (err == XS_ELIMIT) {
        PyErr_Format(PyExc_ValueError, "%s: more than %zu bytes", what,
                     XS_ASIDE_MAX);
        return -1;
    }
    return ext_raise(err, what);
}
