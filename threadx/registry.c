/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include <string.h>

static TX_TRACE_OBJECT_ENTRY *slot; /* NULL: no trace */
static uint32_t nr_slots;
static uint32_t start; /* of the next search */

void px_tx_registry_begin(TX_TRACE_OBJECT_ENTRY *slots, uint32_t n)
{
	slot = slots;
	nr_slots = slots ? n : 0;
	start = 0;
	for (uint32_t i = 0; i < nr_slots; i++) {
		slot[i].tx_trace_object_entry_available = 1;
		slot[i].tx_trace_object_entry_type = TX_TRACE_OBJECT_TYPE_NOT_VALID;
		slot[i].tx_trace_object_entry_reserved1 = 0;
		slot[i].tx_trace_object_entry_reserved2 = 0;
		slot[i].tx_trace_object_entry_thread_pointer = 0;
	}
}

/*
 * Return the slot for this handle, or nr_slots.  All slots that were released have a type, so of the available ones the
 * search takes the last that it meets: each later one was released earlier, or it never was in use.
 */
static uint32_t find(uint32_t handle)
{
	uint32_t found = nr_slots;
	uint32_t i = start;

	for (uint32_t k = 0; k < nr_slots; k++)
		if (slot[k].tx_trace_object_entry_thread_pointer == handle)
			return k;
	do {
		if (slot[i].tx_trace_object_entry_thread_pointer == 0)
			return i;
		if (slot[i].tx_trace_object_entry_available &&
		    (found == nr_slots || slot[found].tx_trace_object_entry_type != 0))
			found = i;
		i = i + 1 < nr_slots ? i + 1 : 0;
	} while (i != start);
	return found;
}

void px_tx_registry_add(const struct px_tx_object *object)
{
	TX_TRACE_OBJECT_ENTRY *to;
	uint32_t found;

	if (!slot || nr_slots == 0)
		return;
	found = find(object->handle);
	if (found == nr_slots)
		return;
	to = &slot[found];
	if (to->tx_trace_object_entry_thread_pointer != object->handle)
		start = found + 1 < nr_slots ? found + 1 : 0;
	to->tx_trace_object_entry_available = 0;
	to->tx_trace_object_entry_type = object->type;
	to->tx_trace_object_entry_thread_pointer = object->handle;
	to->tx_trace_object_entry_param_1 = object->parameter[0];
	to->tx_trace_object_entry_param_2 = object->parameter[1];
	memcpy(to->tx_trace_object_entry_name, object->name, sizeof(to->tx_trace_object_entry_name));
	to->tx_trace_object_entry_reserved1 = 0;
	to->tx_trace_object_entry_reserved2 = 0;
	if (object->type == TX_TRACE_OBJECT_TYPE_THREAD && object->has_priority) {
		to->tx_trace_object_entry_reserved1 = (UCHAR)(0x80 | object->priority >> 8);
		to->tx_trace_object_entry_reserved2 = (UCHAR)(object->priority & 0xFF);
	}
}

void px_tx_registry_release(uint32_t handle)
{
	for (uint32_t i = 0; i < nr_slots; i++) {
		if (slot[i].tx_trace_object_entry_thread_pointer != handle)
			continue;
		slot[i].tx_trace_object_entry_available = 1;
		start = i;
		return;
	}
}
