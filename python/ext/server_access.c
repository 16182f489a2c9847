/* server_access.c - the access log: lines made in C, written once a turn. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/http1/status.h"
#include "python/ext/bridge.h"
#include "python/ext/server.h"

/* What one line takes at most: the target four times (escaped), the rest. */
#define LINE_MAX_BYTES ((size_t)4 * XS_ACCESS_TEXT + 512)

/* How long a reader of the log that does not read may hold us up, once. While
 * it still does not, lines are lost and nobody waits. */
#define WRITE_WAIT_MS 1000

/* Writes that one flush may take: a full buffer, in small parts. */
#define WRITES_MAX 1024u

/* What a pipe takes without blocking when poll says that it takes some:
 * PIPE_BUF of Linux. */
#define WRITE_BYTES ((size_t)4096)

/* Write a part. False if the descriptor takes nothing within the patience. */
static bool access_write_part(struct ext_access *access, size_t *done)
{
    struct pollfd ready = {.fd = access->fd, .events = POLLOUT};
    size_t len = access->len - *done;
    ssize_t wrote;

    if (poll(&ready, 1, access->stalled ? 0 : WRITE_WAIT_MS) <= 0) {
        access->stalled = true;
        return false;
    }
    access->stalled = false;
    wrote = write(access->fd, access->buffer + *done,
                  len < WRITE_BYTES ? len : WRITE_BYTES);
    if (wrote > 0) {
        *done += (size_t)wrote;
        return true;
    }
    return wrote < 0 && (errno == EAGAIN || errno == EINTR);
}

static void access_write(struct ext_access *access)
{
    size_t done = 0;

    for (unsigned i = 0; done < access->len && i < WRITES_MAX; i++) {
        if (!access_write_part(access, &done)) {
            break;
        }
    }
    access->len = 0;
}

void ext_access_flush(struct ext_access *access)
{
    PyThreadState *thread = ext_gil_release();

    access_write(access);
    ext_gil_take(thread);
}

static void access_put(struct ext_access *access, const char *text, size_t len)
{
    XS_ASSERT(access->len + len <= EXT_ACCESS_BUFFER);
    memcpy(access->buffer + access->len, text, len);
    access->len += len;
}

static void access_put_text(struct ext_access *access, const char *text)
{
    access_put(access, text, strlen(text));
}

/* What could forge a line or a field is escaped. */
static void access_put_escaped(struct ext_access *access, struct xs_slice bytes)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t c = bytes.data[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) {
            char code[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
            access_put(access, code, sizeof code);
        } else {
            access->buffer[access->len++] = (char)c;
        }
    }
}

static void access_put_peer(struct ext_access *access,
                            const struct xs_io_addr *peer)
{
    char port[16];
    bool is_v6 = strchr(peer->host, ':') != NULL;

    if (peer->is_unix) {
        access_put_text(access, "unix");
        return;
    }
    access_put_text(access, is_v6 ? "[" : "");
    access_put_text(access, peer->host);
    access_put_text(access, is_v6 ? "]" : "");
    (void)snprintf(port, sizeof port, ":%u", (unsigned)peer->port);
    access_put_text(access, port);
}

void ext_access_add(struct ext_access *access, const struct xs_access *entry)
{
    struct xs_slice phrase = xs_status_phrase(entry->status);
    struct xs_slice method = entry->method;
    char number[32];

    if (EXT_ACCESS_BUFFER - access->len < LINE_MAX_BYTES) {
        ext_access_flush(access);
    }
    if (method.len > 64) {
        method.len = 64;
    }
    access_put_text(access, "INFO:     ");
    access_put_peer(access, entry->peer);
    access_put_text(access, " - \"");
    access_put_escaped(access, method);
    access_put_text(access, " ");
    access_put_escaped(access, entry->target);
    (void)snprintf(number, sizeof number, " HTTP/1.%u\" %u", entry->minor,
                   entry->status);
    access_put_text(access, number);
    if (phrase.len > 0) {
        access_put_text(access, " ");
        access_put(access, (const char *)phrase.data, phrase.len);
    }
    if (strcmp(entry->why, "ok") != 0) {
        access_put_text(access, " [");
        access_put_text(access, entry->why);
        access_put_text(access, "]");
    }
    access_put_text(access, "\n");
}
