/* base.c - what every file of the core may take for granted. */

#include "core/base/base.h"

#include <stdio.h>
#include <stdlib.h>

void xs_panic(const char *what, const char *file, int line)
{
    (void)fprintf(stderr, "xsgi: %s:%d: broken invariant: %s\n", file, line,
                  what);
    abort();
}
