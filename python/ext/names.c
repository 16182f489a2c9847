/* names.c - header fields seen lately, as the objects that they became. */

#include "python/ext/names.h"

#include "core/base/base.h"

/* How far from its place an entry may be. */
#define PROBES 8u

/* What browsers and proxies send. */
static const char *const common[] = {
    "host",
    "user-agent",
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "dnt",
    "expect",
    "forwarded",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "range",
    "referer",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "te",
    "traceparent",
    "transfer-encoding",
    "upgrade-insecure-requests",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "x-request-id",
    "x-requested-with",
};

static unsigned place_of(struct xs_slice name)
{
    unsigned first = name.data[0] | 0x20u;
    unsigned last = name.data[name.len - 1] | 0x20u;
    unsigned middle = name.data[name.len / 2] | 0x20u;

    return (unsigned)name.len * 37u + first * 5u + last * 17u + middle * 59u;
}

/* Is the word at `theirs` that of an entry at `ours`? Setting 0x20 makes
 * letters small and leaves digits and "-" alone. It maps other bytes as well,
 * but onto none of those: entries hold no others. */
static bool is_word_8(const uint8_t *ours, const uint8_t *theirs)
{
    uint64_t a;
    uint64_t b;

    memcpy(&a, ours, sizeof a);
    memcpy(&b, theirs, sizeof b);
    return a == (b | 0x2020202020202020u);
}

static bool is_word_4(const uint8_t *ours, const uint8_t *theirs)
{
    uint32_t a;
    uint32_t b;

    memcpy(&a, ours, sizeof a);
    memcpy(&b, theirs, sizeof b);
    return a == (b | 0x20202020u);
}

/* By words, of which the last may overlap the one before. */
static bool is_entry_of(const struct ext_name *entry, struct xs_slice name)
{
    const uint8_t *ours = entry->name;
    const uint8_t *theirs = name.data;
    size_t len = name.len;
    size_t i;

    if (entry->len != len) {
        return false;
    }
    if (len >= 8) {
        for (i = 0; i + 8 < len; i += 8) {
            if (!is_word_8(ours + i, theirs + i)) {
                return false;
            }
        }
        return is_word_8(ours + len - 8, theirs + len - 8);
    }
    if (len >= 4) {
        return is_word_4(ours, theirs) &&
               is_word_4(ours + len - 4, theirs + len - 4);
    }
    for (i = 0; i < len; i++) {
        if (ours[i] != (theirs[i] | 0x20)) {
            return false;
        }
    }
    return true;
}

/* Letters, digits and "-". */
static bool is_plain(struct xs_slice name)
{
    size_t i;

    for (i = 0; i < name.len; i++) {
        uint8_t c = (uint8_t)(name.data[i] | 0x20);

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
            return false;
        }
        if (c == '-' && name.data[i] != '-') {
            return false;
        }
    }
    return true;
}

static bool is_secret(struct xs_slice name)
{
    return xs_slice_eq_lower(name, XS_LIT("cookie")) ||
           xs_slice_eq_lower(name, XS_LIT("authorization")) ||
           xs_slice_eq_lower(name, XS_LIT("proxy-authorization"));
}

struct ext_name *ext_names_find(struct ext_names *names, struct xs_slice name)
{
    unsigned place;
    unsigned i;

    if (name.len > EXT_NAME_MAX || name.len == 0) {
        return NULL;
    }
    place = place_of(name);
    for (i = 0; i < PROBES; i++) {
        struct ext_name *entry = &names->entries[(place + i) % EXT_NAMES];

        if (entry->key == NULL) {
            return is_plain(name) ? entry : NULL;
        }
        if (is_entry_of(entry, name)) {
            return entry;
        }
    }
    return NULL;
}

int ext_names_add(struct ext_names *names, struct xs_slice name,
                  struct ext_name *entry)
{
    PyObject *key = names->key_new(names->user, name);
    size_t i;

    if (key == NULL) {
        return -1;
    }
    XS_ASSERT(entry->key == NULL);
    XS_ASSERT(name.len <= EXT_NAME_MAX);
    for (i = 0; i < name.len; i++) {
        entry->name[i] = (uint8_t)(name.data[i] | 0x20);
    }
    entry->len = (uint8_t)name.len;
    entry->is_secret = is_secret(name);
    entry->key = key;
    return 0;
}

int ext_names_init(struct ext_names *names, ext_name_key_new key_new,
                   void *user)
{
    names->key_new = key_new;
    names->user = user;
    for (size_t i = 0; i < XS_COUNT_OF(common); i++) {
        struct ext_name *entry;

        if (ext_names_get(names, xs_slice_str(common[i]), &entry) < 0) {
            return -1;
        }
    }
    return 0;
}

void ext_name_keep(struct ext_name *entry, struct xs_slice value,
                   PyObject *object, const uint8_t *bytes)
{
    struct ext_value *place = ext_name_place(entry, value);
    PyObject *old = place->object;

    if (entry->is_secret || value.len > EXT_VALUE_MAX) {
        return;
    }
    *place = (struct ext_value){Py_NewRef(object), bytes, value.len};
    Py_XDECREF(old);
}

void ext_names_fini(struct ext_names *names)
{
    size_t i;
    size_t j;

    for (i = 0; i < EXT_NAMES; i++) {
        Py_CLEAR(names->entries[i].key);
        for (j = 0; j < EXT_NAME_VALUES; j++) {
            Py_CLEAR(names->entries[i].values[j].object);
        }
    }
}
