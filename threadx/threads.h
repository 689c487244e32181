/* SPDX-License-Identifier: MIT */
/* Threads as objects: a thread registers itself at its first event, and unregisters itself when it ends. */
#ifndef PX_THREADX_THREADS_H
#define PX_THREADX_THREADS_H

#include "lock.h"
#include "objects.h"

/* Find or make the object of the calling thread, which holds the lock. */
void px_tx_thread_identify(struct px_tx_thread *self);

/* The calling thread, which holds the lock, is the object at this address.  Return false if memory is short. */
bool px_tx_thread_set(struct px_tx_thread *self, uintptr_t address, uint32_t priority, uint32_t threshold);

/* Is this the address by which the calling thread is registered without px_tx_thread_set()? */
bool px_tx_thread_is_own(uintptr_t address);

/* Store the priority of the calling thread in its object. */
void px_tx_thread_fill_priority(struct px_tx_object *object);

#endif
