/* status.c - status codes and their usual phrases. */

#include "core/http1/status.h"

#include "core/base/base.h"

#define STATUS_MIN 100u
#define STATUS_PREFIX_LEN (sizeof "HTTP/1.1 200 " - 1)

#define STATUSES(X)                           \
    X(100, "Continue")                        \
    X(101, "Switching Protocols")             \
    X(102, "Processing")                      \
    X(103, "Early Hints")                     \
    X(200, "OK")                              \
    X(201, "Created")                         \
    X(202, "Accepted")                        \
    X(203, "Non-Authoritative Information")   \
    X(204, "No Content")                      \
    X(205, "Reset Content")                   \
    X(206, "Partial Content")                 \
    X(207, "Multi-Status")                    \
    X(208, "Already Reported")                \
    X(226, "IM Used")                         \
    X(300, "Multiple Choices")                \
    X(301, "Moved Permanently")               \
    X(302, "Found")                           \
    X(303, "See Other")                       \
    X(304, "Not Modified")                    \
    X(305, "Use Proxy")                       \
    X(307, "Temporary Redirect")              \
    X(308, "Permanent Redirect")              \
    X(400, "Bad Request")                     \
    X(401, "Unauthorized")                    \
    X(402, "Payment Required")                \
    X(403, "Forbidden")                       \
    X(404, "Not Found")                       \
    X(405, "Method Not Allowed")              \
    X(406, "Not Acceptable")                  \
    X(407, "Proxy Authentication Required")   \
    X(408, "Request Timeout")                 \
    X(409, "Conflict")                        \
    X(410, "Gone")                            \
    X(411, "Length Required")                 \
    X(412, "Precondition Failed")             \
    X(413, "Content Too Large")               \
    X(414, "URI Too Long")                    \
    X(415, "Unsupported Media Type")          \
    X(416, "Range Not Satisfiable")           \
    X(417, "Expectation Failed")              \
    X(418, "I'm a Teapot")                    \
    X(421, "Misdirected Request")             \
    X(422, "Unprocessable Content")           \
    X(423, "Locked")                          \
    X(424, "Failed Dependency")               \
    X(425, "Too Early")                       \
    X(426, "Upgrade Required")                \
    X(428, "Precondition Required")           \
    X(429, "Too Many Requests")               \
    X(431, "Request Header Fields Too Large") \
    X(451, "Unavailable For Legal Reasons")   \
    X(500, "Internal Server Error")           \
    X(501, "Not Implemented")                 \
    X(502, "Bad Gateway")                     \
    X(503, "Service Unavailable")             \
    X(504, "Gateway Timeout")                 \
    X(505, "HTTP Version Not Supported")      \
    X(506, "Variant Also Negotiates")         \
    X(507, "Insufficient Storage")            \
    X(508, "Loop Detected")                   \
    X(511, "Network Authentication Required")

/* Whole lines, so that the usual one is copied in one go. */
static const struct {
    const char *text;
    size_t len;
} status_lines[] = {
#define LINE(code, phrase) "HTTP/1.1 " #code " " phrase "\r\n"
#define X(code, phrase)     \
    [(code)-STATUS_MIN] = { \
        LINE(code, phrase), \
        sizeof LINE(code, phrase) - 1}, /* clang-format: one row a code */
    STATUSES(X)
#undef X
#undef LINE
};

struct xs_slice xs_status_line(unsigned status)
{
    unsigned i = status - STATUS_MIN;

    if (status < STATUS_MIN || i >= XS_COUNT_OF(status_lines)) {
        return (struct xs_slice){NULL, 0};
    }
    return xs_slice_of(status_lines[i].text, status_lines[i].len);
}

bool xs_status_is_bodiless(unsigned status)
{
    return status == 204 || status == 205 || status == 304;
}

struct xs_slice xs_status_phrase(unsigned status)
{
    struct xs_slice line = xs_status_line(status);

    if (line.len == 0) {
        return line;
    }
    return xs_slice_of(line.data + STATUS_PREFIX_LEN,
                       line.len - STATUS_PREFIX_LEN - 2);
}
