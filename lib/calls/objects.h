/* SPDX-License-Identifier: MIT */
/*
 * The objects of recorded calls.  For each object, the table stores its name, its history, and the
 * addresses or descriptors that refer to it now.  Threads are objects too.
 *
 * A key refers to an object until a caller unbinds the key.  For most objects the key is {pid, address}.  A program may
 * put a semaphore at an address where a mutex was before, so each type of object has its own space of keys.  For files,
 * sockets and queues the key is {pid, descriptor}, and all three share one space.  Several keys may refer to one object
 * (dup), and the processes that inherit a descriptor have it by keys of their own (descriptors.h).
 *
 * The table keeps the PX_CALL_OBJECTS_MAX objects that were used last.  If it forgets one that a descriptor of a
 * process refers to, it also forgets that the process inherits descriptors.  New handles come from a counter that
 * restarts after 2^24 objects.  If the log still has the first objects at that time, a new object has the same handle
 * as an old one.
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

/* The space of a key: an enum px_txtb_object_type, or a value of this enum. */
enum { PX_SPACE_TID = 0x100, PX_SPACE_FD, PX_SPACE_NAME, PX_SPACE_PROCESS, PX_SPACE_RESTORED_FD };

struct px_key {
	uint64_t value;
	uint32_t pid;
	uint32_t space;
};

/* State of a key.  Times are those of px_call_objects_now(), but ticks are those of records. */
struct px_key_state {
	uint64_t since;	     /* when it was bound; descriptors.c changes it */
	uint64_t ticks;	     /* of the record that bound it, as px_call_objects_set_ticks() */
	bool ends_with_exec; /* for a descriptor: execve() closes it */
};

/* A process: what descriptors.c knows of it.  Times are those of px_call_objects_now(). */
struct px_call_process {
	uint64_t began;	      /* 0: before the first record */
	uint64_t began_ticks; /* not later than its fork() */
	uint64_t executed;    /* when it last executed a program; 0: never */
	uint64_t executes;    /* px_call_hash_path() of the program that it executes now; 0: none, or not known */
	/* Pids, 0: none or not known.  The siblings are the other children of the same parent that have not ended. */
	uint32_t parent, newest_child, older_sibling, newer_sibling;
	uint32_t told;	       /* enum px_teller */
	bool inherits;	       /* the descriptors that its parent had when it began */
	bool executes_by_name; /* `executes` is of a name that execvp() looks for */
	bool is_listed;	       /* among the children of its parent */
	bool is_doubtful;      /* its parent told of it when another process with this pid had ended, or of that one */
	bool has_ended;	       /* only what another process with this pid does can follow */
};

/* A wait of a thread. */
struct px_call_object_wait {
	uint64_t began; /* time when the wait began, as px_wakers.now */
	uint32_t call;	/* enum px_call */
	uint32_t state;
	uint32_t object; /* handle of the object; 0: none */
};

struct px_call_object {
	struct px_object object; /* handle 0: this element holds only a name or a process */
	/* Address or descriptor of the object; for a thread, its pthread_t. */
	uint64_t address;
	uint64_t site;		 /* code address of the first call that used the object */
	uint32_t first_user;	 /* handle of the thread that made this call; 0: not known */

	/* State of resolve.c and wakers.c.  Times are values of px_wakers.now. */
	/* Thread that released it last; for a queue: the last sender and the last receiver. */
	uint32_t releaser[2];
	uint64_t released_at[2]; /* the time when each releaser released it */
	uint64_t acquired_at;
	uint32_t nr_opened; /* named semaphore: number of sem_open() calls without a sem_close() */
	uint32_t joiner;    /* for a thread: the thread that joins it */
	uint32_t priority;  /* for a thread: priority word of its last event */
	/* For a thread: number of nested signal handlers that interrupted its wait. */
	uint32_t depth;
	bool is_known;	    /* for a thread: it has recorded an event */
	bool has_program;   /* for a thread: its program is that of its process since its first record */
	bool is_named;	    /* for a thread: a recorded call has named it */
	bool is_suspended;
	uint64_t vforked; /* for a thread: the time when it called vfork(), for whose child it waits; 0: it does not */
	/* `wait`: the current wait; `outer`: the wait that a handler interrupted. */
	struct px_call_object_wait wait, outer;
	struct px_call_process process; /* for an element that holds a process */

	/* The links are indices + 1; 0: none. */
	uint32_t next_of_handle, first_key, newer, older;
};

/*
 * A callback that can give a new object a better name.  If it knows a name, it sets text and returns 0.  Otherwise it
 * returns another value.
 */
struct px_namer {
	int (*call)(const struct px_namer *namer, const struct px_call_object *object, char *text,
		    size_t size);
	/* NULL, or: return true if no other object was ever at the address of this one. */
	bool (*is_only_one)(const struct px_namer *namer, const struct px_call_object *object);
	void (*function)(void); /* the callback may use `function` and `argument` */
	void *argument;
};

struct px_call_objects;

/* Return true if the address of the object is a descriptor. */
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

/*
 * Find the object with this key or this handle, or return NULL. px_call_objects_at() and
 * px_call_objects_of() also count as a use of the object.
 */
struct px_call_object *px_call_objects_at(struct px_call_objects *objects,
					  const struct px_key *key);
struct px_call_object *px_call_objects_of(struct px_call_objects *objects, uint32_t handle);
const struct px_call_object *px_call_objects_find(const struct px_call_objects *objects,
						  uint32_t handle);

/* Bind one more key to an object.  If the key is bound to another object, first unbind the key. */
void px_call_objects_bind(struct px_call_objects *objects, const struct px_key *key,
			  struct px_call_object *object);

/*
 * Unbind a key.  If the object has no other key, forget the object.  The memory of a forgotten
 * object stays valid until the next call of px_call_objects_add().
 */
void px_call_objects_unbind(struct px_call_objects *objects, const struct px_key *key);

/* Return the state of a key, or NULL if the key is not bound.  The pointer is valid until the next key is bound. */
struct px_key_state *px_call_objects_state(struct px_call_objects *objects, const struct px_key *key);

/*
 * Return the next key of a process, or NULL.  *place is 0 at first.  The caller may unbind that key, and bind it again,
 * before the next call.
 */
const struct px_key *px_call_objects_next_key(const struct px_call_objects *objects, uint32_t pid, uint32_t *place);

/* Time as a number that px_call_objects_bind() and px_call_objects_advance() increase.  The first one is 1. */
uint64_t px_call_objects_now(const struct px_call_objects *objects);
uint64_t px_call_objects_advance(struct px_call_objects *objects);

/* The ticks of the record that is translated now. */
void px_call_objects_set_ticks(struct px_call_objects *objects, uint64_t ticks);
uint64_t px_call_objects_ticks(const struct px_call_objects *objects);

/* Unbind the keys of all descriptors.  px_call_objects_lost_at() is the time when this was done last. */
void px_call_objects_lose_descriptors(struct px_call_objects *objects);
uint64_t px_call_objects_lost_at(const struct px_call_objects *objects);

/* How many objects the table had to forget to get room. */
uint64_t px_call_objects_nr_forgotten(const struct px_call_objects *objects);

/*
 * The process has executed another program: unbind all keys of its memory and of its threads, but not those of objects
 * that the namer knows as the only ones.  descriptors.h has the rules for its descriptors.
 */
void px_call_objects_end_program(struct px_call_objects *objects, uint32_t pid);

/*
 * Add an object without a key and without a name.  If handle is 0, give the object the next handle
 * of its type.  An object of the type PX_TXTB_UNUSED then has no handle.
 */
struct px_call_object *px_call_objects_add(struct px_call_objects *objects,
					   enum px_txtb_object_type type, uint32_t handle);

/*
 * Name an object. px_call_objects_name() uses this text; if the text is a long path, it uses only the end.
 * px_call_objects_name_by_address() asks the namer, or makes a name from the address.  Both functions append a suffix
 * to a name that was already used.  The name of a thread always ends in the tid.
 */
void px_call_objects_name(struct px_call_objects *objects, struct px_call_object *object,
			  const char *text, size_t length);
void px_call_objects_name_by_address(struct px_call_objects *objects,
				     struct px_call_object *object);

/*
 * The serial of the last handle that came from the counter.  To continue a log, set the serial to the value that the
 * log had.
 */
uint32_t px_call_objects_serial(const struct px_call_objects *objects);
void px_call_objects_set_serial(struct px_call_objects *objects, uint32_t serial);

/* Mark a name as used.  The next object with this name gets a suffix. */
void px_call_objects_mark_name(struct px_call_objects *objects, const char *name);

#endif
