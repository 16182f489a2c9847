/* micro_http1.c - what parsing a request and writing a response cost.
 *
 * Prints ns per message, the best of a few rounds. No sockets, no backend. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/limits.h"
#include "core/base/queue.h"
#include "core/http1/parser.h"
#include "core/http1/writer.h"

#define ROUNDS 7
#define MESSAGES 200000

static const char wrk_get[] =
    "GET /hello HTTP/1.1\r\n"
    "Host: 127.0.0.1:8000\r\n"
    "User-Agent: wrk\r\n"
    "Accept: */*\r\n"
    "\r\n";

static const char browser_get[] =
    "GET /articles/2031/why?from=front&n=12 HTTP/1.1\r\n"
    "Host: www.example.org\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 "
    "Firefox/140.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    "\r\n"
    "Accept-Language: en-US,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: session=d41d8cd98f00b204e9800998ecf8427e; theme=dark\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "\r\n";

static const char length_post[] =
    "POST /form HTTP/1.1\r\n"
    "Host: 127.0.0.1:8000\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 27\r\n"
    "\r\n"
    "{\"name\": \"value\", \"n\": 1234}";

static const char chunked_post[] =
    "POST /form HTTP/1.1\r\n"
    "Host: 127.0.0.1:8000\r\n"
    "Transfer-Encoding: chunked\r\n"
    "\r\n"
    "b\r\nhello world\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n";

static double now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void die(const char *what)
{
    (void)fprintf(stderr, "micro_http1: %s\n", what);
    exit(1);
}

static void parse_one(struct xs_parser *parser, uint8_t *data, size_t len)
{
    size_t at = 0;

    for (;;) {
        size_t used;
        enum xs_parse what = xs_parser_feed(parser, data + at, len - at, &used);
        at += used;
        if (what == XS_PARSE_END) {
            return;
        }
        if (what != XS_PARSE_HEAD) {
            die("the request was not understood");
        }
    }
}

static void bench_parse(const char *name, const char *text)
{
    static struct xs_field fields[100];
    static uint8_t block[4096];
    struct xs_limits limits = xs_limits_default();
    struct xs_parser parser;
    size_t len = strlen(text);
    double best = 1e9;

    xs_parser_init(&parser, &limits);
    xs_parser_fields(&parser, fields, 100);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < MESSAGES; i++) {
            memcpy(block, text, len);
            parse_one(&parser, block, len);
        }
        double ns = (now_ns() - start) / MESSAGES;
        best = ns < best ? ns : best;
    }
    printf("parse  %-24s %4zu bytes %7.1f ns\n", name, len, best);
}

/* One response, said like a gateway says it. */
static void write_one(struct xs_queue *queue, struct xs_slice common,
                      unsigned headers, struct xs_slice body, unsigned bodies)
{
    struct xs_writer writer;
    struct xs_lent lent = {.bytes = body};
    int err;

    xs_writer_begin(&writer, 1, false, true, common);
    err = xs_writer_start(&writer, queue, 200, (struct xs_slice){NULL, 0});
    for (unsigned i = 0; i < headers; i++) {
        err |= xs_writer_header(&writer, queue, XS_LIT("content-type"),
                                XS_LIT("text/html; charset=utf-8"));
    }
    for (unsigned i = 1; i <= bodies; i++) {
        err |= xs_writer_body(&writer, queue, &lent, i < bodies);
    }
    if (err != 0) {
        die("the response was not taken");
    }
}

static void bench_write(const char *name, unsigned headers, size_t len,
                        unsigned bodies)
{
    static uint8_t body[8192];
    char common[XS_COMMON_MAX];
    struct xs_slice lines =
        xs_slice_of(common, xs_writer_common(common, 0, XS_LIT("xsgi")));
    struct xs_mem mem = xs_mem_libc();
    struct xs_slice slices[XS_QUEUE_SLICES];
    struct xs_queue queue;
    double best = 1e9;

    xs_queue_init(&queue, &mem);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < MESSAGES; i++) {
            write_one(&queue, lines, headers, xs_slice_of(body, len), bodies);
            if (xs_queue_peek(&queue, slices, XS_QUEUE_SLICES) != 1) {
                die("the response is not one run of bytes");
            }
            xs_queue_consume(&queue, xs_queue_ready(&queue));
        }
        double ns = (now_ns() - start) / MESSAGES;
        best = ns < best ? ns : best;
    }
    xs_queue_fini(&queue);
    printf("write  %-24s %4zu bytes %7.1f ns\n", name, len * bodies, best);
}

int main(void)
{
    bench_parse("GET, 3 fields", wrk_get);
    bench_parse("GET, 8 fields", browser_get);
    bench_parse("POST, length", length_post);
    bench_parse("POST, chunked", chunked_post);
    bench_write("2 fields, small", 2, 13, 1);
    bench_write("8 fields, small", 8, 13, 1);
    bench_write("2 fields, 1 KiB", 2, 1024, 1);
    bench_write("2 fields, 4 chunks", 2, 256, 4);
    return 0;
}
