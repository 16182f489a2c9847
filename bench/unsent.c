/* unsent.c - what it costs that little waits in the kernel: for
 * XS_SYS_UNSENT_MAX.
 *
 *     unsent [ROUNDS]
 *
 * Method: ways.h. The whole core on the libuv backend, the application in C:
 * a response of as many lent pieces of one size as asked for, the next one
 * whenever the last has gone. It listens once for each limit, which is set on
 * the listener. The client reads as fast as it can, on loopback: a fast
 * network, on which to wait costs most.
 *
 * Shown is the server's CPU time of a response with the first limit, and that
 * with the others as a ratio: the median of all rounds. Below 1.00 it is better
 * than the first. */

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/ways.h"
#include "core/conn/server.h"
#include "core/drive.h"
#include "core/gateway.h"
#include "io/uv.h"

#define PIECE_MAX ((size_t)1024 * 1024)
#define LIMITS 6u

static const int limits[LIMITS] = {128 << 10, 32 << 10,  64 << 10,
                                   256 << 10, 512 << 10, 1 << 30};

static uint8_t data[PIECE_MAX];

/* What waits to be said; one client at a time. */
static unsigned pieces;
static size_t piece_len;

static void must(int err)
{
    if (err != 0) {
        (void)fprintf(stderr, "unsent: %s\n", xs_error_text(err));
        exit(1);
    }
}

static void on_release(void *owner)
{
    (void)owner;
}

static void on_drain(struct xs_request *req)
{
    struct xs_lent lent = {.bytes = xs_slice_of(data, piece_len),
                           .release = on_release};

    while (pieces > 0 && !xs_response_full(req)) {
        pieces--;
        must(xs_response_body(req, &lent, pieces > 0));
        if (pieces == 0) {
            return;
        }
    }
}

/* GET /PIECES/SIZE */
static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    char text[64] = {0};
    struct xs_slice target = req->head->target;
    char *end = text;

    (void)gateway;
    memcpy(text, target.data,
           target.len < sizeof text ? target.len : sizeof text - 1);
    pieces = (unsigned)strtoul(text + 1, &end, 10);
    piece_len = strtoul(end + 1, NULL, 10);
    (void)snprintf(text, sizeof text, "%zu", pieces * piece_len);
    must(xs_response_start(req, 200, XS_LIT("")));
    must(xs_response_header(req, XS_LIT("content-length"), xs_slice_str(text)));
    on_drain(req);
}

static void on_event(struct xs_request *req)
{
    (void)req;
}

static void on_abort(struct xs_request *req, enum xs_abort why)
{
    (void)req;
    (void)why;
}

static const struct xs_gateway_ops ops = {
    .on_request = on_request,
    .on_body = on_event,
    .on_drain = on_drain,
    .on_eof = on_event,
    .on_abort = on_abort,
};

static _Noreturn void serve(const int *fds)
{
    struct xs_gateway gateway = {&ops};
    struct xs_server_config config = {.limits = xs_limits_default()};
    struct xs_drive *drive = NULL;
    struct xs_server server;

    must(xs_uv_new(&drive));
    xs_server_init(&server, drive->io, &gateway, &config);
    for (unsigned i = 0; i < LIMITS; i++) {
        struct xs_io_spec spec = {.fd = fds[i]};

        must(xs_server_listen(&server, &spec));
        if (setsockopt(fds[i], IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limits[i],
                       sizeof limits[i]) != 0) {
            must(XS_EIO);
        }
    }
    for (;;) {
        must(drive->ops->run(drive, XS_SECOND_NS));
    }
}

static void measure(struct ways *ways, const int *listeners, unsigned count,
                    size_t size)
{
    struct ways_result found[LIMITS];
    char ask[128];
    char head[128];
    int ask_len =
        snprintf(ask, sizeof ask, "GET /%u/%zu HTTP/1.1\r\nHost: bench\r\n\r\n",
                 count, size);
    int head_len = snprintf(head, sizeof head,
                            "HTTP/1.1 200 OK\r\ncontent-length: %zu\r\n\r\n",
                            count * size);

    for (unsigned i = 0; i < LIMITS; i++) {
        ways->all[i] = (struct ways_one){
            .fd = ways_connect(listeners[i]),
            .ask = ask,
            .ask_len = (size_t)ask_len,
            .answer_len = (size_t)head_len + count * size,
        };
    }
    ways->asks = (unsigned)(1 + ((size_t)8 << 20) / (count * size));
    ways_measure(ways, found);
    (void)printf("%4u x %4zu KiB %9.1f us", count, size / 1024,
                 found[0].best_us);
    for (unsigned i = 1; i < LIMITS; i++) {
        (void)printf(" %8.2f", found[i].median);
    }
    (void)printf("\n");
    (void)fflush(stdout);
    for (unsigned i = 0; i < LIMITS; i++) {
        (void)close(ways->all[i].fd);
    }
}

int main(int argc, char **argv)
{
    struct ways ways = {.count = LIMITS, .rounds = 25};
    int listeners[LIMITS];

    if (argc > 1) {
        ways.rounds = (unsigned)strtoul(argv[1], NULL, 10);
    }
    if (ways.rounds < 1 || ways.rounds > WAYS_ROUNDS_MAX) {
        (void)fprintf(stderr, "usage: unsent [ROUNDS]\n");
        return 2;
    }
    (void)printf("%15s %9d KiB", "response", limits[0] >> 10);
    for (unsigned i = 0; i < LIMITS; i++) {
        listeners[i] = ways_listen(0);
        if (i > 0) {
            (void)printf(" %8d", limits[i] >> 10);
        }
    }
    (void)printf("\n");
    ways.server = fork();
    if (ways.server == 0) {
        serve(listeners);
    }
    for (size_t size = (size_t)32 << 10; size <= PIECE_MAX; size *= 2) {
        measure(&ways, listeners, 1, size);
        measure(&ways, listeners, 16, size);
    }
    (void)kill(ways.server, SIGKILL);
    return 0;
}
