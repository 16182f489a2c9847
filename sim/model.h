/* model.h - the reference serialisation: what a server must write.
 *
 * The application's calls are repeated here, and the bytes that must come of
 * them are put down as *parts*. Then the bytes that the server's `writev` gave
 * to the socket are compared, at every step.
 *
 *     application ──▶ start, field, body ──▶ parts ──▶ ?= ◀── bytes written
 *
 * Nearly every byte follows from the calls. What may honestly be either (the
 * second in Date, whether the connection lives on, a "100 Continue" that is
 * not needed any more) is a part of its own kind, with bounds. Written from
 * the RFCs and gateway.h; shares no code with core/http1. */

#ifndef XS_SIM_MODEL_H
#define XS_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "core/gateway.h"
#include "sim/bytes.h"
#include "sim/oracle.h"

enum xs_part_kind {
    XS_PART_TEXT,     /* bytes of xs_model.text */
    XS_PART_BODY,     /* bytes of the pattern */
    XS_PART_DATE,     /* 29 bytes: a second between two */
    XS_PART_LIVES_ON, /* a Connection field or none, then the empty line */
    XS_PART_CONTINUE, /* "100 Continue", or not */
};

struct xs_part {
    enum xs_part_kind kind;
    const uint8_t *data; /* borrowed; BODY */
    size_t at;           /* in the text; TEXT */
    size_t len;
    uint64_t from_s; /* DATE: seconds since 1970, both included */
    uint64_t to_s;
    bool must_close; /* LIVES_ON; neither: as the server likes */
    bool must_keep;
    unsigned minor;
};

/* The response that is being said. */
struct xs_model_response {
    unsigned minor; /* of the request */
    bool is_head;
    bool started;
    bool head_out;
    bool done;
    unsigned status;
    struct xs_slice reason; /* static; empty: the usual one */
    uint64_t begin_s;       /* when the request came */
    struct xs_bytes fields; /* owned; as they go out */
    bool has_length;
    bool has_date;
    bool has_server;
    bool app_close;
    bool chunked;
    bool until_close;
    bool bodiless;
    bool trailing;       /* trailers end it */
    bool sends_trailers; /* and they go out */
    bool in_trailers;    /* `fields` are those */
    uint64_t left;       /* of Content-Length */
};

/* What a connection does behind the head, as far as it is known. */
struct xs_model_ties {
    bool must_close;
    bool must_keep;
};

struct xs_model {
    struct xs_verdict *verdict;  /* borrowed */
    struct xs_slice server_name; /* borrowed; empty: no Server field */
    bool date;

    struct xs_bytes text;  /* owned */
    struct xs_part *parts; /* owned */
    size_t part_count;
    size_t part_cap;
    size_t part;      /* the first that is not matched */
    size_t at;        /* bytes of it that are */
    bool cut;         /* a file was torn: nothing may follow */
    bool close_said;  /* LIVES_ON said so: nothing may follow the body */
    bool maybe_lives; /* which LIVES_ON it can still be */
    bool maybe_close;
    uint64_t matched; /* bytes, ever */

    struct xs_model_response response;

    /* As it was before the last body or hint. */
    struct {
        size_t part_count;
        size_t text_len;
        struct xs_part last;
        struct xs_model_response response;
    } before;
};

/* Keeps the memory of a model that was used before. */
void xs_model_init(struct xs_model *model, struct xs_verdict *verdict,
                   struct xs_slice server_name, bool date);
/* Accepts a zeroed one. */
void xs_model_fini(struct xs_model *model);

/* The calls of gateway.h, after they have succeeded. `wall_s` is the second
 * of the day. */
void xs_model_request(struct xs_model *model, unsigned minor, bool is_head,
                      uint64_t wall_s);
void xs_model_start(struct xs_model *model, unsigned status,
                    struct xs_slice reason);
void xs_model_field(struct xs_model *model, struct xs_slice name,
                    struct xs_slice value);
void xs_model_body(struct xs_model *model, struct xs_slice body, bool more,
                   uint64_t wall_s, const struct xs_model_ties *ties);
/* The last call of xs_model_body or _hint did not succeed after all; nothing
 * has been written since. */
void xs_model_undo(struct xs_model *model);
/* Trailers will end the response, and the client wants them or not; trailers,
 * after which it is complete unless there are more. */
void xs_model_expect(struct xs_model *model, bool wanted);
void xs_model_trailers(struct xs_model *model, const struct xs_field *fields,
                       unsigned count, bool more);
/* A hint goes out: for xs_model_undo it is a body. */
void xs_model_hint(struct xs_model *model, const struct xs_field *fields,
                   unsigned count);
/* "100 Continue" goes out, or may. */
void xs_model_continue(struct xs_model *model, bool must);

/* A whole response of the server's own, dropping one that is only begun. */
void xs_model_refuse(struct xs_model *model, unsigned status,
                     struct xs_slice text, uint64_t wall_s,
                     const struct xs_model_ties *ties);

/* Whether a body call with these bytes fits the declared length. */
bool xs_model_fits(const struct xs_model *model, size_t len, bool more);

/* Nothing more can be written: what is not is not missed, what is is a fault.
 */
void xs_model_cut(struct xs_model *model);

/* The server has written these bytes. */
void xs_model_wrote(struct xs_model *model, struct xs_slice bytes);

/* Everything has been written. */
bool xs_model_is_complete(const struct xs_model *model);

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
void xs_model_date(char out[30], uint64_t wall_s);

#endif
