/* SPDX-License-Identifier: MIT */
#include "event/data_order.h"

#include <string.h>

#include "event/addresses.h"
#include "event/call_fields.h"

/* Reverse the bytes of the numbers of this size in the data, `nr` of them or fewer.  Return where they end. */
static size_t reverse(unsigned char *data, size_t size, size_t at, size_t nr, size_t each)
{
	for (; nr > 0 && at + each <= size; nr--, at += each)
		for (size_t i = 0; i < each / 2; i++) {
			unsigned char byte = data[at + i];

			data[at + i] = data[at + each - 1 - i];
			data[at + each - 1 - i] = byte;
		}
	return nr > 0 ? size : at;
}

/*
 * The address of a socket begins with its family; the rest of it has the byte order of the network.  Behind that of the
 * peer, a connection has that of its own end, of the same family.
 */
static size_t reverse_addresses(unsigned char *data, size_t size, size_t at)
{
	sa_family_t family = 0;
	size_t whole;

	if (reverse(data, size, at, 1, sizeof(family)) != at + sizeof(family))
		return size;
	memcpy(&family, data + at, sizeof(family));
	whole = px_address_bytes(family);
	if (whole > 0 && size - at >= 2 * whole)
		reverse(data, size, at + whole, 1, sizeof(family));
	return size;
}

static void change_call(enum px_call call, unsigned char *data, size_t size)
{
	struct px_call_field field;
	const char *place = NULL;
	size_t at = 0;

	for (unsigned int i = 0; at < size && px_call_next_field(call, i, &place, &field); i++) {
		if (field.kind == 'a')
			at = reverse_addresses(data, size, at);
		else
			at = reverse(data, size, at, field.is_rest ? size : 1, field.bytes);
	}
}

/* The sizes of the numbers in the data of a system event, each as a digit. */
static const char *numbers_of(unsigned int id)
{
	switch (id) {
	case PX_EVENT_ERROR:
	case PX_EVENT_STOP:
	case PX_EVENT_SCHED_STOP:
		return "4";
	case PX_EVENT_SWITCH_IN:
	case PX_EVENT_SWITCH_OUT:
	case PX_EVENT_SCHED_THREAD:
		return "4444";
	case PX_EVENT_SCHED_GAP:
		return "844";
	case PX_EVENT_CPU_TIME:
		return "4488";
	default:
		return "";
	}
}

void px_data_change_order(unsigned int id, bool is_call, unsigned char *data, size_t size)
{
	enum px_call call;
	size_t at = 0;

	if (size > PX_DATA_ORDER_BYTES)
		size = PX_DATA_ORDER_BYTES;
	if (is_call && px_call_of_event(id, &call))
		change_call(call, data, size);
	else if (id == PX_EVENT_START || id == PX_EVENT_FILTER) /* sets of event types */
		reverse(data, size, 0, size, sizeof(uint64_t));
	for (const char *digit = is_call ? "" : numbers_of(id); *digit; digit++)
		at = reverse(data, size, at, 1, (size_t)(*digit - '0'));
}
