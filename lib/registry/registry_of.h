/* SPDX-License-Identifier: MIT */
/*
 * The registry in which a stream is entered, and the memory in which it stands, by whose they are: our own
 * user's, or for root also another one's.
 *
 *			of our user		of another user
 *	registry	mapped (registry.h)	a file (registry_remote.h)
 *	segment		a file (shm.h)		System V memory (sysv.h)
 *
 * Between open and close the registry is locked.  Not async-signal-safe; the caller has cancellation disabled.
 */
#ifndef PX_REGISTRY_REGISTRY_OF_H
#define PX_REGISTRY_REGISTRY_OF_H

#include "registry/registry.h"
#include "registry/registry_remote.h"

struct px_registry_of {
	bool is_remote;
	int fd; /* of our own */
	struct px_registry_remote remote;
};

/* 0, or what px_registry_lock() or px_registry_remote_lock() says. */
int px_registry_of_open(struct px_registry_of *registrar, uid_t owner);
void px_registry_of_close(struct px_registry_of *registrar);

/*
 * A slot for a new stream, and the generation that it is to have; nothing is left of those before it there.
 * EAGAIN: all are taken.
 */
int px_registry_of_find(struct px_registry_of *registrar, uint32_t *index, uint32_t *generation);

/* As px_registry_read(), px_registry_read_segment(). */
bool px_registry_of_read(const struct px_registry_of *registrar, uint32_t index,
			 struct px_registry_slot *slot);
int px_registry_of_read_segment(const struct px_registry_of *registrar, uint32_t index,
				const struct px_registry_slot *slot, size_t offset, void *to,
				size_t size);

/*
 * The segment of the stream that is to come into this slot; slot->segment says where it is.  0, or what
 * px_shm_create() and px_sysv_create() say.
 */
int px_registry_of_make_segment(const struct px_registry_of *registrar, uint32_t index,
				struct px_registry_slot *slot, size_t size,
				struct px_mapping *mapping);
void px_registry_of_unmake_segment(const struct px_registry_of *registrar, uint32_t index,
				   const struct px_registry_slot *slot);

/* The stream is whole: from now on its target may have it.  0, or why it cannot. */
int px_registry_of_publish(struct px_registry_of *registrar, uint32_t index,
			   const struct px_registry_slot *slot);

/*
 * Whether it has a log to be completed is as the slot says now.  For those who list streams; and memory that root made
 * has no name to which a bequest's could belong.
 */
void px_registry_of_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot);

/*
 * It ends: slot and segment go, whatever has become of the registry; but not the segment from which somebody is to
 * complete its log.
 */
void px_registry_of_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot,
			bool leaves_log);

#endif
