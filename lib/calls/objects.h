/* SPDX-License-Identifier: MIT */
/*
 * The objects of recorded calls: which object an address or a descriptor refers to now, its name,
 * and its history. Threads are objects too.
 *
 * A key refers to an object until it is unbound.  It is {pid, address} in the space of the object's
 * type, because a mutex may later be a semaphore at the same address.  For files, sockets and
 * queues it is {pid, descriptor}, in one space for all of them.  Several keys may refer to one
 * object (dup).  The table keeps the PX_CALL_OBJECTS_MAX objects that were used last.  Handles come
 * from a counter that restarts after 2^24 objects.  If the log still has the first objects, a new
 * object then has the same handle as an old one.
 *
 * All memory is private.  The caller ensures that only one thread at a time uses an object table.
 */
#ifndef PX_CALLS_OBJECTS_H
#define PX_CALLS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/threads.h"
#include "txtb/txtb.h"

#define PX_CALL_OBJECTS_MAX 16384

/* The space of a key is a type of objects or one of these. */
enum { PX_SPACE_TID = 0x100, PX_SPACE_FD, PX_SPACE_NAME, PX_SPACE_CHILD };

struct px_key {
	uint64_t value;
	uint32_t pid;
	uint32_t space;
};

/* The wait of a thread. */
struct px_call_object_wait {
	uint64_t began; /* value of px_wakers.now */
	uint32_t call;	/* enum px_call */
	uint32_t state;
	uint32_t object; /* handle; 0: none */
};

struct px_call_object {
	struct px_object object; /* handle 0: only a name that is kept for its address */
	uint64_t address;	 /* or descriptor; of a thread its pthread_t */
	uint64_t site;		 /* address of the first call on it */

	/* State of resolve.c and wakers.c.  Times are values of px_wakers.now. */
	uint32_t releaser[2]; /* the thread that released it; of a queue: the last sender and the last
			       * receiver */
	uint64_t released_at[2]; /* when it was released */
	uint64_t acquired_at;
	uint32_t nr_opened; /* times that a named semaphore is open */
	uint32_t joiner;    /* of a thread: the thread that joins it */
	uint32_t priority;  /* the word of its last event */
	uint32_t depth;	    /* of signal handlers that interrupted its wait */
	bool is_known;	    /* it has recorded an event */
	bool is_suspended;
	struct px_call_object_wait wait, outer; /* outer: the wait that a handler interrupted */

	/* Indices + 1; 0: none. */
	uint32_t next_of_handle, first_key, newer, older;
};

/*
 * A callback that may know a better name for a new object.  If it does, it returns 0 and sets text.
 */
struct px_namer {
	int (*call)(const struct px_namer *namer, const struct px_call_object *object, char *text,
		    size_t size);
	void (*function)(void); /* for the callback's use */
	void *argument;
};

struct px_call_objects;

/* Return true if the object's address is a descriptor. */
PX_INLINE bool px_call_objects_is_descriptor(const struct px_call_object *object)
{
	return object->object.type == PX_TXTB_FILE || object->object.type == PX_TXTB_QUEUE ||
	       object->object.type == PX_TXTB_TCP_SOCKET ||
	       object->object.type == PX_TXTB_UDP_SOCKET;
}

/* Make an empty table of objects.  Return NULL if there is no memory. */
struct px_call_objects *px_call_objects_make(void);
void px_call_objects_free(struct px_call_objects *objects);

void px_call_objects_set_namer(struct px_call_objects *objects, const struct px_namer *namer);

/* Find an object, or return NULL.  The first two functions count as a use of the object. */
struct px_call_object *px_call_objects_at(struct px_call_objects *objects,
					  const struct px_key *key);
struct px_call_object *px_call_objects_of(struct px_call_objects *objects, uint32_t handle);
const struct px_call_object *px_call_objects_find(const struct px_call_objects *objects,
						  uint32_t handle);

/* Bind one more key to an object.  If the key was bound to another object, unbind it first. */
void px_call_objects_bind(struct px_call_objects *objects, const struct px_key *key,
			  struct px_call_object *object);

/*
 * Unbind a key.  An object without keys is forgotten, but stays valid until the next call of
 * px_call_objects_add().
 */
void px_call_objects_unbind(struct px_call_objects *objects, const struct px_key *key);

/*
 * Add an object with this handle, or with the next handle of its type if that is 0.  It has no key
 * and no name.
 */
struct px_call_object *px_call_objects_add(struct px_call_objects *objects,
					   enum px_txtb_object_type type, uint32_t handle);

/*
 * Name an object.  The first function uses this text, or the end of it if it is a long path.  The
 * second asks the namer, or makes a name from the address.  A name that is already in use gets a
 * suffix.  Names of threads always end in the tid.
 */
void px_call_objects_name(struct px_call_objects *objects, struct px_call_object *object,
			  const char *text, size_t length);
void px_call_objects_name_by_address(struct px_call_objects *objects,
				     struct px_call_object *object);

/* Return the serial of the last handle that came from the counter. */
uint32_t px_call_objects_serial(const struct px_call_objects *objects);
void px_call_objects_set_serial(struct px_call_objects *objects, uint32_t serial);

/* Mark a name as used. */
void px_call_objects_mark_name(struct px_call_objects *objects, const char *name);

#endif
