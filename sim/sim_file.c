/* sim_file.c - a file on its way into a connection, with faults.
 *
 * Where its bytes come from is the options' business; what the page cache of a
 * system does is here: now and then they are not in memory, are fetched for a
 * while, and then WRITE is told. */

#include <errno.h>
#include <unistd.h>

#include "sim/sim_types.h"

/* Bytes that are read at a time. */
#define FILE_READ ((size_t)16 * 1024)

static int64_t file_read(struct xs_sim *sim, const struct sim_range *range,
                         uint8_t *data)
{
    size_t len = range->len < FILE_READ ? range->len : FILE_READ;
    ssize_t n;

    if (sim->read != NULL) {
        return sim->read(sim->user, range->file, range->offset, data, len);
    }
    do {
        n = pread(range->file, data, len, (off_t)range->offset);
    } while (n < 0 && errno == EINTR);
    return n >= 0 ? (int64_t)n : XS_EIO;
}

void sim_on_fetched(struct xs_sim_timer *timer)
{
    struct sim_conn *conn = xs_container_of(timer, struct sim_conn, fetch);

    conn->fetched = true;
    sim_conn_update(conn);
}

/* The bytes that come next are not in memory. */
static void file_fetch(struct sim_conn *conn)
{
    struct xs_sim *sim = conn->link->peer.sim;
    uint64_t delay_ns = sim_delay(sim, XS_LABEL_FILE_SLOW);

    xs_sim_timer_set(sim, &conn->fetch, sim->now_ns + delay_ns);
    sim_event(sim, conn->link->peer.id, "fetch", delay_ns, 0);
}

/* How many of `len` bytes are looked at: all, or some because the rest is not
 * in memory, or none for that reason. */
static size_t file_part(struct sim_conn *conn, size_t len)
{
    struct xs_sim *sim = conn->link->peer.sim;
    size_t part = len;

    if (!conn->fetched && sim_fault(sim, XS_LABEL_FILE_SLOW)) {
        part = xs_size(sim->tape, XS_LABEL_FILE_SLOW, (uint32_t)len - 1);
        file_fetch(conn);
    } else if (len > 1 && sim_fault(sim, XS_LABEL_WRITE_SHORT)) {
        part -= xs_size(sim->tape, XS_LABEL_WRITE_SHORT, (uint32_t)len - 1);
    }
    conn->fetched = false;
    return part;
}

/* What a kernel does with a range that is in memory. */
static int64_t file_send(struct sim_conn *conn, struct sim_range range)
{
    struct sim_link *link = conn->link;
    uint8_t data[FILE_READ];
    int64_t done = 0;

    while (range.len > 0 && !link->server.dead) {
        int64_t n = file_read(link->peer.sim, &range, data);
        struct xs_slice bytes;
        int64_t took;

        if (n <= 0) {
            return done > 0 ? done : n;
        }
        bytes = xs_slice_of(data, (size_t)n);
        took = sim_end_write(&link->server, &bytes, 1, bytes.len);
        if (took <= 0) {
            return done > 0 ? done : took;
        }
        sim_conn_wrote(link, &bytes, (size_t)took);
        done += took;
        if (took < n) {
            break;
        }
        range.offset += (uint64_t)took;
        range.len -= (size_t)took;
    }
    if (done > 0) {
        return done;
    }
    return sim_end_write(&link->server, NULL, 0, 0); /* dead: it says how */
}

static int64_t file_try(struct sim_conn *conn, struct sim_range range)
{
    struct xs_sim *sim = conn->link->peer.sim;

    if (conn->link->server.dead) {
        return file_send(conn, range);
    }
    if (conn->fetch.slot != 0 || sim_fault(sim, XS_LABEL_WRITE_AGAIN)) {
        return XS_EAGAIN;
    }
    if (sim_fault(sim, XS_LABEL_FILE_ENDS)) {
        return 0;
    }
    if (sim_fault(sim, XS_LABEL_FILE_FAILS)) {
        return XS_EIO;
    }
    range.len = file_part(conn, range.len);
    return range.len > 0 ? file_send(conn, range) : XS_EAGAIN;
}

int64_t sim_sendfile(struct xs_io_conn *base, int file, uint64_t offset,
                     size_t len)
{
    struct sim_conn *conn = sim_conn_of(base);
    struct sim_link *link = conn->link;
    struct xs_sim *sim = link->peer.sim;
    int64_t result;

    XS_ASSERT(len > 0);
    sim_conn_harm(conn);
    result = file_try(conn, (struct sim_range){file, offset, len});
    sim->stats.writevs++;
    sim->stats.writes_blind += conn->again;
    conn->again = result == XS_EAGAIN;
    sim_event(sim, link->peer.id, "sendfile", len, (uint64_t)result);
    if (result > 0) {
        sim->stats.write_bytes += (uint64_t)result;
        sim_progress(sim);
    }
    if ((result == 0 || result == XS_EIO) && link->tap != NULL &&
        link->tap->torn != NULL) {
        link->tap->torn(link->tap, file);
    }
    sim_conn_update(conn);
    return result;
}
