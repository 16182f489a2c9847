/* queue.c - the bytes that wait for a socket: copied ones and lent ones. */

#include "core/base/queue.h"

#include "core/base/error.h"
#include "core/base/limits.h"

/* The first allocations: a usual head with a small body, and the pieces of a
 * few large bodies. */
#define QUEUE_OWN_MIN ((size_t)1024)
#define QUEUE_PIECES_MIN 8u

/* The largest ring that an empty queue keeps. */
#define QUEUE_PIECES_KEEP 64u

static struct xs_piece *queue_piece(const struct xs_queue *queue, unsigned i)
{
    return &queue->pieces[(queue->first + i) & (queue->cap - 1)];
}

static bool piece_is_copied(const struct xs_piece *piece)
{
    return piece->release == NULL;
}

/* The last piece if it is a copied one, which can be written on; else NULL. */
static struct xs_piece *queue_open_piece(const struct xs_queue *queue)
{
    struct xs_piece *last;

    if (queue->count == 0) {
        return NULL;
    }
    last = queue_piece(queue, queue->count - 1);
    return piece_is_copied(last) ? last : NULL;
}

/* Begin a piece; the room is there. */
static struct xs_piece *queue_push(struct xs_queue *queue)
{
    struct xs_piece *piece;

    XS_ASSERT(queue->count < queue->cap);
    piece = queue_piece(queue, queue->count);
    queue->count++;
    return piece;
}

void xs_queue_init(struct xs_queue *queue, struct xs_mem *mem)
{
    XS_ASSERT(mem != NULL);
    *queue = (struct xs_queue){.mem = mem};
}

void xs_queue_fini(struct xs_queue *queue)
{
    xs_queue_unhold(queue);
    xs_queue_consume(queue, queue->bytes);
    XS_ASSERT(queue->count == 0);
    xs_queue_trim(queue);
}

void xs_queue_check(const struct xs_queue *queue)
{
    size_t copied = 0;
    size_t lent = 0;
    size_t in_files = 0;
    unsigned lent_count = 0;
    const struct xs_piece *open = queue_open_piece(queue);

    XS_ASSERT(queue->own_head <= queue->own_tail);
    XS_ASSERT(queue->own_tail <= queue->own_cap);
    XS_ASSERT((queue->cap & (queue->cap - 1)) == 0);
    XS_ASSERT(queue->count <= queue->cap);
    for (unsigned i = 0; i < queue->count; i++) {
        const struct xs_piece *piece = queue_piece(queue, i);
        XS_ASSERT(piece->len > 0);
        if (piece_is_copied(piece)) {
            copied += piece->len;
        } else {
            lent += piece->len;
            in_files += piece->is_file ? piece->len : 0;
            lent_count++;
        }
    }
    XS_ASSERT(copied == queue->own_tail - queue->own_head);
    XS_ASSERT(copied + lent == queue->bytes);
    XS_ASSERT(lent_count == queue->lent);
    XS_ASSERT(in_files == queue->in_files);
    XS_ASSERT(queue->held == 0 || open != NULL);
    XS_ASSERT(open == NULL || queue->held <= open->len);
    XS_ASSERT(queue->held == 0 || queue->holding);
}

/* Room for `len` bytes behind own_tail: by sliding down, if that moves no more
 * than was gained, else by growing. */
static int queue_grow_own(struct xs_queue *queue, size_t len)
{
    size_t live = queue->own_tail - queue->own_head;
    size_t cap = queue->own_cap > 0 ? queue->own_cap : QUEUE_OWN_MIN;
    uint8_t *own;

    if (len > SIZE_MAX / 4 || live > SIZE_MAX / 4) {
        return XS_ENOMEM;
    }
    if (live <= queue->own_head && live + len <= queue->own_cap) {
        if (live > 0) {
            memcpy(queue->own, queue->own + queue->own_head, live);
        }
        queue->own_head = 0;
        queue->own_tail = live;
        return 0;
    }
    while (cap < queue->own_tail + len) {
        cap *= 2;
    }
    own = queue->mem->resize(queue->mem, queue->own, cap);
    if (own == NULL) {
        return XS_ENOMEM;
    }
    queue->own = own;
    queue->own_cap = cap;
    return 0;
}

/* Room for `pieces` more pieces, in a larger ring that begins at 0. */
static int queue_grow_pieces(struct xs_queue *queue, unsigned pieces)
{
    unsigned cap = queue->cap > 0 ? queue->cap : QUEUE_PIECES_MIN;
    struct xs_piece *ring;

    if (pieces > UINT32_MAX / 4 || queue->count > UINT32_MAX / 4) {
        return XS_ENOMEM;
    }
    while (cap < queue->count + pieces) {
        cap *= 2;
    }
    ring = queue->mem->resize(queue->mem, NULL, cap * sizeof *ring);
    if (ring == NULL) {
        return XS_ENOMEM;
    }
    for (unsigned i = 0; i < queue->count; i++) {
        ring[i] = *queue_piece(queue, i);
    }
    xs_mem_free(queue->mem, queue->pieces);
    queue->pieces = ring;
    queue->first = 0;
    queue->cap = cap;
    return 0;
}

int xs_queue_reserve(struct xs_queue *queue, size_t len, unsigned pieces)
{
    int err;

    if (len > queue->own_cap - queue->own_tail) {
        err = queue_grow_own(queue, len);
        if (err != 0) {
            return err;
        }
    }
    if (pieces > queue->cap - queue->count) {
        err = queue_grow_pieces(queue, pieces);
        if (err != 0) {
            return err;
        }
    }
    return 0;
}

int xs_queue_copy(struct xs_queue *queue, struct xs_slice bytes)
{
    uint8_t *room;

    if (bytes.len == 0) {
        return 0;
    }
    room = xs_queue_room(queue, bytes.len);
    if (room == NULL) {
        return XS_ENOMEM;
    }
    memcpy(room, bytes.data, bytes.len);
    xs_queue_wrote(queue, bytes.len);
    return 0;
}

int xs_queue_copy_ahead(struct xs_queue *queue, struct xs_slice bytes)
{
    size_t held = queue->held;
    bool holding = queue->holding;
    uint8_t *room = xs_queue_room(queue, bytes.len);

    if (room == NULL) {
        return XS_ENOMEM;
    }
    memmove(room - held + bytes.len, room - held, held);
    memcpy(room - held, bytes.data, bytes.len);
    queue->holding = false;
    xs_queue_wrote(queue, bytes.len);
    queue->holding = holding;
    return 0;
}

void xs_queue_wrote(struct xs_queue *queue, size_t len)
{
    struct xs_piece *open = queue_open_piece(queue);

    XS_ASSERT(len <= queue->own_cap - queue->own_tail);
    if (len == 0) {
        return;
    }
    if (open == NULL) {
        open = queue_push(queue);
        *open = (struct xs_piece){.data = NULL};
    }
    open->len += len;
    queue->own_tail += len;
    queue->bytes += len;
    if (queue->holding) {
        queue->held += len;
    }
}

int xs_queue_lend(struct xs_queue *queue, const struct xs_lent *lent)
{
    int err;

    XS_ASSERT(queue->held == 0);
    XS_ASSERT(lent->bytes.len > 0);
    XS_ASSERT((lent->bytes.data != NULL) != lent->is_file);
    XS_ASSERT(lent->release != NULL);
    err = xs_queue_reserve(queue, 0, 1);
    if (err != 0) {
        return err;
    }
    *queue_push(queue) = (struct xs_piece){
        .data = lent->bytes.data,
        .len = lent->bytes.len,
        .release = lent->release,
        .owner = lent->owner,
        .offset = lent->offset,
        .file = lent->file,
        .is_file = lent->is_file,
    };
    queue->bytes += lent->bytes.len;
    queue->in_files += lent->is_file ? lent->bytes.len : 0;
    queue->lent++;
    return 0;
}

void xs_queue_hold(struct xs_queue *queue)
{
    XS_ASSERT(!queue->holding);
    XS_ASSERT(queue->held == 0);
    queue->holding = true;
}

void xs_queue_unhold(struct xs_queue *queue)
{
    queue->held = 0;
    queue->holding = false;
}

void xs_queue_unwrite(struct xs_queue *queue)
{
    struct xs_piece *open = queue_open_piece(queue);

    queue->holding = false;
    if (queue->held == 0) {
        return;
    }
    XS_ASSERT(open != NULL);
    XS_ASSERT(queue->held <= open->len);
    open->len -= queue->held;
    if (open->len == 0) {
        queue->count--;
    }
    queue->own_tail -= queue->held;
    queue->bytes -= queue->held;
    queue->held = 0;
}

unsigned xs_queue_peek(const struct xs_queue *queue, struct xs_slice *out,
                       unsigned max)
{
    size_t ready = xs_queue_ready(queue);
    size_t own = queue->own_head;
    unsigned n = 0;

    while (n < max && ready > 0) {
        const struct xs_piece *piece = queue_piece(queue, n);
        size_t len = piece->len < ready ? piece->len : ready;
        if (piece->is_file) {
            break;
        }
        if (piece_is_copied(piece)) {
            out[n] = xs_slice_of(queue->own + own, len);
            own += len;
        } else {
            out[n] = xs_slice_of(piece->data, len);
        }
        ready -= len;
        n++;
    }
    return n;
}

const struct xs_piece *xs_queue_file(const struct xs_queue *queue)
{
    const struct xs_piece *first;

    if (queue->count == 0) {
        return NULL;
    }
    first = queue_piece(queue, 0);
    return first->is_file ? first : NULL;
}

/* Nothing waits any more: begin at the front, give back what is too much. */
static void queue_emptied(struct xs_queue *queue)
{
    void *own;

    XS_ASSERT(queue->count == 0);
    XS_ASSERT(queue->own_head == queue->own_tail);
    queue->own_head = 0;
    queue->own_tail = 0;
    queue->first = 0;
    if (queue->own_cap > XS_TX_KEEP) {
        own = queue->mem->resize(queue->mem, queue->own, XS_TX_KEEP);
        if (own != NULL) { /* else the larger one stays */
            queue->own = own;
            queue->own_cap = XS_TX_KEEP;
        }
    }
    if (queue->cap > QUEUE_PIECES_KEEP) {
        xs_mem_free(queue->mem, queue->pieces);
        queue->pieces = NULL;
        queue->cap = 0;
    }
}

void xs_queue_consume(struct xs_queue *queue, size_t len)
{
    XS_ASSERT(len <= xs_queue_ready(queue));
    while (len > 0) {
        struct xs_piece *piece = queue_piece(queue, 0);
        struct xs_piece done = *piece;
        size_t part = piece->len < len ? piece->len : len;

        len -= part;
        queue->bytes -= part;
        if (piece_is_copied(piece)) {
            queue->own_head += part;
        } else if (piece->is_file) {
            piece->offset += part;
            queue->in_files -= part;
        } else {
            piece->data += part;
        }
        piece->len -= part;
        if (piece->len > 0) {
            return;
        }
        queue->first = (queue->first + 1) & (queue->cap - 1);
        queue->count--;
        queue->lent -= done.release != NULL;
        if (queue->count == 0) {
            XS_ASSERT(len == 0);
            queue_emptied(queue);
        }
        if (done.release != NULL) {
            done.release(done.owner);
        }
    }
}

void xs_queue_trim(struct xs_queue *queue)
{
    if (queue->bytes > 0) {
        return;
    }
    if (queue->own != NULL) {
        xs_mem_free(queue->mem, queue->own);
    }
    if (queue->pieces != NULL) {
        xs_mem_free(queue->mem, queue->pieces);
    }
    *queue = (struct xs_queue){.mem = queue->mem, .holding = queue->holding};
}
