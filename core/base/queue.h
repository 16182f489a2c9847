/* queue.h - the bytes that wait for a socket: copied ones and lent ones.
 *
 * Bytes enter at the tail and leave at the head, in order, once. Small ones
 * are copied into one buffer next to each other; large ones stay where they
 * are, held by a reference and released when written:
 *
 *     pieces:   | copied 212 | lent 65536 | copied 7 | lent 65536 | ...
 *     own:      | 212 bytes, 7 bytes, ...  |
 *
 * What is lent is bytes, or a range of a file whose bytes are not here: who
 * writes hands that to the system when it is the first piece. It counts as its
 * length and takes no memory.
 *
 * Copied bytes leave in the order in which they came, so a copied piece needs
 * only a length. Neighbouring copied pieces are one piece.
 *
 * The last `held` bytes, always copied ones, are not for the socket yet: a
 * response head whose end is not known. They can be taken back.
 *
 * Invariants: bytes == the sum of the pieces' lengths; own_tail - own_head ==
 * the sum of the copied ones'; in_files == the sum of those of files; lent ==
 * how many pieces are; held <= the last piece's, and that is a copied one; no
 * piece is empty; own_head <= own_tail <= own_cap. */

#ifndef XS_BASE_QUEUE_H
#define XS_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/mem.h"
#include "core/base/slice.h"

/* Bytes that are lent until they are written; or, with `is_file`, the
 * `bytes.len` bytes of the descriptor `file` from `offset` on. */
struct xs_lent {
    struct xs_slice bytes;        /* of a file only the length counts */
    void (*release)(void *owner); /* called once: written, or dropped */
    void *owner;                  /* borrowed until `release` */
    bool is_file;
    int file; /* borrowed until `release` */
    uint64_t offset;
};

struct xs_piece {
    const uint8_t *data; /* borrowed until release; NULL: not lent bytes */
    size_t len;
    void (*release)(void *owner); /* NULL for copied bytes */
    void *owner;
    uint64_t offset; /* with is_file: of the first byte that waits */
    int file;        /* borrowed until release */
    bool is_file;
};

struct xs_queue {
    struct xs_mem *mem; /* borrowed */

    uint8_t *own; /* owned: copied bytes; NULL while there are none */
    size_t own_head;
    size_t own_tail;
    size_t own_cap;

    struct xs_piece *pieces; /* owned ring; NULL while there are none */
    unsigned first;
    unsigned count;
    unsigned cap; /* a power of two */

    size_t bytes;    /* all bytes that wait, the held ones too */
    size_t held;     /* those at the tail that may not leave yet */
    size_t in_files; /* those of them that are no memory */
    unsigned lent;   /* pieces that are */
    bool holding;    /* what is copied now is held */
};

/* The most slices that one `xs_queue_peek` gives. */
#define XS_QUEUE_SLICES 64

void xs_queue_init(struct xs_queue *queue, struct xs_mem *mem);

/* Drop everything, release what is lent, free. Accepts a zeroed queue. */
void xs_queue_fini(struct xs_queue *queue);

/* Stop the program if an invariant does not hold. Walks all pieces: for tests
 * and for the slow paths. */
void xs_queue_check(const struct xs_queue *queue);

/* Make sure that the next calls which copy up to `len` bytes and begin up to
 * `pieces` pieces do not fail, until anything is consumed or trimmed. A run of
 * copied bytes is one piece, each lent run another.
 *
 * Errors: XS_ENOMEM; the queue is as it was. */
XS_MUST_CHECK int xs_queue_reserve(struct xs_queue *queue, size_t len,
                                   unsigned pieces);

/* Copy `bytes` to the tail.
 *
 * Errors: XS_ENOMEM; the queue is as it was. */
XS_MUST_CHECK int xs_queue_copy(struct xs_queue *queue, struct xs_slice bytes);

/* Room for `len` more bytes at the tail, to be written in place and then
 * counted with `xs_queue_wrote`. Borrowed until the next call. NULL if there
 * is no memory. */
XS_MUST_CHECK static inline uint8_t *xs_queue_room(struct xs_queue *queue,
                                                   size_t len)
{
    if (len > queue->own_cap - queue->own_tail || queue->count == queue->cap) {
        if (xs_queue_reserve(queue, len, 1) != 0) {
            return NULL;
        }
    }
    return queue->own + queue->own_tail;
}

/* `len` bytes, no more than the room asked for, were written there. Cannot
 * fail: `xs_queue_room` has made room for the piece too. */
void xs_queue_wrote(struct xs_queue *queue, size_t len);

/* Put what is lent at the tail; it is not empty, nothing is held.
 * Takes them: on success `release` will be called once.
 *
 * Errors: XS_ENOMEM; nothing is taken. */
XS_MUST_CHECK int xs_queue_lend(struct xs_queue *queue,
                                const struct xs_lent *lent);

/* Copy `bytes` in front of what is held: they may leave before it.
 *
 * Errors: XS_ENOMEM; the queue is as it was. */
XS_MUST_CHECK int xs_queue_copy_ahead(struct xs_queue *queue,
                                      struct xs_slice bytes);

/* Hold back what is copied from now on; nothing is held yet. */
void xs_queue_hold(struct xs_queue *queue);

/* What was held may leave. */
void xs_queue_unhold(struct xs_queue *queue);

/* Drop what was held, as if it had never been copied. Holds no more. */
void xs_queue_unwrite(struct xs_queue *queue);

/* Bytes that may leave now. */
static inline size_t xs_queue_ready(const struct xs_queue *queue)
{
    return queue->bytes - queue->held;
}

/* Of all that wait, those that were copied; the others are lent. */
static inline size_t xs_queue_copied(const struct xs_queue *queue)
{
    return queue->own_tail - queue->own_head;
}

/* The first bytes that may leave, as at most `max` slices, none behind a range
 * of a file; the number of slices. Borrowed until the next call. */
unsigned xs_queue_peek(const struct xs_queue *queue, struct xs_slice *out,
                       unsigned max);

/* The first piece, if it is a range of a file; else NULL. Borrowed until the
 * next call. */
const struct xs_piece *xs_queue_file(const struct xs_queue *queue);

/* The first `len` bytes, no more than are ready, have been written: drop
 * them, and release the pieces that are done. When the queue is empty its
 * memory shrinks to XS_TX_KEEP. `release` sees a queue that is whole. */
void xs_queue_consume(struct xs_queue *queue, size_t len);

/* Give the memory of an empty queue back. Does nothing to any other. */
void xs_queue_trim(struct xs_queue *queue);

#endif
