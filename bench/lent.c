/* lent.c - from which size on a piece is cheaper lent than copied: for
 * XS_TX_COPY_MAX.
 *
 *     lent [ROUNDS]
 *
 * Method: ways.h. The queue of core/base and the libuv backend, without HTTP:
 * the client asks for an answer, the server puts it into the queue, its pieces
 * copied or lent, and writes as a connection does, when 64 KiB are ready and
 * at the end. `one` is one piece; `head` is 200 copied bytes, as a head is, and
 * one piece; `chunks` are 16 pieces with a head before the first and eight
 * copied bytes behind each. The pieces are the same bytes again and again: they
 * are in the processor's cache, as what an application has just made is. Each
 * size and way has a connection of its own: memory of an earlier one would
 * count.
 *
 * Shown is the server's CPU time of an answer with copied pieces, and beside
 * it, as a ratio, that with lent ones. Below 1.00 it is better to lend. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/ways.h"
#include "core/base/limits.h"
#include "core/base/queue.h"
#include "core/drive.h"
#include "io/uv.h"

#define HEAD_LEN 200u
#define FRAMING_LEN 8u
/* Once so much was freed, glibc maps nothing of less for itself: so it is in
 * each process that has imported a few modules of Python. */
#define SERVER_FREED ((size_t)4 * 1024 * 1024)

#define SIZE_MAX_ASKED ((size_t)128 * 1024)

/* What the server is asked, as it is in memory. */
struct ask {
    uint32_t size; /* of a piece */
    uint32_t pieces;
    uint32_t head;    /* bytes before them */
    uint32_t framing; /* bytes behind each */
    uint32_t lend;
};

struct peer {
    struct xs_queue queue;
    struct ask ask;
    unsigned pieces; /* that are not in the queue yet */
    bool blocked;
};

static uint8_t data[SIZE_MAX_ASKED];

static void must(int err)
{
    if (err != 0) {
        (void)fprintf(stderr, "lent: %s\n", xs_error_text(err));
        exit(1);
    }
}

static void on_release(void *owner)
{
    (void)owner;
}

static void peer_flush(struct xs_io_conn *conn, struct peer *peer)
{
    struct xs_slice slices[XS_QUEUE_SLICES];

    while (peer->queue.bytes > 0 && !peer->blocked) {
        unsigned count = xs_queue_peek(&peer->queue, slices, XS_QUEUE_SLICES);
        size_t offered = 0;
        int64_t took;

        for (unsigned i = 0; i < count; i++) {
            offered += slices[i].len;
        }
        took = conn->io->ops->writev(conn, slices, count);
        must(took == XS_EAGAIN || took > 0 ? 0 : (int)took);
        if (took > 0) {
            xs_queue_consume(&peer->queue, (size_t)took);
        }
        peer->blocked = took != (int64_t)offered;
    }
}

static void peer_answer(struct xs_io_conn *conn, struct peer *peer)
{
    const struct ask *ask = &peer->ask;
    struct xs_slice piece = xs_slice_of(data, ask->size);
    struct xs_lent lent = {.bytes = piece, .release = on_release};

    while (peer->pieces > 0 && !peer->blocked) {
        must(ask->lend != 0 ? xs_queue_lend(&peer->queue, &lent)
                            : xs_queue_copy(&peer->queue, piece));
        must(xs_queue_copy(&peer->queue, xs_slice_of(data, ask->framing)));
        peer->pieces--;
        if (peer->queue.bytes >= XS_TX_FLUSH || peer->pieces == 0) {
            peer_flush(conn, peer);
        }
    }
    conn->io->ops->want(conn, peer->blocked ? XS_IO_WRITE : XS_IO_READ);
}

static void on_peer(struct xs_io_conn *conn, unsigned events)
{
    struct peer *peer = conn->user;
    int64_t got;

    if (peer->blocked) {
        peer->blocked = (events & XS_IO_WRITE) == 0;
        peer_flush(conn, peer);
    } else {
        got = conn->io->ops->recv(conn, (uint8_t *)&peer->ask,
                                  sizeof(struct ask));
        if (got == XS_EAGAIN) {
            return;
        }
        if (got != (int64_t)sizeof(struct ask)) {
            xs_queue_fini(&peer->queue);
            free(peer);
            conn->io->ops->close(conn, false);
            return;
        }
        peer->pieces = peer->ask.pieces;
        must(xs_queue_copy(&peer->queue, xs_slice_of(data, peer->ask.head)));
    }
    peer_answer(conn, peer);
}

static void on_listener(struct xs_io_listener *listener)
{
    struct xs_io_conn *conn = NULL;
    struct peer *peer = calloc(1, sizeof *peer);

    must(peer == NULL ? XS_ENOMEM : 0);
    must(listener->io->ops->accept(listener, &conn));
    xs_queue_init(&peer->queue, listener->io->mem);
    conn->user = peer;
    conn->on_ready = on_peer;
    listener->io->ops->want(conn, XS_IO_READ);
}

static _Noreturn void serve(const int *fds, unsigned count)
{
    struct xs_drive *drive = NULL;
    struct xs_io_listener *listener;
    void *volatile once = malloc(SERVER_FREED);

    free(once);
    must(xs_uv_new(&drive));
    for (unsigned i = 0; i < count; i++) {
        struct xs_io_spec spec = {.fd = fds[i]};

        must(drive->io->ops->listen(drive->io, &listener, &spec));
        listener->on_ready = on_listener;
    }
    for (;;) {
        must(drive->ops->run(drive, XS_SECOND_NS));
    }
}

struct shape {
    const char *name;
    uint32_t pieces, head, framing;
};

static const struct shape shapes[] = {
    {"one", 1, 0, 0},
    {"head", 1, HEAD_LEN, 0},
    {"chunks", 16, HEAD_LEN, FRAMING_LEN},
};

static void measure(struct ways *ways, int listener, const struct shape *shape,
                    uint32_t size)
{
    struct ways_result found[2];
    struct ask asks[2];

    for (uint32_t lend = 0; lend < 2; lend++) {
        asks[lend] = (struct ask){size, shape->pieces, shape->head,
                                  shape->framing, lend};
        ways->all[lend] = (struct ways_one){
            .fd = ways_connect(listener),
            .ask = &asks[lend],
            .ask_len = sizeof(struct ask),
            .answer_len =
                shape->head + (size_t)shape->pieces * (size + shape->framing),
        };
    }
    ways->asks = shape->pieces > 1 ? 40 : 200;
    ways_measure(ways, found);
    (void)close(ways->all[0].fd);
    (void)close(ways->all[1].fd);
    (void)printf("  %7u %10.2f us %8.2f %8.2f\n", size, found[0].best_us,
                 found[1].median, found[1].best);
}

int main(int argc, char **argv)
{
    int listeners[2] = {ways_listen(0), ways_listen(1)};
    struct ways ways = {.count = 2, .rounds = 31};

    if (argc > 1) {
        ways.rounds = (unsigned)strtoul(argv[1], NULL, 10);
    }
    if (listeners[0] < 0 || listeners[1] < 0 || ways.rounds < 1 ||
        ways.rounds > WAYS_ROUNDS_MAX) {
        (void)fprintf(stderr, "usage: lent [ROUNDS]\n");
        return 2;
    }
    memset(data, 'x', sizeof data);
    ways.server = fork();
    if (ways.server == 0) {
        serve(listeners, 2);
    }
    for (unsigned i = 0; i < 2; i++) {
        for (size_t k = 0; k < XS_COUNT_OF(shapes); k++) {
            (void)printf("%s, %s\n  %7s %13s %8s %8s\n",
                         i == 0 ? "tcp" : "unix", shapes[k].name, "size",
                         "copied", "median", "best");
            for (uint32_t size = 512; size <= SIZE_MAX_ASKED; size *= 2) {
                measure(&ways, listeners[i], &shapes[k], size);
                (void)fflush(stdout);
            }
        }
    }
    (void)kill(ways.server, SIGKILL);
    return 0;
}
