/* asides.c - fields of early hints and trailers, and the rules for them. */

#include "fuzz/asides.h"

#include <string.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "fuzz/grammar.h"

struct asides asides_of(struct xs_slice text, char mark)
{
    struct asides found = {.count = 0};

    while (text.len > 0 && found.count < ASIDES_MAX) {
        struct xs_field *field = &found.all[found.count];

        (void)grammar_cut(&text, mark, &field->name);
        (void)grammar_cut(&text, mark, &field->value);
        found.len += field->name.len + field->value.len + strlen(": \r\n");
        found.count++;
    }
    return found;
}

/* RFC 9110 8.6, RFC 9112 6.1, 9.6. */
static const char hint_never[] =
    "connection content-length keep-alive trailer transfer-encoding upgrade";

/* RFC 9110 6.5.1: framing, routing, authentication, request modifiers, response
 * control data, content. */
static const char trailer_never[] =
    "connection keep-alive transfer-encoding trailer te upgrade host via "
    "authorization proxy-authorization proxy-authenticate www-authenticate "
    "set-cookie expect max-forwards range if-match if-none-match if-range "
    "if-modified-since if-unmodified-since age cache-control date expires "
    "location retry-after vary warning content-";

/* Whether `name` is one of the words; one that ends in "-" is a beginning. */
static bool name_is_of(struct xs_slice name, const char *words)
{
    while (*words != '\0') {
        size_t len = strcspn(words, " ");
        bool begins = words[len - 1] == '-';

        if ((begins ? name.len >= len : name.len == len) &&
            strncasecmp((const char *)name.data, words, len) == 0) {
            return true;
        }
        words += len;
        words += *words == ' ';
    }
    return false;
}

/* What the rules of gateway.h say to all of them. */
int asides_result(const struct asides *fields, enum asides_kind kind,
                  size_t room)
{
    const char *never = kind == ASIDES_HINT ? hint_never : trailer_never;
    size_t len = 0;
    int result = 0;

    for (unsigned i = 0; i < fields->count && result == 0; i++) {
        struct xs_slice name = fields->all[i].name;
        struct xs_slice value = fields->all[i].value;

        len += name.len + value.len + strlen(": \r\n");
        if (!grammar_is_token(name) || name_is_of(name, never) ||
            grammar_has_line_end(value)) {
            result = XS_EINVALID;
        } else if (len > XS_ASIDE_MAX) {
            result = XS_ELIMIT;
        }
    }
    return result == 0 && len > room ? XS_ELIMIT : result;
}

bool asides_are_text(const struct asides *fields, size_t max)
{
    for (unsigned i = 0; i < fields->count; i++) {
        const struct xs_field *field = &fields->all[i];

        if (field->name.len + field->value.len >= max ||
            !grammar_is_text(field->value)) {
            return false;
        }
    }
    return true;
}
