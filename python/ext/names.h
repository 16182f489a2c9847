/* names.h - header fields seen lately, as the objects that they became.
 *
 * The same names come again with every request, and mostly the same values.
 * A table of a fixed size remembers what each name became, and the last few of
 * its values: to compare bytes is cheaper than to make an object.
 *
 *     found = ext_names_get(names, field->name, &entry);
 *     found == 0               make the key and the value, keep neither
 *     ext_name_value == NULL   make the object, ext_name_keep
 *
 * What key and value are is the gateway's: names of environ variables and str
 * for WSGI, bytes and pairs of bytes for ASGI. Names come from outside, so
 * that no entry is ever replaced, and the common ones are there before anybody
 * else's. Values of credentials are never kept. */

#ifndef XS_EXT_NAMES_H
#define XS_EXT_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/slice.h"
#include "python/ext/python.h"

#define EXT_NAMES 256u     /* entries */
#define EXT_NAME_MAX 38u   /* a longer name has none */
#define EXT_NAME_VALUES 4u /* values kept for each; a power of 2 */
#define EXT_VALUE_MAX 160u /* a longer value is not kept */

/* What a value became. */
struct ext_value {
    PyObject *object;     /* owned; NULL: none is kept */
    const uint8_t *bytes; /* borrowed from it: the value as it came */
    size_t len;
};

struct ext_name {
    PyObject *key; /* owned; NULL: empty entry */
    uint64_t seen; /* the gateway's: the request that had it last */
    bool is_secret;
    uint8_t len;
    uint8_t name[EXT_NAME_MAX]; /* in lower case */
    struct ext_value values[EXT_NAME_VALUES];
};

/* What `name` becomes: new, NULL with an exception set. `user` is that of
 * ext_names_init. */
typedef PyObject *(*ext_name_key_new)(void *user, struct xs_slice name);

/* Zeroed until ext_names_init. */
struct ext_names {
    struct ext_name entries[EXT_NAMES];
    ext_name_key_new key_new;
    void *user; /* borrowed until fini */
};

/* Takes in what browsers and proxies send. -1 with an exception set. */
int ext_names_init(struct ext_names *names, ext_name_key_new key_new,
                   void *user);

/* The entry of `name`, or the empty one that it may have, or NULL: none. */
struct ext_name *ext_names_find(struct ext_names *names, struct xs_slice name);

/* `entry`, an empty one, becomes that of `name`. -1 with an exception set. */
int ext_names_add(struct ext_names *names, struct xs_slice name,
                  struct ext_name *entry);

/* The entry of `name`, made if there is room. 1 and the entry; 0: it has none;
 * -1 with an exception set. */
static inline int ext_names_get(struct ext_names *names, struct xs_slice name,
                                struct ext_name **out)
{
    struct ext_name *entry = ext_names_find(names, name);

    *out = entry;
    if (entry != NULL && entry->key == NULL &&
        ext_names_add(names, name, entry) < 0) {
        return -1;
    }
    return entry != NULL;
}

static inline struct ext_value *ext_name_place(struct ext_name *entry,
                                               struct xs_slice value)
{
    size_t mix = value.len;

    if (value.len > 0) {
        mix += value.data[value.len - 1] + (value.data[value.len / 2] >> 2);
    }
    return &entry->values[mix % EXT_NAME_VALUES];
}

/* What `value` became. Borrowed; NULL without an exception: it is not kept. */
static inline PyObject *ext_name_value(struct ext_name *entry,
                                       struct xs_slice value)
{
    const struct ext_value *kept = ext_name_place(entry, value);

    return kept->object != NULL && kept->len == value.len &&
                   memcmp(kept->bytes, value.data, value.len) == 0
               ? kept->object
               : NULL;
}

/* It became `object`, in which `bytes` lie; borrowed. */
void ext_name_keep(struct ext_name *entry, struct xs_slice value,
                   PyObject *object, const uint8_t *bytes);

void ext_names_fini(struct ext_names *names);

#endif
