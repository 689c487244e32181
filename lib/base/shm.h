/* SPDX-License-Identifier: MIT */
/*
 * Shared memory segments.  Each segment is a file in a directory of the user.
 *
 * The directory is TXTRACE_DIR if that is set and the process is not AT_SECURE, otherwise
 * /dev/shm/posixtrace-<euid>.  It must belong to the effective user, must not be a symbolic link,
 * and must give no permissions to group and others.  The functions open files with O_NOFOLLOW.
 * Before they use the contents of a file, they check that it is a regular file of the same owner,
 * without permissions for group and others.  The functions refuse all other files and repair
 * nothing.  The umask does not affect the modes of new files.
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
#include <sys/types.h>

#define PX_SHM_PATH_MAX 256
#define PX_SHM_NAME_MAX 64
#define PX_SHM_POPULATE_MAX ((size_t)64 << 20)

struct px_mapping {
	void *base;
	size_t size;
};

/* Find and check the directory.  Create it if it is missing. */
int px_shm_init(void);

/* Return the directory that px_shm_init() has refused, or NULL if it has found one. */
const char *px_shm_refused(void);

/* Return the directory, or "" if it was refused. */
const char *px_shm_directory(void);

/*
 * After ENOMEM for a new segment, return what it is for: ENOSPC (the directory has no bytes or inodes left), EFBIG (the
 * limit of the size of files), or ENOMEM (no memory, or no addresses).
 */
int px_shm_lack(void);

/*
 * Create a segment of zeros and map it.  Allocate its space now, so that a full file system causes
 * ENOMEM here and not SIGBUS later.  Return EEXIST if the name is in use.
 */
int px_shm_create(const char *name, size_t size, struct px_mapping *mapping);

/*
 * Create and map a segment of zeros like px_shm_create(), but allocate only the first bytes.  The caller must allocate
 * the other bytes before it accesses them (ring/growth.h).
 */
int px_shm_create_partly(const char *name, size_t size, size_t first, struct px_mapping *mapping);

/*
 * Create a file of zeros without allocating its space, and do not map it.  Return 0, EEXIST, ENOMEM or another error.
 * The caller closes the descriptor.
 */
int px_shm_make(const char *name, size_t size, int *fd);

/*
 * Return true if a file of this size is beyond the file size limit of this process, so that a write to it can raise
 * SIGXFSZ.
 */
bool px_shm_is_beyond_limit(size_t size);

/*
 * Map an existing segment of any size.  populates: map all its pages now, as px_shm_map() does.  Return 0, ENOENT,
 * EACCES (wrong owner, mode or type) or ENOMEM.
 */
int px_shm_attach(const char *name, bool populates, struct px_mapping *mapping);

/*
 * Read a part of an existing segment without mapping it.  Return EIO if the segment is too short.
 */
int px_shm_read(const char *name, size_t offset, void *to, size_t size);

/*
 * Open an existing segment, or create it with this size.  Use this function only for the registry,
 * because no process ever removes that file.  If the file is shorter, another process may still be
 * creating it: extend it.  Return EACCES if the owner, mode or type is wrong, or if the file is
 * longer.
 */
int px_shm_open_or_create(const char *name, size_t size, int *fd);

/*
 * Allocate size bytes for a file.  Return 0, ENOMEM, or another error.  A signal does not interrupt
 * the allocation.
 */
int px_shm_allocate(int fd, size_t size);

/*
 * Map an open segment.  If it is allocated and has at most PX_SHM_POPULATE_MAX bytes, map all its pages now.  Then a
 * writer takes no page faults in the first lap of a ring.
 */
int px_shm_map(int fd, struct px_mapping *mapping);

/*
 * Open an existing segment, so that the caller can lock it.  Return ENOENT or another error.  The
 * caller closes the descriptor.
 */
int px_shm_open(const char *name, int *fd);

/* Return true if an open file is regular, belongs to this user, and no other user can access it. */
bool px_shm_is_private(int fd, uid_t owner);

/* Return true if the directory has a file of this name, of any type. */
bool px_shm_has(const char *name);

/*
 * Call function for each name in the directory that starts with prefix.  Return 0, or an error
 * number.  Async-signal-safe, if the function is.
 */
int px_shm_for_each(const char *prefix, void (*function)(const char *name, void *argument),
		    void *argument);

/*
 * Set a write lock on a whole open file; command is F_SETLK or F_OFD_SETLK.  Try again each
 * millisecond until wait_ns have passed.  Return 0, ETIMEDOUT, or another error.  Not
 * async-signal-safe.
 */
int px_shm_lock(int fd, int command, uint64_t wait_ns);

/*
 * Create a file and open it for writing.  Return 0 or an error, EEXIST among others.  The caller closes the descriptor.
 * Async-signal-safe.
 */
int px_shm_open_new(const char *name, int *fd);

/* Give a file another name.  A failure changes nothing.  Async-signal-safe. */
void px_shm_rename(const char *from, const char *to);

/* Give a file a second name.  Return 0 or an error, EEXIST among others.  Async-signal-safe. */
int px_shm_link(const char *from, const char *to);

void px_shm_unlink(const char *name);

/* Unmap the memory.  No thread may still be using it. */
void px_shm_unmap(struct px_mapping *mapping);

/*
 * Replace the mapping with empty private memory at the same address.  A writer that was interrupted
 * inside a record may later continue: its writes go to the private memory and have no effect.  The
 * caller unmaps this address range when no thread uses it any more (trace/inside.h).
 */
void px_shm_retire(const struct px_mapping *mapping);

/*
 * Map the same memory a second time.  Return 0 or an error number.  Old kernels and some tools do
 * not support this.
 */
int px_shm_duplicate(const struct px_mapping *mapping, struct px_mapping *again);

#endif
