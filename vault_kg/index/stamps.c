/* Stamps of many files: one fstatat a file, spread over threads, without an object for each.
 *
 * `stamping.py` owns what is asked and what an answer means; it does the same in Python where this
 * was not built. Nothing of Python is used here, so that it runs beside the interpreter.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBERS 4 /* of a stamp: size, mtime and ctime in nanoseconds, inode */
#define MOST_THREADS 8

#ifdef __APPLE__
#define MTIME(found) (found).st_mtimespec
#define CTIME(found) (found).st_ctimespec
#else
#define MTIME(found) (found).st_mtim
#define CTIME(found) (found).st_ctim
#endif

/* What one thread looks at. */
struct share {
    pthread_t thread;
    int folder;
    const char *paths; /* each ends with a zero byte */
    size_t count;
    int64_t *stamps;
};

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static const char *after(const char *paths, size_t count)
{
    while (count--)
        paths += strlen(paths) + 1;
    return paths;
}

static void *look(void *given)
{
    struct share *share = given;
    const char *path = share->paths;
    int64_t *stamp = share->stamps;
    struct stat found;

    for (size_t i = 0; i < share->count; i++, stamp += NUMBERS, path = after(path, 1)) {
        if (fstatat(share->folder, path, &found, AT_SYMLINK_NOFOLLOW) || !S_ISREG(found.st_mode)) {
            stamp[0] = -1;
            continue;
        }
        stamp[0] = found.st_size;
        stamp[1] = nanoseconds(MTIME(found));
        stamp[2] = nanoseconds(CTIME(found));
        stamp[3] = (int64_t)(found.st_ino & INT64_MAX);
    }
    return NULL;
}

/* Stamp `count` files, given by their paths from an opened folder; a size of -1 is for what is not
 * a regular file or cannot be looked at. Links are not followed. `stamps` has room for NUMBERS
 * times `count`, and is zero.
 */
void vault_kg_stamps(int folder, const char *paths, size_t count, int64_t *stamps, int threads)
{
    struct share shares[MOST_THREADS];
    int parts = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
    int started = 0;

    for (int i = 0; i < parts; i++) {
        size_t begin = count * i / parts, end = count * (i + 1) / parts;
        shares[i] = (struct share){
            .folder = folder, .paths = paths, .count = end - begin, .stamps = stamps + begin * NUMBERS};
        paths = after(paths, end - begin);
    }
    while (started < parts - 1 &&
           pthread_create(&shares[started].thread, NULL, look, &shares[started]) == 0)
        started++;
    for (int i = started; i < parts; i++)
        look(&shares[i]);
    for (int i = 0; i < started; i++)
        pthread_join(shares[i].thread, NULL);
}
