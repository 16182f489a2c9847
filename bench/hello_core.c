/* hello_core.c - the core on libuv with an application in C: the "no Python"
 * line of the benchmarks.
 *
 *     hello_core PORT      answers every request with "Hello, world!" */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/conn/server.h"
#include "core/drive.h"
#include "core/gateway.h"
#include "io/uv.h"

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
    (void)number;
    stopping = 1;
}

static void on_request(struct xs_gateway *gateway, struct xs_request *req)
{
    struct xs_lent lent = {.bytes = XS_LIT("Hello, world!")};

    (void)gateway;
    if (xs_response_start(req, 200, XS_LIT("")) != 0 ||
        xs_response_header(req, XS_LIT("content-type"), XS_LIT("text/plain")) !=
            0 ||
        xs_response_body(req, &lent, false) != 0) {
        xs_response_fail(req);
    }
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

static const struct xs_gateway_ops hello_ops = {
    .on_request = on_request,
    .on_body = on_event,
    .on_drain = on_event,
    .on_eof = on_event,
    .on_abort = on_abort,
};

static void serve(struct xs_drive *drive, uint16_t port)
{
    struct xs_gateway gateway = {&hello_ops};
    struct xs_server server;
    struct xs_server_config config = {
        .limits = xs_limits_default(),
        .server_name = XS_LIT("xsgi"),
        .date = true,
    };
    struct xs_io_spec spec = {
        .fd = -1, .host = "127.0.0.1", .port = port, .backlog = 1024};
    int err;

    xs_server_init(&server, drive->io, &gateway, &config);
    err = xs_server_listen(&server, &spec);
    if (err != 0) {
        (void)fprintf(stderr, "hello_core: port %u: %s\n", (unsigned)port,
                      xs_error_text(err));
    }
    while (err == 0 && server.state != XS_SERVER_STOPPED) {
        if (stopping != 0 && server.state == XS_SERVER_RUNNING) {
            xs_server_stop(&server, XS_SECOND_NS);
        }
        err = drive->ops->run(drive, XS_SECOND_NS);
    }
    if (err == 0) {
        xs_server_fini(&server);
    }
}

int main(int argc, char **argv)
{
    struct xs_drive *drive = NULL;
    long port = argc > 1 ? strtol(argv[1], NULL, 10) : 8000;

    if (port < 1 || port > 65535) {
        (void)fprintf(stderr, "usage: hello_core PORT\n");
        return 2;
    }
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGINT, on_signal);
    if (xs_uv_new(&drive) != 0) {
        (void)fprintf(stderr, "hello_core: cannot start libuv\n");
        return 1;
    }
    serve(drive, (uint16_t)port);
    drive->ops->free(drive);
    return 0;
}
