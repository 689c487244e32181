/* SPDX-License-Identifier: MIT */
#include "txtb/txtb.h"

#include <string.h>

void px_txtb_header_init(struct px_txtb_header *header, uint32_t nr_objects, uint32_t name_size,
			 uint32_t nr_entries)
{
	memset(header, 0, sizeof(*header));
	header->id = PX_TXTB_ID;
	header->time_mask = UINT32_MAX;
	header->base = PX_TXTB_BASE;
	header->registry_start = PX_TXTB_BASE + (uint32_t)sizeof(*header);
	header->name_size = (uint16_t)name_size;
	header->registry_end = PX_TXTB_BASE +
			       (uint32_t)px_txtb_object_offset(nr_objects, name_size);
	header->buffer_start = header->registry_end;
	header->buffer_end = header->buffer_start +
			     nr_entries * (uint32_t)sizeof(struct px_txtb_entry);
	header->current = header->buffer_start;
	header->tick_mark = 0xAAAAAAAA; /* ThreadX writes the same values */
	header->tick[0] = 0xBBBBBBBB;
	header->tick[1] = 0xCCCCCCCC;
}

void px_txtb_set_tick(struct px_txtb_header *header, double tick_ns)
{
	uint64_t bits;

	memcpy(&bits, &tick_ns, sizeof(bits));
	header->tick_mark = PX_TXTB_TICK_MARK;
	header->tick[0] = (uint32_t)bits;
	header->tick[1] = (uint32_t)(bits >> 32);
}

double px_txtb_tick_ns(const struct px_txtb_header *header)
{
	uint64_t bits = (uint64_t)header->tick[1] << 32 | header->tick[0];
	double tick_ns;

	if (header->tick_mark != PX_TXTB_TICK_MARK)
		return 0;
	memcpy(&tick_ns, &bits, sizeof(tick_ns));
	return tick_ns;
}

/*
 * Replace characters that the viewer misreads.  It splits a name at a parenthesis, and treats
 * underscores as menu keys.
 */
static char printable(char byte)
{
	switch (byte) {
	case '(':
		return '[';
	case ')':
		return ']';
	case '_':
		return '-';
	default:
		return byte < 0x20 || byte > 0x7E ? '?' : byte;
	}
}

void px_txtb_object_init(struct px_txtb_object *object, enum px_txtb_object_type type,
			 uint32_t handle, uint32_t priority, const char *name)
{
	memset(object, 0, sizeof(*object));
	object->type = (uint8_t)type;
	object->handle = handle;
	if (type == PX_TXTB_THREAD) {
		object->priority_high = (uint8_t)(0x80 | (priority >> 8 & 3));
		object->priority_low = (uint8_t)priority;
	}
	for (size_t i = 0; i < sizeof(object->name) && name[i]; i++)
		object->name[i] = printable(name[i]);
	if (!object->name[0])
		object->name[0] = '?'; /* the viewer shows an empty name as "Non-ASCII Name" */
}
