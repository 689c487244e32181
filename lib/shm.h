/* SPDX-License-Identifier: MIT */
/*
 * Segments: files in a directory of the user's own under /dev/shm, mapped shared.
 *
 * The directory is TXTRACE_DIR where that is set and the process is not AT_SECURE, else
 * /dev/shm/posixtrace-<euid>.  It must belong to the effective user, be no symbolic link and closed
 * to all others; a file is opened with O_NOFOLLOW and must be regular, of the same owner, and
 * closed to others. What does not fit is refused, not repaired.  What is made here has the modes it
 * needs, whatever the umask.
 *
 * What can fail returns 0 or an error number.  No descriptor stays open behind a mapping.
 * px_shm_attach(), px_shm_unmap() and px_shm_retire() are async-signal-safe; they only make system
 * calls.
 */
#ifndef PX_SHM_H
#define PX_SHM_H

#include <stddef.h>

#define PX_SHM_PATH_MAX 256
#define PX_SHM_NAME_MAX 64
#define PX_SHM_POPULATE_MAX ((size_t)64 << 20)

/* A mapped piece of memory. */
struct px_mapping {
	void *base;
	size_t size;
};

/* Find, check and, when it is missing, make the directory. */
int px_shm_init(void);

/*
 * Make a segment of zeros and map it.  Its space is allocated here, so that a full file system is
 * ENOMEM now and not SIGBUS later.  EEXIST when the name is taken.
 */
int px_shm_create(const char *name, size_t size, struct px_mapping *mapping);

/* Map an existing segment of whatever size.  ENOENT, EACCES (wrong owner, mode or type), ENOMEM. */
int px_shm_attach(const char *name, struct px_mapping *mapping);

/* Open an existing segment, or make it with this size; for the file that stays: the registry. */
int px_shm_open_or_create(const char *name, size_t size, int *fd);

/*
 * Map all of an open segment.  The page faults of up to PX_SHM_POPULATE_MAX bytes are taken now, so
 * that the first lap of a ring is not dearer than the next ones.
 */
int px_shm_map(int fd, struct px_mapping *mapping);

void px_shm_unlink(const char *name);

/* Give the memory and the address range back.  Nobody may be using it. */
void px_shm_unmap(struct px_mapping *mapping);

/*
 * Replace the mapping by empty private memory at the same place.  A writer that a signal
 * interrupted in the middle of a record goes on there and harms nobody.  The address range is never
 * used again.
 */
void px_shm_retire(const struct px_mapping *mapping);

#endif
