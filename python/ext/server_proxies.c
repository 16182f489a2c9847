/* server_proxies.c - which peers of a server are proxies that are trusted. */

#include "python/ext/server_proxies.h"

#include <arpa/inet.h>
#include <string.h>

#include "core/base/base.h"
#include "python/ext/option.h"

/* An address of IPv6; IPv4 is a part of it (RFC 4291 2.5.5.2). */
struct address {
    uint8_t bytes[16];
};

struct network {
    struct address address;
    uint8_t bits; /* of the address that count */
};

struct ext_proxies {
    size_t count;
    struct network networks[];
};

_Static_assert(sizeof(struct network) == 17, "as config.trusted_networks");
_Static_assert(INET6_ADDRSTRLEN <= XS_ADDRESS_MAX, "an address has room");

/* An address of either family, and its usual spelling: one of IPv4 has that of
 * IPv4, also if a proxy that listens at [::] spells it as IPv6. False if it is
 * none. */
static bool address_read(struct address *out, struct xs_slice text,
                         char spelling[XS_ADDRESS_MAX])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char copy[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof copy ||
        memchr(text.data, '\0', text.len) != NULL) {
        return false;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    if (inet_pton(AF_INET, copy, out->bytes + sizeof mapped) == 1) {
        memcpy(out->bytes, mapped, sizeof mapped);
        return inet_ntop(AF_INET, out->bytes + sizeof mapped, spelling,
                         XS_ADDRESS_MAX) != NULL;
    }
    if (inet_pton(AF_INET6, copy, out->bytes) != 1) {
        return false;
    }
    if (memcmp(out->bytes, mapped, sizeof mapped) == 0) {
        return inet_ntop(AF_INET, out->bytes + sizeof mapped, spelling,
                         XS_ADDRESS_MAX) != NULL;
    }
    return inet_ntop(AF_INET6, out->bytes, spelling, XS_ADDRESS_MAX) != NULL;
}

static bool network_has(const struct network *network,
                        const struct address *address)
{
    size_t whole = network->bits / 8;
    unsigned rest = network->bits % 8;
    unsigned differ;

    if (memcmp(network->address.bytes, address->bytes, whole) != 0) {
        return false;
    }
    if (rest == 0) {
        return true;
    }
    differ = network->address.bytes[whole] ^ address->bytes[whole];
    return differ >> (8 - rest) == 0;
}

static enum xs_hop proxies_look(void *user, struct xs_slice text,
                                char out[XS_ADDRESS_MAX])
{
    const struct ext_proxies *proxies = user;
    struct address address;

    if (!address_read(&address, text, out)) {
        return XS_HOP_UNKNOWN;
    }
    for (size_t i = 0; i < proxies->count; i++) {
        if (network_has(&proxies->networks[i], &address)) {
            return XS_HOP_TRUSTED;
        }
    }
    return XS_HOP_CLIENT;
}

static int proxies_read(struct ext_proxies **out, PyObject *table)
{
    size_t len;
    char *bytes;
    Py_ssize_t size;
    bool is_table;

    if (PyBytes_AsStringAndSize(table, &bytes, &size) < 0) {
        return -1;
    }
    len = (size_t)size;
    *out = PyMem_Malloc(sizeof **out + len);
    if (*out == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    (*out)->count = len / sizeof(struct network);
    memcpy((*out)->networks, bytes, len);
    is_table = len % sizeof(struct network) == 0;
    for (size_t i = 0; i < (*out)->count; i++) {
        is_table = is_table && (*out)->networks[i].bits <= 128;
    }
    if (!is_table) {
        PyErr_SetString(PyExc_ValueError, "trusted_networks: no such table");
        return -1;
    }
    return 0;
}

static int proxies_read_rest(struct xs_proxies *core, PyObject *config)
{
    PyObject *unix_sockets = ext_option(config, "trusted_unix");
    PyObject *header = ext_option(config, "forwarded_header");
    int truth = unix_sockets == NULL ? -1 : PyObject_IsTrue(unix_sockets);
    bool failed = truth < 0 || header == NULL;

    if (!failed) {
        core->unix_sockets = truth > 0;
        core->rfc7239 =
            PyUnicode_Check(header) &&
            PyUnicode_CompareWithASCIIString(header, "forwarded") == 0;
    }
    Py_XDECREF(unix_sockets);
    Py_XDECREF(header);
    return failed ? -1 : 0;
}

int ext_proxies_new(struct ext_proxies **out, struct xs_proxies *core,
                    PyObject *config)
{
    PyObject *table = ext_option(config, "trusted_networks");
    int err = 0;

    *out = NULL;
    *core = (struct xs_proxies){.look = NULL};
    if (table == NULL) {
        return -1;
    }
    if (table != Py_None) {
        err =
            proxies_read(out, table) < 0 ? -1 : proxies_read_rest(core, config);
    }
    Py_DECREF(table);
    if (err < 0) {
        ext_proxies_free(*out);
        *out = NULL;
    } else if (*out != NULL && ((*out)->count > 0 || core->unix_sockets)) {
        core->look = proxies_look;
        core->user = *out;
    }
    return err;
}

void ext_proxies_free(struct ext_proxies *proxies)
{
    PyMem_Free(proxies);
}
