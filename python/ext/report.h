/* report.h - what the log says when an application ends badly; the same for
 * both gateways.
 *
 *     what the application raised                    level   traceback
 *     anything                                       ERROR   yes
 *     ClientDisconnected, or a group of only that    DEBUG   no
 *     something because of it, by `raise` or `from`  INFO    no
 *
 * The second is what every streaming application does when its client leaves;
 * the third is what frameworks make of it, or a mistake in cleaning up. */

#ifndef XS_EXT_REPORT_H
#define XS_EXT_REPORT_H

#include "python/ext/python.h"

/* Of which request, and to whom. All borrowed. `method` and `target` are text,
 * bytes, or NULL where the application has taken them away. */
struct ext_report {
    PyObject *logger;
    PyObject *disconnected; /* the type */
    PyObject *method;
    PyObject *target;
};

/* What is raised, cleared: a new reference, with its traceback. NULL if
 * nothing is. */
PyObject *ext_raised_take(void);

/* `what` went wrong, with `exc`, which is not set as raised. */
void ext_report_raised(const struct ext_report *report, PyObject *exc,
                       const char *what);

/* An ERROR line without an exception. */
void ext_report_error(const struct ext_report *report, const char *what);

#endif
