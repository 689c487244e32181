/* SPDX-License-Identifier: MIT */
/*
 * The object registry in the buffer, with ThreadX's rules for its slots.  An object gets the slot with its handle, or
 * else a slot that was never used, or else the slot that has been available longest.  The search starts after the slot
 * that was filled last, or at the slot that was released last.  If there is no slot for an object, it has no name in the
 * buffer.  The caller holds the lock.
 */
#ifndef PX_THREADX_REGISTRY_H
#define PX_THREADX_REGISTRY_H

#include <stdint.h>
#include <tx_trace_posix.h>

#include "objects.h"

/* Begin an empty registry of so many slots.  NULL: there is none. */
void px_tx_registry_begin(TX_TRACE_OBJECT_ENTRY *slots, uint32_t nr_slots);

void px_tx_registry_add(const struct px_tx_object *object);
void px_tx_registry_release(uint32_t handle);

#endif
