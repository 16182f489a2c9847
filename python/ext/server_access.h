/* server_access.h - the access log of a server, and the way of its lines.
 *
 * Lines go to standard output, or through Python's logging if the user has set
 * up the logger for them. */

#ifndef XS_EXT_SERVER_ACCESS_H
#define XS_EXT_SERVER_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/conn/access.h"
#include "core/io.h"
#include "python/ext/python.h"

struct ext_access;

/* The access log that `config` wants, owned; NULL if it wants none. Its
 * attributes:
 *
 *     access_log          a truth; without it there is none
 *     access_log_format   str; see access/format.h
 *     access_emit         a callable that gets
 *                         (client, method, target, version, status, size,
 *                         seconds, end, connection, line) instead of a line
 *                         being written; `line` is None for the default format
 *
 * -1 with an exception set. */
int ext_access_new(struct ext_access **out, PyObject *config);
void ext_access_free(struct ext_access *access);

/* Whether `text`, a str, is a format: 0, or -1 with a ValueError that says
 * what is wrong, and where. */
int ext_access_check(PyObject *text);

/* What it wants of heads; borrowed. */
const struct xs_access_wants *ext_access_wants(const struct ext_access *access);

/* For the garbage collector: borrowed, may be NULL. */
PyObject *ext_access_emit(const struct ext_access *access);

/* Add the line of a request, or call access_emit. GIL held. */
void ext_access_add(struct ext_access *access, const struct xs_access *entry,
                    struct xs_io *io);

/* There are lines that are not written. */
bool ext_access_waits(const struct ext_access *access);

/* Write what is taken at once. `logger` is told of lost lines. The GIL is held
 * and let go meanwhile. */
void ext_access_flush(struct ext_access *access, PyObject *logger,
                      struct xs_io *io);

/* Likewise, waiting a moment for whoever reads. */
void ext_access_close(struct ext_access *access, PyObject *logger);

/* `timeout_ns`, or less if lines wait for a slow reader. */
uint64_t ext_access_wait(const struct ext_access *access, uint64_t timeout_ns);

#endif
