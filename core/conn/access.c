/* access.c - what the access log is told of a request, and how it is kept.
 *
 * The log is told when a request has ended and the socket has taken its
 * response, or when the next request begins: who sends that is there. It is
 * told from the connection's turn, never inside a call of the gateway's. Then
 * the head has long left the block. So what it wants of heads is kept, in one
 * piece of memory that the connection keeps for the next request:
 *
 *     text:  | method | target | request's fields | response's fields |
 *                                         text_head^          text_len^
 *
 * each as its place among the values, its length, and its bytes. Without
 * memory a value is missing in the log; nothing else depends on it. */

#include "core/conn/access.h"

#include <string.h>

#include "core/conn/conn.h"

/* The first places; the wanted fields follow, those of the request first. */
#define PLACE_METHOD 0u
#define PLACE_TARGET 1u
#define PLACE_FIELDS 2u
#define PLACES (PLACE_FIELDS + XS_ACCESS_FIELDS)

/* Place and length, before the bytes. */
#define ENTRY_HEAD ((size_t)3)

_Static_assert(XS_ACCESS_TEXT <= UINT16_MAX, "a length has two bytes");
_Static_assert(XS_ACCESS_VALUE <= XS_ACCESS_TEXT, "the target is the longest");

static bool access_room(struct xs_conn *conn, size_t len)
{
    struct xs_mem *mem = conn->server->io->mem;
    size_t cap = conn->log.text_cap;
    char *text;

    if (conn->log.text_len + len <= cap) {
        return true;
    }
    cap =
        cap * 2 > conn->log.text_len + len ? cap * 2 : conn->log.text_len + len;
    text = mem->resize(mem, conn->log.text, cap);
    if (text == NULL) {
        return false;
    }
    conn->log.text = text;
    conn->log.text_cap = cap;
    return true;
}

static void access_keep(struct xs_conn *conn, unsigned place,
                        struct xs_slice value, size_t max)
{
    size_t len = value.len < max ? value.len : max;
    uint8_t *out;

    if (!access_room(conn, ENTRY_HEAD + len)) {
        return;
    }
    out = (uint8_t *)conn->log.text + conn->log.text_len;
    out[0] = (uint8_t)place;
    out[1] = (uint8_t)(len >> 8);
    out[2] = (uint8_t)len;
    if (len > 0) {
        memcpy(out + ENTRY_HEAD, value.data, len);
    }
    conn->log.text_len += ENTRY_HEAD + len;
}

static void access_keep_head(struct xs_conn *conn, const struct xs_head *head)
{
    const struct xs_access_wants *wants = &conn->server->config.wants;

    conn->log.text_len = 0;
    access_keep(conn, PLACE_METHOD, head->method, XS_ACCESS_VALUE);
    access_keep(conn, PLACE_TARGET, head->target, XS_ACCESS_TEXT);
    for (unsigned i = 0; i < wants->request_count; i++) {
        /* The last of a name: that of the nearest proxy. */
        for (unsigned j = head->field_count; j > 0; j--) {
            const struct xs_field *field = &head->fields[j - 1];
            if (xs_slice_eq_lower(field->name, wants->request[i])) {
                access_keep(conn, PLACE_FIELDS + i, field->value,
                            XS_ACCESS_VALUE);
                break;
            }
        }
    }
    conn->log.text_head = conn->log.text_len;
}

void xs_access_begin(struct xs_conn *conn, const struct xs_head *head)
{
    conn->log.start_ns = 0;
    if (conn->server->config.events.access != NULL) {
        conn->log.start_ns = conn->server->io->ops->clock(conn->server->io);
        access_keep_head(conn, head);
    }
}

void xs_access_forget(struct xs_conn *conn)
{
    conn->log.text_len = conn->log.text_head;
}

static size_t access_entry_len(const struct xs_conn *conn, size_t at)
{
    const uint8_t *entry = (const uint8_t *)conn->log.text + at;

    return ENTRY_HEAD + ((size_t)entry[1] << 8 | entry[2]);
}

/* Drop what is kept of the response's head at `place`: a field that comes
 * again and again takes no more room than once. */
static void access_drop(struct xs_conn *conn, unsigned place)
{
    char *text = conn->log.text;
    size_t at = conn->log.text_head;

    while (at < conn->log.text_len) {
        size_t len = access_entry_len(conn, at);
        if ((uint8_t)text[at] == place) {
            memmove(text + at, text + at + len, conn->log.text_len - at - len);
            conn->log.text_len -= len;
            return;
        }
        at += len;
    }
}

void xs_access_header(struct xs_conn *conn, struct xs_slice name,
                      struct xs_slice value)
{
    const struct xs_access_wants *wants = &conn->server->config.wants;

    for (unsigned i = 0; i < wants->response_count; i++) {
        if (xs_slice_eq_lower(name, wants->response[i])) {
            unsigned place = PLACE_FIELDS + wants->request_count + i;
            access_drop(conn, place);
            access_keep(conn, place, value, XS_ACCESS_VALUE);
        }
    }
}

/* What was kept, by place; what was not has no data. */
static void access_values(const struct xs_conn *conn,
                          struct xs_slice values[PLACES])
{
    size_t at = 0;

    for (unsigned i = 0; i < PLACES; i++) {
        values[i] = (struct xs_slice){NULL, 0};
    }
    while (at < conn->log.text_len) {
        const uint8_t *entry = (const uint8_t *)conn->log.text + at;
        size_t len = access_entry_len(conn, at);
        XS_ASSERT(entry[0] < PLACES);
        values[entry[0]] = xs_slice_of(entry + ENTRY_HEAD, len - ENTRY_HEAD);
        at += len;
    }
}

static void access_tell(struct xs_conn *conn, struct xs_access *access)
{
    const struct xs_server *server = conn->server;
    const struct xs_writer *writer = &conn->tx.writer;
    struct xs_slice values[PLACES];

    access_values(conn, values);
    access->conn_id = conn->id;
    access->method = values[PLACE_METHOD];
    access->target = values[PLACE_TARGET];
    access->request_values = values + PLACE_FIELDS;
    access->response_values =
        values + PLACE_FIELDS + server->config.wants.request_count;
    access->minor = writer->minor;
    if (writer->state >= XS_WRITER_BODY) {
        access->status = writer->status;
        if (writer->framing != XS_FRAMING_NONE) {
            access->body_bytes = writer->body_bytes;
        }
    }
    access->end_ns = server->io->ops->clock(server->io);
    access->start_ns = access->is_refused ? access->end_ns : conn->log.start_ns;
    server->config.events.access(server->config.events.user, access);
}

static void access_tell_end(struct xs_conn *conn, const char *why)
{
    const struct xs_request *req = &conn->request;
    struct xs_access access = {
        .peer = req->client != NULL ? req->client : req->peer,
        .why = why,
    };

    conn->log.untold = false;
    access_tell(conn, &access);
}

void xs_access_end(struct xs_conn *conn, const char *why)
{
    if (conn->server->config.events.access != NULL) {
        conn->log.untold = true;
        conn->log.why = why;
    }
}

void xs_access_turn(struct xs_conn *conn)
{
    if (conn->log.untold &&
        (conn->log.why != NULL || conn->tx.queue.bytes == 0)) {
        xs_access_sent(conn);
    }
}

void xs_access_sent(struct xs_conn *conn)
{
    if (conn->log.untold) {
        access_tell_end(conn, conn->log.why == NULL ? "ok" : conn->log.why);
    }
}

void xs_access_cut(struct xs_conn *conn, enum xs_abort why)
{
    if (conn->log.untold && conn->log.why == NULL && conn->tx.queue.bytes > 0) {
        conn->log.why = xs_abort_word(why);
    }
    xs_access_sent(conn);
}

void xs_access_settle(struct xs_conn *conn)
{
    if (conn->log.text_cap > XS_ACCESS_KEEP && conn->state == XS_CONN_IDLE &&
        !conn->log.untold) {
        xs_mem_free(conn->server->io->mem, conn->log.text);
        conn->log.text = NULL;
        conn->log.text_cap = 0;
        conn->log.text_len = 0;
    }
}

void xs_access_refused(struct xs_conn *conn, enum xs_refusal why)
{
    const struct xs_head *head = &conn->rx.parser.head;
    struct xs_access access = {
        .peer = &conn->io->peer,
        .why = xs_refusal_rule(why),
        .is_refused = true,
    };

    if (conn->server->config.events.access == NULL) {
        return;
    }
    conn->log.text_len = 0;
    if (why == XS_REFUSE_BUSY || why == XS_REFUSE_MISDIRECTED) {
        /* No other has a head that is legal. */
        bool https;
        const struct xs_io_addr *client = xs_request_client(conn, &https);
        access.peer = client != NULL ? client : access.peer;
        access_keep_head(conn, head);
    } else if (head->target.data != NULL) {
        access_keep(conn, PLACE_METHOD, head->method, XS_ACCESS_VALUE);
        access_keep(conn, PLACE_TARGET, head->target, XS_ACCESS_TEXT);
    }
    access_tell(conn, &access);
}
