/* limits.c - every bound and every duration of the core, with its reason. */

#include "core/base/limits.h"

struct xs_limits xs_limits_default(void)
{
    return (struct xs_limits){
        .timeout_ns =
            {
                [XS_DEADLINE_HEAD] = 30 * XS_SECOND_NS,
                [XS_DEADLINE_BODY] = 30 * XS_SECOND_NS,
                [XS_DEADLINE_KEEP_ALIVE] = 65 * XS_SECOND_NS,
                [XS_DEADLINE_WRITE] = 30 * XS_SECOND_NS,
                [XS_DEADLINE_LINGER] = 5 * XS_SECOND_NS,
            },
        .request_line_max = 8190,
        .request_field_max = 8190,
        .request_fields_max = 100,
        .request_head_max = XS_RX_BLOCK,
        .request_trailer_max = (size_t)8 * 1024,
        .chunk_extra_max = XS_CHUNK_EXTRA_MAX,
        .request_body_max = UINT64_MAX,
        .keep_alive_max = 0,
        .connections_max = 0,
        .requests_max = 0,
        .tx_high = (size_t)64 * 1024,
        .tx_low = (size_t)16 * 1024,
        .backlog_max = (size_t)1024 * 1024 * 1024,
    };
}
