/* SPDX-License-Identifier: MIT */
#include "extract/header.h"

#include <string.h>

uint32_t header_word(const struct header *header, const unsigned char *at)
{
	return header->is_big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3] :
				(uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

const char *header_read(struct header *header, const unsigned char *bytes)
{
	uint32_t registry, buffer;

	header->is_big = memcmp(bytes, "TXTB", 4) == 0;
	header->mask = header_word(header, bytes + 4);
	header->base = header_word(header, bytes + 8);
	header->registry_start = header_word(header, bytes + 12);
	header->name_size = header->is_big ? (uint32_t)(bytes[18] << 8 | bytes[19]) :
					     (uint32_t)(bytes[19] << 8 | bytes[18]);
	header->registry_end = header_word(header, bytes + 20);
	header->buffer_start = header_word(header, bytes + 24);
	header->buffer_end = header_word(header, bytes + 28);
	header->current = header_word(header, bytes + 32);
	/* Differences of addresses: a buffer may even end at the top of the address space. */
	registry = header->registry_end - header->registry_start;
	buffer = header->buffer_end - header->buffer_start;
	if (header->name_size > HEADER_NAME_MAX)
		return "a name has more than 63 bytes";
	if (header->registry_start - header->base != HEADER_BYTES)
		return "the registry does not begin 48 bytes after the base";
	if (header->registry_end < header->registry_start)
		return "the registry ends before it begins";
	if (registry % (HEADER_OBJECT_BYTES + header->name_size) != 0)
		return "the registry is not a whole number of objects";
	if (header->buffer_start != header->registry_end)
		return "the entries do not begin where the registry ends";
	if (header->buffer_end <= header->buffer_start)
		return "the entries end before they begin";
	if (buffer % HEADER_ENTRY_BYTES != 0)
		return "the entries are not a whole number of 32 bytes";
	if (header->current - header->buffer_start > buffer ||
	    (header->current - header->buffer_start) % HEADER_ENTRY_BYTES != 0)
		return "the current entry is none of its entries";
	if (header->mask == 0)
		return "the time mask is 0";
	header->nr_objects = registry / (HEADER_OBJECT_BYTES + header->name_size);
	header->nr_slots = buffer / HEADER_ENTRY_BYTES;
	header->size = HEADER_BYTES + (uint64_t)registry + buffer;
	return NULL;
}
