/* label.c - every kind of choice that a simulation makes, once. */

#include "sim/label.h"

#include "core/base/base.h"

static const struct {
    const char *word;
    const char *text;
    enum xs_label_class class;
} labels[XS_LABEL_COUNT] = {
#define X(name, class, word, text) \
    [XS_LABEL_##name] = {word, text, XS_CLASS_##class},
    XS_LABELS(X)
#undef X
};

const char *xs_label_word(enum xs_label label)
{
    XS_ASSERT(label < XS_LABEL_COUNT);
    return labels[label].word;
}

const char *xs_label_text(enum xs_label label)
{
    XS_ASSERT(label < XS_LABEL_COUNT);
    return labels[label].text;
}

enum xs_label_class xs_label_class(enum xs_label label)
{
    XS_ASSERT(label < XS_LABEL_COUNT);
    return labels[label].class;
}
