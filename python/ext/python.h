/* python.h - the only file that includes Python.h, and what versions differ
 * in. */

#ifndef XS_EXT_PYTHON_H
#define XS_EXT_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <structmember.h> /* PyMemberDef, until 3.12 put it into Python.h */

#endif
