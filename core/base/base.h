/* base.h - what every file of the core may take for granted. */

#ifndef XS_BASE_BASE_H
#define XS_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result must be looked at. */
#define XS_MUST_CHECK __attribute__((warn_unused_result))

/* The struct of `type` whose `member` is at `ptr`. */
#define xs_container_of(ptr, type, member) \
    ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define XS_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A condition that only a bug of ours can break. Stays on in release. Never on
 * bytes that came from outside. */
#define XS_ASSERT(condition)            \
    (__builtin_expect(!!(condition), 1) \
         ? (void)0                      \
         : xs_panic(#condition, __FILE__, __LINE__))

/* After a switch that lists every value. */
#define XS_UNREACHABLE() xs_panic("unreachable", __FILE__, __LINE__)

/* Say what broke and where on standard error, and abort. */
__attribute__((noreturn, cold)) void xs_panic(const char *what,
                                              const char *file, int line);

#endif
