/* text.h - clients' bytes as they may stand in a log.
 *
 * In text what could forge a line, leave its quotes or be obeyed by a terminal
 * is \xff. JSON is valid UTF-8: what is none becomes U+FFFD, and no control
 * character stays one.
 *
 * All put something at `out` and give the byte behind it; the room is the
 * caller's matter. */

#ifndef XS_ACCESS_TEXT_H
#define XS_ACCESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"
#include "core/conn/access.h"

/* As they are. */
char *access_put(char *out, struct xs_slice bytes);
char *access_put_text(char *out, const char *text);

char *access_put_number(char *out, uint64_t number);

/* The last `digits` digits, with leading zeros. */
char *access_put_padded(char *out, uint64_t number, unsigned digits);

/* Escaped: at most four times as many bytes; how many they are. */
size_t access_escape(char *out, struct xs_slice bytes);

/* A JSON string with its quotes: at most six times as many, and two. */
char *access_put_json(char *out, struct xs_slice bytes);

/* The user's name of "Basic dXNlcjpwYXNz" (RFC 7617), decoded into `out`; no
 * data if there is none. */
#define ACCESS_USER_MAX (XS_ACCESS_VALUE / 4 * 3)
struct xs_slice access_basic_user(struct xs_slice credentials,
                                  uint8_t out[ACCESS_USER_MAX]);

#endif
