/* report.h - what the log says when an application ends badly; the same for
 * both gateways.
 *
 *     what the application raised                    level   traceback
 *     anything                                       ERROR   yes
 *     ClientDisconnected, or a group of only that    DEBUG   no
 *     something because of it, by `raise` or `from`  INFO    no
 *
 * The second is what every streaming application does when its client leaves;
 * the third is what frameworks make of it, or a mistake in cleaning up.
 *
 * KeyboardInterrupt is no mistake of the application's: it is Ctrl-C, which
 * happened to come while the application ran. The request is over with it; when
 * the core has done what it is about, the interpreter gets it back as the
 * signal that it stands for (ext_backend_run). */

#ifndef XS_EXT_REPORT_H
#define XS_EXT_REPORT_H

#include "python/ext/gateway.h"
#include "python/ext/python.h"

/* Of which request. All borrowed. */
struct ext_report {
    struct ext_gateway *gateway;
    PyObject *about;      /* dict: its scope or environ; NULL: it has none */
    PyObject *method_key; /* where its method and target are in there, if the */
    PyObject *target_key; /* application has not taken them away */
};

/* What is raised, cleared: a new reference, with its traceback. NULL if
 * nothing is. */
PyObject *ext_raised_take(void);

/* `what` went wrong, with what is raised; clears it. */
void ext_report_raised(const struct ext_report *report, const char *what);

/* An ERROR line without an exception. None may be raised. */
void ext_report_error(const struct ext_report *report, const char *what);

#endif
