/* spare.h - objects of one type that are used again.
 *
 * What each request needs and soon gives back is not worth a way through the
 * allocator. Kept are a few; all of it is memory, no live object. */

#ifndef XS_EXT_SPARE_H
#define XS_EXT_SPARE_H

#include <stdbool.h>

#include "python/ext/python.h"

#define EXT_SPARE_MAX 64u

#if defined(__SANITIZE_ADDRESS__)
#define EXT_SPARE_KEEP 0u /* let the sanitizer see every use after free */
#else
#define EXT_SPARE_KEEP EXT_SPARE_MAX
#endif

/* Zeroed at first. Objects of one type, of a fixed size. */
struct ext_spare {
    PyObject *objects[EXT_SPARE_MAX]; /* owned memory */
    unsigned count;
    bool is_closed; /* the module is going: none is kept, none is made */
};

static inline void ext_spare_delete(PyTypeObject *type, PyObject *object)
{
    if (PyType_IS_GC(type)) {
        PyObject_GC_Del(object);
    } else {
        PyObject_Free(object);
    }
}

/* A new object, untracked, its own fields not set. NULL with an exception
 * set. */
static inline PyObject *ext_spare_take(struct ext_spare *spare,
                                       PyTypeObject *type)
{
    if (spare->count > 0) {
        spare->count--;
        return PyObject_Init(spare->objects[spare->count], type);
    }
    if (spare->is_closed) {
        PyErr_SetString(PyExc_RuntimeError, "the interpreter is going");
        return NULL;
    }
    return PyType_IS_GC(type) ? PyObject_GC_New(PyObject, type)
                              : PyObject_New(PyObject, type);
}

/* For tp_dealloc: `object` is untracked and holds nothing but its type. */
static inline void ext_spare_give(struct ext_spare *spare, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    if (spare->count != EXT_SPARE_KEEP && !spare->is_closed) {
        spare->objects[spare->count] = object;
        spare->count++;
    } else {
        ext_spare_delete(type, object);
    }
    Py_DECREF(type);
}

/* Free what is kept, and keep no more. `type` may be NULL if none was made. */
static inline void ext_spare_close(struct ext_spare *spare, PyTypeObject *type)
{
    spare->is_closed = true;
    while (spare->count > 0) {
        spare->count--;
        ext_spare_delete(type, spare->objects[spare->count]);
    }
}

#endif
