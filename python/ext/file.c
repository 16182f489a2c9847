/* file.c - a file of the application's on its way into a response. */

#include "python/ext/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include "core/base/limits.h"

/* Files of these are made when they are read: they say that they have no bytes,
 * or a page. */
static bool file_is_made(int fd, const struct stat *stat)
{
#ifdef __linux__
    static const unsigned long made[] = {
        PROC_SUPER_MAGIC,    SYSFS_MAGIC,   CGROUP_SUPER_MAGIC,
        CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
        SECURITYFS_MAGIC,
    };
    struct statfs fs;

    /* What takes room is stored: then nothing more is asked. */
    if (stat->st_blocks != 0 || fstatfs(fd, &fs) != 0) {
        return false;
    }
    for (size_t i = 0; i < XS_COUNT_OF(made); i++) {
        if ((unsigned long)fs.f_type == made[i]) {
            return true;
        }
    }
#else
    (void)fd;
    (void)stat;
#endif
    return false;
}

/* Why a descriptor cannot be sent, after "it "; NULL: it can. */
static const char *file_fault(int fd, struct stat *stat)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, stat) != 0) {
        return "is not an open descriptor";
    }
    if (!S_ISREG(stat->st_mode)) {
        return "is not a regular file";
    }
    if ((flags & O_ACCMODE) == O_WRONLY) {
        return "is not open for reading";
    }
#ifdef O_DIRECT
    /* What is read so has to be aligned, in file and memory. */
    if ((flags & O_DIRECT) != 0) {
        return "is open with O_DIRECT";
    }
#endif
    if (file_is_made(fd, stat)) {
        return "is made when it is read, and has no size";
    }
    return NULL;
}

int ext_file_open(struct ext_file *file, PyObject *path, const char *what)
{
    const char *name = PyBytes_AS_STRING(path);
    struct stat stat = {0};
    const char *fault;

    /* Not blocking: it may be a pipe that nobody writes to. */
    do {
        file->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (file->fd < 0 && errno == EINTR);
    if (file->fd < 0) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, name);
        return -1;
    }
    fault = file_fault(file->fd, &stat);
    if (fault == NULL) {
        file->size = (uint64_t)stat.st_size;
        return 0;
    }
    if (S_ISDIR(stat.st_mode)) {
        errno = EISDIR;
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, name);
    } else {
        PyErr_Format(PyExc_ValueError, "%s: %R %s", what, path, fault);
    }
    ext_file_close(file);
    return -1;
}

bool ext_file_fits(int fd)
{
    struct stat stat;

    return file_fault(fd, &stat) == NULL;
}

int ext_file_dup(struct ext_file *file, int fd, const char *what)
{
    struct stat stat;
    const char *fault = file_fault(fd, &stat);

    if (fault != NULL) {
        PyErr_Format(PyExc_ValueError, "%s: descriptor %d %s", what, fd, fault);
        return -1;
    }
    file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (file->fd < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    file->size = (uint64_t)stat.st_size;
    return 0;
}

void ext_file_close(struct ext_file *file)
{
    (void)close(file->fd);
    file->fd = -1;
}

/* The core has written the range, or dropped it. */
static void file_release(void *owner)
{
    (void)close((int)(intptr_t)owner);
}

/* Whether all of the range could be read without waiting for a disk. */
static bool file_read_now(const struct ext_file *file, uint64_t offset,
                          uint8_t *data, size_t len)
{
#ifdef RWF_NOWAIT
    struct iovec iov = {.iov_base = data, .iov_len = len};

    return preadv2(file->fd, &iov, 1, (off_t)offset, RWF_NOWAIT) ==
           (ssize_t)len;
#else
    (void)file;
    (void)offset;
    (void)data;
    (void)len;
    return false;
#endif
}

int ext_file_lend(struct xs_request *req, struct ext_file *file,
                  uint64_t offset, size_t len, bool more)
{
    uint8_t data[XS_TX_COPY_MAX];
    struct xs_lent lent = {.bytes = {NULL, len}};
    int err;

    if (len > sizeof data || !file_read_now(file, offset, data, len)) {
        lent.is_file = len > 0;
    }
    if (lent.is_file) {
        lent.release = file_release;
        lent.owner = (void *)(intptr_t)file->fd;
        lent.file = file->fd;
        lent.offset = offset;
    } else {
        lent.bytes.data = data;
    }
    err = xs_response_body(req, &lent, more);
    if (err == 0 && !lent.is_file) {
        ext_file_close(file);
    }
    return err;
}

#define RANGE_NAME "xsgi.range"

struct ext_range *ext_range_of(PyObject *block)
{
    if (!PyCapsule_IsValid(block, RANGE_NAME)) {
        return NULL;
    }
    return PyCapsule_GetPointer(block, RANGE_NAME);
}

static void range_free(PyObject *block)
{
    struct ext_range *range = ext_range_of(block);

    if (range->file.fd >= 0) {
        ext_file_close(&range->file);
    }
    PyMem_Free(range);
}

PyObject *ext_range_new(struct ext_file *file, uint64_t offset, size_t len)
{
    struct ext_range *range = PyMem_Malloc(sizeof *range);
    PyObject *block = NULL;

    if (range == NULL) {
        PyErr_NoMemory();
    } else {
        *range = (struct ext_range){*file, offset, len};
        block = PyCapsule_New(range, RANGE_NAME, range_free);
    }
    if (block == NULL) {
        PyMem_Free(range);
        ext_file_close(file);
    }
    return block;
}
