/* SPDX-License-Identifier: MIT */
/*
 * The objects of the program: their addresses, the handles that stand for them in the buffer, and what the registry of
 * a buffer needs, also of a buffer that is enabled later.
 *
 * A handle is an odd number that no other object gets.  An object at the address of an earlier object gets a new one.
 * A pointer that is no object is shown by the lower half of its address; if that is a handle in use, without the lowest
 * bit.  So no word of a pointer stands for two things.
 *
 * px_tx_objects_find() needs no lock.  It reads between two loads of a version, and the holder of the lock makes the
 * version odd while it moves objects.  All other functions need the lock (lock.h).
 */
#ifndef PX_THREADX_OBJECTS_H
#define PX_THREADX_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PX_TX_NAME_SIZE 32
#define PX_TX_TYPE_THREAD 1

struct px_tx_object {
	uintptr_t address; /* 0: unused */
	uint32_t handle;
	uint8_t type;
	bool is_live; /* false: unregistered */
	bool has_priority;
	uint32_t priority;
	uint32_t parameter[2];
	char name[PX_TX_NAME_SIZE];
};

/* Return the handle of the object that has, or had last, this address; 0: there is none.  Async-signal-safe. */
uint32_t px_tx_objects_find(uintptr_t address);

/* Return the word that stands for this pointer.  Async-signal-safe. */
uint32_t px_tx_objects_word(uintptr_t address);

/*
 * Register an object, or replace what is known of a live one, which keeps its handle.  name may be NULL.  Return NULL
 * if address is 0 or memory is short.  The pointer is valid until the next call.
 */
struct px_tx_object *px_tx_objects_add(uintptr_t address, uint8_t type, const char *name, const uint32_t parameter[2]);

/* Return the object of this address, which may not be live, or NULL. */
struct px_tx_object *px_tx_objects_get(uintptr_t address);

/* The object no longer exists.  Its handle still stands for it, until another object has its address. */
void px_tx_objects_remove(struct px_tx_object *object);

/*
 * Call visit for each live object: in the order in which ThreadX registers the objects that exist when a trace begins,
 * and objects of one type in the order in which they were registered.  Return 0, or ENOMEM before the first call.
 */
int px_tx_objects_each(void (*visit)(const struct px_tx_object *object));

#endif
