/* replay.c - the main function of a target that no fuzzer drives.
 *
 *     fuzz_NAME [--OPTION]... PATH...    files, and the files of folders
 *
 * It runs each file once, in the order of the names. Before each it says the
 * name, so when the program stops the last line tells on which. Any compiler
 * builds it: a corpus is replayed wherever the tests run. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/base.h"
#include "fuzz/fuzz.h"

static _Noreturn void replay_die(const char *what, const char *path)
{
    (void)fprintf(stderr, "fuzz: %s: %s\n", what, path);
    exit(2);
}

/* Its bytes in memory of just their size, so that reading on is found out. */
static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size);

    XS_ASSERT(data != NULL || size == 0);
    if (file == NULL || fread(data, 1, size, file) != size) {
        replay_die("cannot be read", path);
    }
    (void)fclose(file);
    (void)printf("%s\n", path);
    (void)fflush(stdout);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static int replay_is_listed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* How many files were run. */
static unsigned replay_folder(const char *path)
{
    struct dirent **entries;
    unsigned runs = 0;
    int count = scandir(path, &entries, replay_is_listed, alphasort);

    if (count < 0) {
        replay_die("cannot be listed", path);
    }
    for (int i = 0; i < count; i++) {
        char name[4096];
        struct stat info;

        (void)snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) {
            replay_file(name, (size_t)info.st_size);
            runs++;
        }
        free(entries[i]);
    }
    free(entries);
    return runs;
}

int main(int argc, char **argv)
{
    unsigned runs = 0;

    for (int i = 1; i < argc; i++) {
        struct stat info;

        if (strncmp(argv[i], "--", 2) == 0) {
            if (!fuzz_option(argv[i] + 2)) {
                replay_die("unknown option", argv[i]);
            }
        } else if (stat(argv[i], &info) != 0) {
            replay_die("not found", argv[i]);
        } else if (S_ISDIR(info.st_mode)) {
            runs += replay_folder(argv[i]);
        } else {
            replay_file(argv[i], (size_t)info.st_size);
            runs++;
        }
    }
    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s [--OPTION]... PATH...\n", argv[0]);
        return 2;
    }
    (void)printf("ok: %u inputs\n", runs);
    return 0;
}
