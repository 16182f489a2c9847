/* writev_loop.c - the least that a response in pieces costs: a blocking socket
 * and `writev`, one connection at a time.
 *
 *     writev_loop PORT     GET /chunks/N/S: N pieces of S bytes, by length */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define SLICES 64

/* Until all of `slices` has been taken. */
static int write_all(int fd, struct iovec *slices, int count)
{
    while (count > 0) {
        ssize_t took = writev(fd, slices, count);

        if (took < 0) {
            return -1;
        }
        while (count > 0 && (size_t)took >= slices->iov_len) {
            took -= (ssize_t)slices->iov_len;
            slices++;
            count--;
        }
        if (count > 0) {
            slices->iov_base = (char *)slices->iov_base + took;
            slices->iov_len -= (size_t)took;
        }
    }
    return 0;
}

static int answer(int fd, size_t pieces, size_t size)
{
    struct iovec slices[SLICES];
    char head[128];
    char *piece = calloc(1, size);
    int count = 1;
    int err = piece == NULL ? -1 : 0;

    slices[0].iov_base = head;
    slices[0].iov_len = (size_t)snprintf(
        head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
        pieces * size);
    for (size_t i = 0; err == 0 && i < pieces; i++) {
        slices[count].iov_base = piece;
        slices[count].iov_len = size;
        count++;
        if (count == SLICES || i + 1 == pieces) {
            err = write_all(fd, slices, count);
            count = 0;
        }
    }
    free(piece);
    return err;
}

/* Requests of one connection; each is in one segment. */
static void serve(int fd)
{
    char text[4096];
    size_t pieces;
    size_t size;
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (;;) {
        ssize_t got = read(fd, text, sizeof text - 1);

        if (got <= 0) {
            return;
        }
        text[got] = '\0';
        if (sscanf(text, "GET /chunks/%zu/%zu ", &pieces, &size) != 2 ||
            answer(fd, pieces, size) != 0) {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;

    at.sin_port = htons((uint16_t)(argc > 1 ? strtol(argv[1], NULL, 10) : 0));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, 16) != 0) {
        (void)fprintf(stderr, "writev_loop: cannot listen\n");
        return 1;
    }
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd >= 0) {
            serve(fd);
            (void)close(fd);
        }
    }
}
