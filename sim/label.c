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

enum xs_lane xs_label_lane(enum xs_label label)
{
    if (xs_label_class(label) != XS_CLASS_PLAN) {
        return XS_LANE_WEATHER;
    }
    if (label >= XS_LABEL_PEER_COUNT && label <= XS_LABEL_PEER_END) {
        return XS_LANE_PEER;
    }
    return label >= XS_LABEL_APP_BODY && label <= XS_LABEL_APP_WRONG
               ? XS_LANE_APP
               : XS_LANE_WORLD;
}
