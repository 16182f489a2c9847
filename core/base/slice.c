/* slice.c - a run of bytes that somebody else owns. */

#include "core/base/slice.h"

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

bool xs_slice_eq_lower(struct xs_slice bytes, struct xs_slice lower)
{
    if (bytes.len != lower.len) {
        return false;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t c = bytes.data[i];
        if (c >= 'A' && c <= 'Z') {
            c = (uint8_t)(c + ('a' - 'A'));
        }
        if (c != lower.data[i]) {
            return false;
        }
    }
    return true;
}

struct xs_slice xs_slice_trim(struct xs_slice bytes)
{
    while (bytes.len > 0 && is_blank(bytes.data[0])) {
        bytes.data++;
        bytes.len--;
    }
    while (bytes.len > 0 && is_blank(bytes.data[bytes.len - 1])) {
        bytes.len--;
    }
    return bytes;
}

bool xs_slice_list_next(struct xs_slice *rest, struct xs_slice *out)
{
    if (rest->data == NULL) {
        return false;
    }
    for (size_t i = 0; i < rest->len; i++) {
        if (rest->data[i] == ',') {
            *out = xs_slice_trim(xs_slice_of(rest->data, i));
            rest->data += i + 1;
            rest->len -= i + 1;
            return true;
        }
    }
    *out = xs_slice_trim(*rest);
    *rest = (struct xs_slice){NULL, 0};
    return true;
}
