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
 * px_shm_attach(), px_shm_read(), px_shm_unmap(), px_shm_retire() and px_shm_duplicate() are
 * async-signal-safe; they only make system calls.
 */
#ifndef PX_BASE_SHM_H
#define PX_BASE_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Read a part of an existing segment without mapping it.  EIO: there is less.  Async-signal-safe. */
int px_shm_read(const char *name, size_t offset, void *to, size_t size);

/*
 * Open an existing segment, or make it with this size; for the file that stays: the registry.  One that is shorter
 * is being made, and is made longer.  EACCES: wrong owner, mode, type, or longer.
 */
int px_shm_open_or_create(const char *name, size_t size, int *fd);

/* Give a file its space: 0, ENOMEM, or another error.  Signals do not disturb it. */
int px_shm_allocate(int fd, size_t size);

/*
 * Map all of an open segment.  The page faults of up to PX_SHM_POPULATE_MAX bytes are taken now, so
 * that the first lap of a ring is not dearer than the next ones.
 */
int px_shm_map(int fd, struct px_mapping *mapping);

/* Open an existing segment, for a lock on it.  ENOENT, or why it cannot be had.  The caller closes it. */
int px_shm_open(const char *name, int *fd);

/* True if there is a file of this name, whatever it is. */
bool px_shm_has(const char *name);

/* Call the function for each name in the directory that begins so.  Not async-signal-safe. */
void px_shm_for_each(const char *prefix, void (*function)(const char *name, void *argument),
		     void *argument);

/*
 * Lock all of an open file by this command, F_SETLK or F_OFD_SETLK: 0, ETIMEDOUT, or why it cannot be locked.  Not
 * async-signal-safe.
 */
int px_shm_lock(int fd, int command, uint64_t wait_ns);

void px_shm_unlink(const char *name);

/* Give the memory and the address range back.  Nobody may be using it. */
void px_shm_unmap(struct px_mapping *mapping);

/*
 * Replace the mapping by empty private memory at the same place.  A writer that a signal
 * interrupted in the middle of a record goes on there and harms nobody.  The address range is never
 * used again.
 */
void px_shm_retire(const struct px_mapping *mapping);

/* Map the same memory once more.  0, or an error number: not where old kernels, or tools, cannot do it. */
int px_shm_duplicate(const struct px_mapping *mapping, struct px_mapping *again);

#endif
