/* SPDX-License-Identifier: MIT */
/*
 * The registry that lists a stream, and the memory of its segment, depend on the user of the target.  Only root can
 * have a target of another user.
 *
 *			of our user		of another user
 *	registry	mapped (registry.h)	a file (registry_remote.h)
 *	segment		a file (shm.h)		a System V segment (sysv.h)
 *
 * The registry is locked from px_registry_of_open() to px_registry_of_close().  These functions are not
 * async-signal-safe.  The caller must disable cancellation.
 */
#ifndef PX_REGISTRY_REGISTRY_OF_H
#define PX_REGISTRY_REGISTRY_OF_H

#include "registry/registry.h"
#include "registry/registry_remote.h"

struct px_registry_of {
	bool is_remote;
	int fd; /* descriptor of our own registry */
	struct px_registry_remote remote;
};

/* Return 0 or an error of px_registry_lock() or px_registry_remote_lock(). */
int px_registry_of_open(struct px_registry_of *registry, uid_t owner);
void px_registry_of_close(struct px_registry_of *registry);

/*
 * Find a free slot for a new stream, and a new generation for it.  When this function returns 0, no segment file of an
 * earlier stream has these numbers in its name.  Return 0, or EAGAIN if no slot is free.
 */
int px_registry_of_find(struct px_registry_of *registry, uint32_t *index, uint32_t *generation);

/* These do the same as px_registry_read() and px_registry_read_segment(). */
bool px_registry_of_read(const struct px_registry_of *registry, uint32_t index,
			 struct px_registry_slot *slot);
int px_registry_of_read_segment(const struct px_registry_of *registry, uint32_t index,
				const struct px_registry_slot *slot, size_t offset, void *to,
				size_t size);

/*
 * Open the file of the private name table that the process uses (names_file.h).  The caller closes the descriptor.
 * Return 0, ENOENT or an error of open().
 */
int px_registry_of_open_names(const struct px_registry_of *registry, uint32_t pid, int *fd);

/*
 * Create the segment of a new stream for this slot.  If it is a System V segment, store its number in slot->segment.
 * Return 0 or an error of px_shm_create() or px_sysv_create().
 */
int px_registry_of_make_segment(const struct px_registry_of *registry, uint32_t index,
				struct px_registry_slot *slot, size_t size,
				struct px_mapping *mapping);

/*
 * Create a segment file that its creator allocates in parts (px_shm_create_partly()).  The target belongs to the user
 * of this process.
 */
int px_registry_of_make_part(uint32_t index, const struct px_registry_slot *slot, size_t size,
			     size_t first, struct px_mapping *mapping);
void px_registry_of_unmake_segment(const struct px_registry_of *registry, uint32_t index,
				   const struct px_registry_slot *slot);

/*
 * Publish the completely initialised stream, so that its target can find it.  Return 0 or an error.
 */
int px_registry_of_publish(struct px_registry_of *registry, uint32_t index,
			   const struct px_registry_slot *slot);

/*
 * Store slot->has_log in the registry.  It means that the stream has a log that another process may have to complete.
 * Programs that list streams show it.  While has_log is set, no process removes a System V segment of the stream.  If
 * the segment is a file, the checkpoint file of the log protects it from removal.
 */
void px_registry_of_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot);

/*
 * Free the slot and remove the segment at the end of a stream.  If the lock of the registry is not available soon, do
 * this without the lock.  Keep the segment if another process must complete the log from it.
 */
void px_registry_of_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot,
			bool leaves_log);

#endif
