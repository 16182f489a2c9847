/* sim_types.h - the insides of the simulated backend, for sim_*.c only.
 *
 * A connection is a *link* with two *ends*, one of which is the server's. Each
 * end owns a *pipe*, the way of its bytes to the other end:
 *
 *      taken           arrived         acked           written
 *        |   readable    |               |               |
 *        |<- window, recv_max ->|        |               |
 *                                        |<- send buffer, send_max ->|
 *
 *     files: sim_pipe.c   bytes on their way
 *            sim_end.c    what a kernel does at an end: resets, endings
 *            sim_conn.c   the server's end: io.h, with faults
 *            sim_file.c   the same for files
 *            sim_peer.c   the client's end: sim_peer.h
 *            sim_listen.c listeners
 *            sim_loop.c   time, timers, callbacks: drive.h
 *            sim_wait.c   the real world: descriptors, threads
 *            sim.c        the whole, memory, trace */

#ifndef XS_SIM_SIM_TYPES_H
#define XS_SIM_SIM_TYPES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"
#include "sim/sim.h"
#include "sim/sim_peer.h"

#define SIM_BUFFER ((size_t)64 * 1024)
/* A buffer that is full so often grows, as kernels tune theirs. */
#define SIM_TIGHT 64u
#define SIM_BACKLOG 4096u
#define SIM_WATCHES_MAX 256u

/* taken <= arrived <= written, acked <= arrived,
 * written - acked <= send_max, arrived - taken <= recv_max. */
struct sim_pipe {
    uint8_t *ring;           /* owned; NULL until the first byte */
    size_t cap;              /* a power of two */
    uint64_t written;        /* bytes, ever: taken from the writer */
    uint64_t arrived;        /* in the reader's window */
    uint64_t acked;          /* the writer knows that they arrived */
    uint64_t taken;          /* read */
    size_t send_max;         /* send buffer */
    size_t recv_max;         /* window */
    unsigned tight;          /* how often either was full */
    bool fin;                /* the writer has ended the stream */
    bool fin_arrived;        /* and the reader may know */
    bool lost;               /* nothing arrives any more */
    struct xs_sim_timer way; /* bytes are on their way */
    struct xs_sim_timer ack; /* an acknowledgement is on its way */
};

struct sim_end {
    struct sim_link *link;     /* borrowed: embeds this */
    struct sim_end *other;     /* borrowed */
    struct sim_pipe out;       /* what this end writes */
    int error;                 /* of a reset, until a call has told it */
    bool dead;                 /* reset, by either end */
    bool closed;               /* its owner has let go */
    size_t purged;             /* bytes that had arrived, and a reset took */
    struct xs_sim_timer reset; /* a reset is on its way to this end */
};

struct sim_link {
    struct xs_sim_peer peer; /* must be first */
    struct sim_end server;
    struct sim_end client;
    struct sim_conn *conn;  /* owned: from accept to close */
    struct xs_sim_tap *tap; /* borrowed; may be NULL */
    struct xs_list all;     /* sim.links */
    struct xs_list waiting; /* sim_listener.backlog */
    struct xs_list changed; /* sim.changed */
};

/* What the core holds. */
struct sim_conn {
    struct xs_io_conn base; /* must be first */
    struct sim_link *link;  /* borrowed */
    unsigned want;          /* set of xs_io_event */
    bool again; /* writev said AGAIN, and WRITE was not told since */
    bool held;  /* readiness is told when `late` fires */
    struct xs_sim_timer late;
    struct xs_sim_timer fetch; /* a file's bytes are on their way to memory */
    bool fetched;              /* those that are asked for next have come */
    struct xs_list all;        /* sim.conns */
    struct xs_list ready;      /* sim.ready */
};

struct sim_listener {
    struct xs_io_listener base; /* must be first */
    struct xs_list backlog;     /* sim_link.waiting */
    unsigned waiting;           /* links in it */
    unsigned waiting_max;
    bool want;
    struct xs_list all; /* sim.listeners */
};

/* What other threads touch, under `lock`. */
struct sim_inbox {
    pthread_mutex_t lock;
    struct xs_io_job *first; /* lent until run */
    struct xs_io_job *last;
    int wake_fds[2]; /* owned; -1 until somebody had to wait */
};

struct xs_sim {
    struct xs_drive drive; /* must be first */
    struct xs_io io;
    struct xs_mem mem;
    struct sim_inbox inbox;

    /* Fixed at the start. */
    struct xs_tape *tape; /* borrowed */
    size_t send_buffer;
    size_t write_room;
    size_t recv_buffer;
    uint64_t wall_ns; /* time of day when `now` was 0 */
    FILE *trace;      /* borrowed; may be NULL */
    void (*on_note)(void *user, const char *what, uint64_t a, uint64_t b);
    void (*on_idle)(void *user);
    int64_t (*read)(void *user, int file, uint64_t offset, uint8_t *data,
                    size_t len);
    void *user; /* borrowed: for all of them */

    struct xs_faults faults; /* all off after xs_sim_calm */
    struct xs_sim_stats stats;
    struct xs_list blocks; /* sim_block.all: the core's memory */
    uint64_t hash;
    uint64_t rng;

    /* Time and what is planned: sim_loop.c. */
    uint64_t now_ns;
    struct xs_sim_timer **heap; /* owned array of borrowed timers, from 1 */
    size_t heap_count;
    size_t heap_cap;
    uint64_t timers_set; /* ever: xs_sim_timer.order */
    struct xs_sim_timer alarm;
    bool alarm_late; /* it has been put off once */
    bool deferred;
    bool running;
    bool kicked;

    /* Everybody, and who has something to be told. */
    struct xs_list links;      /* sim_link.all */
    struct xs_list conns;      /* sim_conn.all */
    struct xs_list listeners;  /* sim_listener.all */
    struct xs_list *listening; /* borrowed: the listener to tell next */
    struct xs_list ready;      /* sim_conn.ready */
    struct xs_list changed;    /* sim_link.changed */
    struct sim_conn *current;  /* borrowed: whose on_ready runs */
    uint64_t next_id;
    uint16_t next_port;

    struct xs_watch *watches[SIM_WATCHES_MAX]; /* lent */
    unsigned watch_events[SIM_WATCHES_MAX];
    unsigned watch_count;
};

static inline struct xs_sim *sim_of_io(struct xs_io *io)
{
    return xs_container_of(io, struct xs_sim, io);
}

/* sim.c */
void sim_event(struct xs_sim *sim, uint64_t id, const char *what, uint64_t a,
               uint64_t b);
bool sim_fault(struct xs_sim *sim, enum xs_label label);
/* The core has done something that helps: it is not busy for nothing. */
void sim_progress(struct xs_sim *sim);
/* A delay between microseconds and a second. */
uint64_t sim_delay(struct xs_sim *sim, enum xs_label label);
void sim_free(struct xs_sim *sim);
/* Something outside `run` needs a run soon. */
void sim_kick(struct xs_sim *sim);
/* Somebody has to be told something at the present moment. */
bool sim_is_due(const struct xs_sim *sim);

/* sim_pipe.c */
void sim_pipe_init(struct sim_end *end);
void sim_pipe_fini(struct sim_end *end);
/* Let what can arrive do so, now or later. */
void sim_pipe_pump(struct sim_end *end);
size_t sim_pipe_room(const struct sim_pipe *pipe);
size_t sim_pipe_readable(const struct sim_pipe *pipe);
/* At most the room; the bytes taken, fewer only without memory. */
size_t sim_pipe_put(struct sim_pipe *pipe, const uint8_t *data, size_t len);
size_t sim_pipe_get(struct sim_pipe *pipe, uint8_t *data, size_t len);

/* sim_end.c */
int64_t sim_end_recv(struct sim_end *end, uint8_t *data, size_t len);
int64_t sim_end_write(struct sim_end *end, const struct xs_slice *bytes,
                      unsigned count, size_t len_max);
int sim_end_shutdown(struct sim_end *end);
/* May free the link. */
void sim_end_close(struct sim_end *end, bool abort);
/* This end resets the other one. */
void sim_end_reset(struct sim_end *end);
/* A reset reaches this end. */
void sim_end_die(struct sim_end *end);
/* Something may be told to the owner of this end. */
void sim_end_changed(struct sim_end *end);
struct sim_link *sim_link_new(struct xs_sim *sim);
void sim_link_free(struct sim_link *link);

/* A range of a file. */
struct sim_range {
    int file;
    uint64_t offset;
    size_t len;
};

/* sim_file.c */
void sim_on_fetched(struct xs_sim_timer *timer);
int64_t sim_sendfile(struct xs_io_conn *base, int file, uint64_t offset,
                     size_t len);

/* sim_conn.c */
struct sim_conn *sim_conn_new(struct sim_link *link);
void sim_conn_free(struct sim_conn *conn);
/* Put it among the ready ones, or take it out. */
void sim_conn_update(struct sim_conn *conn);
/* Tell it what is ready. True if the core was called. */
bool sim_conn_tell(struct sim_conn *conn);
struct sim_conn *sim_conn_of(struct xs_io_conn *base);
/* What can go wrong with the connection at a write. */
void sim_conn_harm(struct sim_conn *conn);
/* Tell who watches what was taken. */
void sim_conn_wrote(struct sim_link *link, const struct xs_slice *bytes,
                    size_t taken);
/* The number of the connection, for the trace. */
uint64_t sim_conn_id(struct xs_io_conn *base);
int64_t sim_recv(struct xs_io_conn *base, uint8_t *data, size_t len);
int64_t sim_writev(struct xs_io_conn *base, const struct xs_slice *bytes,
                   unsigned count);
void sim_want(struct xs_io_conn *base, unsigned events);
int64_t sim_unacked(struct xs_io_conn *base);
int sim_shutdown_wr(struct xs_io_conn *base);
void sim_close(struct xs_io_conn *base, bool abort);

/* sim_listen.c */
int sim_listen(struct xs_io *io, struct xs_io_listener **out,
               const struct xs_io_spec *spec);
int sim_accept(struct xs_io_listener *base, struct xs_io_conn **out);
void sim_accept_want(struct xs_io_listener *base, bool want);
void sim_unlisten(struct xs_io_listener *base);
/* Tell it that connections wait. True if the core was called. */
bool sim_listener_tell(struct sim_listener *listener);
struct sim_listener *sim_listener_find(struct xs_sim *sim,
                                       const struct xs_io_addr *at);

/* sim_loop.c */
extern const struct xs_drive_ops sim_drive_ops;
void sim_alarm(struct xs_io *io, uint64_t at_ns);
void sim_on_alarm(struct xs_sim_timer *timer);
void sim_defer(struct xs_io *io);
/* The core is about to be called. */
void sim_enter(struct xs_sim *sim);
/* It has returned. */
void sim_leave(struct xs_sim *sim);

/* sim_wait.c */
int sim_inbox_init(struct sim_inbox *inbox);
void sim_inbox_fini(struct sim_inbox *inbox);
void sim_post(struct xs_io *io, struct xs_io_job *job);
/* Run what was posted. True if there was any. */
bool sim_jobs(struct xs_sim *sim);
int sim_watch(struct xs_drive *drive, struct xs_watch *watch, unsigned events);
/* Tell what watched descriptors are ready for. True if there was any. */
bool sim_poll(struct xs_sim *sim);

/* Wait in real time, XS_SIM_REAL_WAIT_MS at most, until a watched descriptor
 * is ready or a job is posted. Calls nobody: the host may have let go of what
 * a callback needs (drive.h, rule 3). */
void sim_wait(struct xs_sim *sim);

#endif
