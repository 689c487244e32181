/* SPDX-License-Identifier: MIT */
/*
 * Shared memory segments: files in a directory of the user under /dev/shm.
 *
 * The directory is TXTRACE_DIR if that is set and the process is not AT_SECURE, otherwise
 * /dev/shm/posixtrace-<euid>. It must belong to the effective user, must not be a symbolic link,
 * and must be closed to all others.  A file is opened with O_NOFOLLOW.  It must be regular, of the
 * same owner, and closed to others.  The functions refuse everything else and repair nothing.  The
 * umask does not affect the modes of new files.
 *
 * Functions that can fail return 0 or an error number.  A mapping keeps no descriptor open.
 * px_shm_attach(), px_shm_read(), px_shm_unmap(), px_shm_retire() and px_shm_duplicate() are
 * async-signal-safe: they only make system calls.
 */
#ifndef PX_BASE_SHM_H
#define PX_BASE_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PX_SHM_PATH_MAX 256
#define PX_SHM_NAME_MAX 64
#define PX_SHM_POPULATE_MAX ((size_t)64 << 20)

struct px_mapping {
	void *base;
	size_t size;
};

/* Find and check the directory.  Create it if it is missing. */
int px_shm_init(void);

/*
 * Create a segment of zeros and map it.  The space is allocated now, so that a full file system
 * gives ENOMEM here and not SIGBUS later.  Return EEXIST if the name is in use.
 */
int px_shm_create(const char *name, size_t size, struct px_mapping *mapping);

/* Map an existing segment of any size.  Return 0, ENOENT, EACCES (wrong owner, mode or type) or ENOMEM. */
int px_shm_attach(const char *name, struct px_mapping *mapping);

/*
 * Read a part of an existing segment without mapping it.  Return EIO if the segment is too short.
 * Async-signal-safe.
 */
int px_shm_read(const char *name, size_t offset, void *to, size_t size);

/*
 * Open an existing segment, or create it with this size.  Only for the registry, which is never
 * removed.  A shorter file is still being created, so extend it.  Return EACCES if owner, mode or
 * type is wrong, or if the file is longer.
 */
int px_shm_open_or_create(const char *name, size_t size, int *fd);

/* Allocate the space of a file.  Return 0, ENOMEM, or another error.  Signals do not disturb it. */
int px_shm_allocate(int fd, size_t size);

/*
 * Map an open segment.  Up to PX_SHM_POPULATE_MAX bytes, take the page faults now, so that the
 * first lap of a ring is as fast as later ones.
 */
int px_shm_map(int fd, struct px_mapping *mapping);

/* Open an existing segment, in order to lock it.  Return ENOENT or another error.  The caller closes it. */
int px_shm_open(const char *name, int *fd);

/* Return true if there is a file of this name and any type. */
bool px_shm_has(const char *name);

/* Call function for each name in the directory that starts with prefix.  Not async-signal-safe. */
void px_shm_for_each(const char *prefix, void (*function)(const char *name, void *argument),
		     void *argument);

/*
 * Lock a whole open file with F_SETLK or F_OFD_SETLK.  Return 0, ETIMEDOUT, or another error.  Not
 * async-signal-safe.
 */
int px_shm_lock(int fd, int command, uint64_t wait_ns);

void px_shm_unlink(const char *name);

/* Unmap the memory.  No thread may be using it. */
void px_shm_unmap(struct px_mapping *mapping);

/*
 * Replace the mapping with empty private memory at the same address.  If a signal handler
 * interrupted a writer within a record, that writer continues in the private memory, and its writes
 * have no effect.  The address range is never reused.
 */
void px_shm_retire(const struct px_mapping *mapping);

/*
 * Map the same memory a second time.  Return 0 or an error number: old kernels and some tools cannot do it.
 */
int px_shm_duplicate(const struct px_mapping *mapping, struct px_mapping *again);

#endif
