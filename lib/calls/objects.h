/* SPDX-License-Identifier: MIT */
/*
 * The objects that recorded calls are about: which one an address or a descriptor is just now, what it is called, and
 * what has happened to it.  Threads are some of them.
 *
 * A key leads to an object until it is let go: {pid, address} in the space of its type, since what was a mutex may be a
 * semaphore later; {pid, descriptor} in one space for files, sockets and queues.  Several keys may lead to one object
 * (dup).  The PX_CALL_OBJECTS_MAX that were used last are kept.  Handles come from a counter; after 2^24 objects it begins
 * anew, and where the log still has the first of them, they share a handle.
 *
 * Private memory.  One thread at a time; the caller sees to it.
 */
#ifndef PX_CALLS_OBJECTS_H
#define PX_CALLS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/threads.h"
#include "txtb/txtb.h"

#define PX_CALL_OBJECTS_MAX 16384

/* Spaces of keys: types of objects, and these. */
enum { PX_SPACE_TID = 0x100, PX_SPACE_FD, PX_SPACE_NAME, PX_SPACE_CHILD };

struct px_key {
	uint64_t value;
	uint32_t pid;
	uint32_t space;
};

/* What a thread waits for. */
struct px_call_object_wait {
	uint64_t began; /* when: px_wakers.now */
	uint32_t call;	/* enum px_call */
	uint32_t state;
	uint32_t object; /* handle; 0: none */
};

struct px_call_object {
	struct px_object object; /* handle 0: only a name that is kept for its address */
	uint64_t address;	 /* or descriptor; of a thread its pthread_t */
	uint64_t site;		 /* from where it was first called */

	/* What resolve.c and wakers.c remember.  Times are px_wakers.now. */
	uint32_t releaser[2]; /* thread: who gave it up, or, of a queue, sent and received last, */
	uint64_t released_at[2]; /* and when */
	uint64_t acquired_at;
	uint32_t nr_opened; /* of a named semaphore */
	uint32_t joiner;    /* of a thread: who waits for its end */
	uint32_t priority;  /* word, of its last event */
	uint32_t depth;	    /* of signal handlers that came as it waited */
	bool is_known;	    /* it has recorded something */
	bool is_suspended;
	struct px_call_object_wait wait, outer; /* outer: of which a handler came */

	/* Indices + 1; 0: none. */
	uint32_t next_of_handle, first_key, newer, older;
};

/* Who may know a better name for an object that is new: 0 and a text. */
struct px_namer {
	int (*call)(const struct px_namer *namer, const struct px_call_object *object, char *text,
		    size_t size);
	void (*function)(void); /* its own */
	void *argument;
};

struct px_call_objects;

/* True if its address is a descriptor. */
PX_INLINE bool px_call_objects_is_descriptor(const struct px_call_object *object)
{
	return object->object.type == PX_TXTB_FILE || object->object.type == PX_TXTB_QUEUE ||
	       object->object.type == PX_TXTB_TCP_SOCKET ||
	       object->object.type == PX_TXTB_UDP_SOCKET;
}

/* NULL: no memory. */
struct px_call_objects *px_call_objects_make(void);
void px_call_objects_free(struct px_call_objects *objects);

void px_call_objects_set_namer(struct px_call_objects *objects, const struct px_namer *namer);

/* NULL: there is none.  What is found counts as used. */
struct px_call_object *px_call_objects_at(struct px_call_objects *objects,
					  const struct px_key *key);
struct px_call_object *px_call_objects_of(struct px_call_objects *objects, uint32_t handle);
const struct px_call_object *px_call_objects_look(const struct px_call_objects *objects,
						  uint32_t handle);

/* A further key for it; what the key led to before is let go. */
void px_call_objects_bind(struct px_call_objects *objects, const struct px_key *key,
			  struct px_call_object *object);

/* The key leads nowhere.  An object without a key is forgotten, but it stays valid until the next call of px_call_objects_add(). */
void px_call_objects_unbind(struct px_call_objects *objects, const struct px_key *key);

/* A new object with this handle, without a key and a name; 0: with the next handle of its type. */
struct px_call_object *px_call_objects_add(struct px_call_objects *objects,
					   enum px_txtb_object_type type, uint32_t handle);

/*
 * Give it a name: this text (a path: its end), or, where there is none, what somebody else knows of it, or what can be
 * said of its address.  No other object has it; of a thread its tid sees to that.
 */
void px_call_objects_name(struct px_call_objects *objects, struct px_call_object *object,
			  const char *text, size_t length);
void px_call_objects_name_by_address(struct px_call_objects *objects,
				     struct px_call_object *object);

/* The serial of the last handle that was given. */
uint32_t px_call_objects_serial(const struct px_call_objects *objects);
void px_call_objects_set_serial(struct px_call_objects *objects, uint32_t serial);

/* Names that are taken already. */
void px_call_objects_note_name(struct px_call_objects *objects, const char *name);

#endif
