/* Stamps of many files: one fstatat a file, without an object for each.
 *
 * `stamping.py` owns what is asked and what an answer means; it does the same in Python where this
 * was not built. Nothing of Python is used here, so that it runs beside the interpreter.
 */

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBERS 4 /* of a stamp: size, mtime and ctime in nanoseconds, inode */

#ifdef __APPLE__
#define MTIME(found) (found).st_mtimespec
#define CTIME(found) (found).st_ctimespec
#else
#define MTIME(found) (found).st_mtim
#define CTIME(found) (found).st_ctim
#endif

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Stamp `count` files, given by their paths from an opened folder, each of which ends with a zero
 * byte; a size of -1 is for what is not a regular file or cannot be looked at. Links are not
 * followed. `stamps` has room for NUMBERS times `count`, and is zero.
 */
void vault_kg_stamps(int folder, const char *paths, size_t count, int64_t *stamps)
{
    struct stat found;

    for (const char *path = paths; count--; path += strlen(path) + 1, stamps += NUMBERS) {
        if (fstatat(folder, path, &found, AT_SYMLINK_NOFOLLOW) || !S_ISREG(found.st_mode)) {
            stamps[0] = -1;
            continue;
        }
        stamps[0] = found.st_size;
        stamps[1] = nanoseconds(MTIME(found));
        stamps[2] = nanoseconds(CTIME(found));
        stamps[3] = (int64_t)(found.st_ino & INT64_MAX);
    }
}
