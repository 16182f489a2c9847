/* check_inside.h - the inside of the checking backend. */

#ifndef XS_IO_CHECK_INSIDE_H
#define XS_IO_CHECK_INSIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/drive.h"
#include "core/io.h"

/* With `lock`: the order of posting. */
struct xs_check_posts {
    pthread_mutex_t lock;
    uint64_t posted;
    uint64_t run;
};

struct xs_check {
    struct xs_drive drive;
    struct xs_io io;
    struct xs_drive *inner; /* owned */
    struct xs_mem mem;      /* the backend's own may be told to fail */
    const void *thread;     /* whose; NULL until the first call */
    struct xs_check_posts posts;

    bool calling;      /* the backend is in a call of ours */
    bool inside;       /* a callback is running */
    bool running;      /* `run` is */
    bool blocked;      /* between block() and wake() */
    bool kicked;       /* since the last `run` */
    bool deferred;     /* on_defer is owed */
    bool has_now;      /* `now_ns` is of the present callback */
    uint64_t now_ns;   /* the latest */
    uint64_t alarm_ns; /* UINT64_MAX: none */
    uint64_t timeout_ns;

    struct xs_list open;   /* xs_check_part.link: what is in use */
    struct xs_list closed; /* and what is not, kept to tell misuse */
    unsigned closed_count;
};

/* What connections, listeners and watches have in common. Embedded first. */
struct xs_check_part {
    struct xs_list link; /* xs_check.open or .closed */
    bool is_closed;
};

/* check.c */

/* Around every call into the backend: a callback before the end of it breaks
 * rule 2. */
void xs_check_call(struct xs_check *check);
void xs_check_called(struct xs_check *check);
/* Around every callback. */
void xs_check_enter(struct xs_check *check);
void xs_check_leave(struct xs_check *check);

void xs_check_open(struct xs_check *check, struct xs_check_part *part);
/* The part is kept for a while, so that who still uses it is found out. */
void xs_check_close(struct xs_check *check, struct xs_check_part *part);

struct xs_check *xs_check_of(struct xs_io *io);
struct xs_check *xs_check_of_drive(struct xs_drive *drive);

/* check_conn.c */

int xs_check_listen(struct xs_io *io, struct xs_io_listener **out,
                    const struct xs_io_spec *spec);
int xs_check_accept(struct xs_io_listener *listener, struct xs_io_conn **out);
void xs_check_accept_want(struct xs_io_listener *listener, bool want);
void xs_check_unlisten(struct xs_io_listener *listener);
int64_t xs_check_recv(struct xs_io_conn *conn, uint8_t *data, size_t len);
int64_t xs_check_writev(struct xs_io_conn *conn, const struct xs_slice *bytes,
                        unsigned count);
int64_t xs_check_sendfile(struct xs_io_conn *conn, int file, uint64_t offset,
                          size_t len);
void xs_check_want(struct xs_io_conn *conn, unsigned events);
int64_t xs_check_unacked(struct xs_io_conn *conn);
int xs_check_shutdown_wr(struct xs_io_conn *conn);
void xs_check_close_conn(struct xs_io_conn *conn, bool abort);

/* check_drive.c */

void xs_check_post(struct xs_io *io, struct xs_io_job *job);
int xs_check_run(struct xs_drive *drive, uint64_t timeout_ns);
int xs_check_watch(struct xs_drive *drive, struct xs_watch *watch,
                   unsigned events);
int xs_check_fd(struct xs_drive *drive);
uint64_t xs_check_next(struct xs_drive *drive);
void xs_check_free(struct xs_drive *drive);
/* Hook the host's hooks. */
void xs_check_hook(struct xs_check *check);

#endif
