/* refusal.h - every reason for which a request is refused, once: the status,
 * the rule's name for the log, the sentence for the client. */

#ifndef XS_HTTP1_REFUSAL_H
#define XS_HTTP1_REFUSAL_H

#define XS_REFUSALS(X)                                                         \
    X(XS_REFUSE_SYNTAX, 400, "syntax", "The request is not valid HTTP/1.1.")   \
    X(XS_REFUSE_TLS, 400, "tls",                                               \
      "This looks like TLS (https), which this port does not speak.")          \
    X(XS_REFUSE_TARGET, 400, "target", "The request target is not valid.")     \
    X(XS_REFUSE_HOST, 400, "host",                                             \
      "The request must have exactly one valid Host field.")                   \
    X(XS_REFUSE_FIELD, 400, "field", "A header field is not valid.")           \
    X(XS_REFUSE_LENGTH, 400, "content-length",                                 \
      "The Content-Length is not valid.")                                      \
    X(XS_REFUSE_FRAMING, 400, "framing",                                       \
      "The request has both Content-Length and Transfer-Encoding, or an "      \
      "invalid Transfer-Encoding.")                                            \
    X(XS_REFUSE_CHUNK, 400, "chunk", "The chunked request body is not valid.") \
    X(XS_REFUSE_HEAD_TIMEOUT, 408, "head timeout",                             \
      "The request head did not arrive in time.")                              \
    X(XS_REFUSE_BODY_TIMEOUT, 408, "body timeout",                             \
      "The request body did not arrive in time.")                              \
    X(XS_REFUSE_BODY_SIZE, 413, "body size", "The request body is too large.") \
    X(XS_REFUSE_CHUNK_EXTRA, 413, "chunk extensions",                          \
      "The chunked request body has too many bytes that are not data.")        \
    X(XS_REFUSE_LINE_SIZE, 414, "line size", "The request line is too long.")  \
    X(XS_REFUSE_EXPECT, 417, "expect", "The expectation is not understood.")   \
    X(XS_REFUSE_MISDIRECTED, 421, "host list",                                 \
      "This server does not serve the requested host.")                        \
    X(XS_REFUSE_FIELD_SIZE, 431, "field size", "A header field is too large.") \
    X(XS_REFUSE_HEAD_SIZE, 431, "head size", "The request head is too large.") \
    X(XS_REFUSE_TRAILER_SIZE, 431, "trailer size",                             \
      "The trailer of the request is too large.")                              \
    X(XS_REFUSE_FIELD_COUNT, 431, "field count",                               \
      "The request has too many header fields.")                               \
    X(XS_REFUSE_METHOD, 501, "method", "The method is not implemented.")       \
    X(XS_REFUSE_CODING, 501, "coding",                                         \
      "The transfer coding is not implemented.")                               \
    X(XS_REFUSE_BUSY, 503, "busy", "The server is busy. Try again later.")     \
    X(XS_REFUSE_VERSION, 505, "version", "The HTTP version is not supported.") \
    X(XS_REFUSE_FAILED, 500, "failed", "Internal Server Error")

enum xs_refusal {
    XS_REFUSE_NOT,
#define X(name, status, rule, text) name,
    XS_REFUSALS(X)
#undef X
};

unsigned xs_refusal_status(enum xs_refusal why);
const char *xs_refusal_rule(enum xs_refusal why); /* static */
const char *xs_refusal_text(enum xs_refusal why); /* static */

#endif
