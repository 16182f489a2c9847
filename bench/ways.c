/* ways.c - the CPU time of a server beside that of itself, doing it in another
 * way. */

#include "bench/ways.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void ways_die(const char *what)
{
    perror(what);
    exit(1);
}

static double cpu_ns(clockid_t clock)
{
    struct timespec ts;

    if (clock_gettime(clock, &ts) != 0) {
        ways_die("the server's clock");
    }
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Ask, and read what comes, so many times. */
static void ways_batch(const struct ways_one *way, unsigned asks)
{
    static uint8_t buffer[256 * 1024];

    for (unsigned i = 0; i < asks; i++) {
        size_t left = way->answer_len;

        if (write(way->fd, way->ask, way->ask_len) != (ssize_t)way->ask_len) {
            ways_die("write");
        }
        while (left > 0) {
            size_t max = left < sizeof buffer ? left : sizeof buffer;
            ssize_t got = read(way->fd, buffer, max);
            if (got <= 0) {
                ways_die("read");
            }
            left -= (size_t)got;
        }
    }
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one;
    double b = *(const double *)other;

    return (a > b) - (a < b);
}

void ways_measure(const struct ways *ways, struct ways_result *out)
{
    static double us[WAYS_WAYS_MAX][WAYS_ROUNDS_MAX];
    double ratios[WAYS_ROUNDS_MAX];
    clockid_t clock;

    if (clock_getcpuclockid(ways->server, &clock) != 0) {
        ways_die("the server's clock");
    }
    for (unsigned i = 0; i < ways->count; i++) {
        ways_batch(&ways->all[i], 1 + ways->asks / 4);
        out[i].best_us = 1e12;
    }
    for (unsigned round = 0; round < ways->rounds; round++) {
        for (unsigned k = 0; k < ways->count; k++) {
            unsigned turn = round % 2 == 0 ? k : ways->count - 1 - k;
            unsigned way = (turn + round / 2) % ways->count;
            double before = cpu_ns(clock);

            ways_batch(&ways->all[way], ways->asks);
            us[way][round] = (cpu_ns(clock) - before) / 1e3 / ways->asks;
            if (us[way][round] < out[way].best_us) {
                out[way].best_us = us[way][round];
            }
        }
    }
    for (unsigned way = 0; way < ways->count; way++) {
        for (unsigned round = 0; round < ways->rounds; round++) {
            ratios[round] = us[way][round] / us[0][round];
        }
        qsort(ratios, ways->rounds, sizeof *ratios, by_size);
        out[way].median = ratios[ways->rounds / 2];
        out[way].best = out[way].best_us / out[0].best_us;
    }
}

int ways_listen(int is_unix)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    int err;

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* The system gives a name to who binds to none. */
    err = is_unix ? bind(fd, (struct sockaddr *)&un, sizeof un.sun_family)
                  : bind(fd, (struct sockaddr *)&in, sizeof in);
    return err == 0 && listen(fd, 64) == 0 ? fd : -1;
}

int ways_connect(int listener)
{
    struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof addr;
    int fd;

    if (getsockname(listener, (struct sockaddr *)&addr, &len) != 0) {
        ways_die("getsockname");
    }
    fd = socket(addr.ss_family, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&addr, len) != 0) {
        ways_die("connect");
    }
    return fd;
}
