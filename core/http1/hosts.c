/* hosts.c - which hosts are served here. */

#include "core/http1/hosts.h"

#include <string.h>

/* Without port, and without a dot at the end. */
static struct xs_slice hosts_name(struct xs_slice authority)
{
    size_t len = authority.len;

    for (size_t i = len; i > 0 && authority.data[i - 1] != ']'; i--) {
        if (authority.data[i - 1] == ':') {
            len = i - 1;
        }
    }
    if (len > 1 && authority.data[len - 1] == '.') {
        len--;
    }
    return xs_slice_of(authority.data, len);
}

/* `name` ends in `end`, and has more before it. */
static bool hosts_is_below(struct xs_slice name, struct xs_slice end)
{
    return name.len > end.len &&
           xs_slice_eq_lower(
               xs_slice_of(name.data + name.len - end.len, end.len), end);
}

static bool hosts_match(struct xs_slice entry, struct xs_slice name)
{
    if (entry.len > 1 && entry.data[0] == '*') {
        return hosts_is_below(name, xs_slice_of(entry.data + 1, entry.len - 1));
    }
    if (entry.len > 1 && entry.data[0] == '.') {
        return hosts_is_below(name, entry) ||
               xs_slice_eq_lower(name,
                                 xs_slice_of(entry.data + 1, entry.len - 1));
    }
    return xs_slice_eq_lower(name, entry);
}

bool xs_hosts_have(struct xs_slice list, struct xs_slice authority)
{
    struct xs_slice name;
    struct xs_slice entry;

    if (list.len == 0) {
        return true;
    }
    if (authority.len == 0) {
        return false;
    }
    name = hosts_name(authority);
    while (xs_slice_list_next(&list, &entry)) {
        if (hosts_match(entry, name)) {
            return true;
        }
    }
    return false;
}
