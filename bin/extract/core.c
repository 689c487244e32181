/* SPDX-License-Identifier: MIT */
/*
 * The table of segments of an ELF core file, of any processor.  It is read in sequence, because the file may be a pipe;
 * libelf needs a file.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "extract/segments.h"

struct core {
	bool is_64, is_big;
};

static uint64_t number(const struct core *core, const unsigned char *at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | at[core->is_big ? i : size - 1 - i];
	return value;
}

#define FIELD(core, bytes, type, member)                                                                        \
	((core)->is_64 ? number(core, (bytes) + offsetof(Elf64_##type, member), sizeof(((Elf64_##type *)0)->member)) : \
			 number(core, (bytes) + offsetof(Elf32_##type, member), sizeof(((Elf32_##type *)0)->member)))

bool core_is(const unsigned char *bytes, size_t size)
{
	struct core core = {.is_big = size > EI_DATA && bytes[EI_DATA] == ELFDATA2MSB};

	return size >= sizeof(Elf32_Ehdr) && memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
	       number(&core, bytes + offsetof(Elf32_Ehdr, e_type), 2) == ET_CORE;
}

/* The number of segments of a file with more than 65534 is in the first section. */
static uint64_t count(const struct core *core, const unsigned char *header, struct stream *stream)
{
	uint64_t nr = FIELD(core, header, Ehdr, e_phnum);
	uint64_t sections = FIELD(core, header, Ehdr, e_shoff);
	size_t size = core->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	unsigned char section[sizeof(Elf64_Shdr)];

	if (nr != PN_XNUM || !stream->is_seekable || sections == 0)
		return nr;
	if (!stream_seek(stream, sections) || stream_read(stream, section, size) < size)
		return nr;
	return FIELD(core, section, Shdr, sh_info);
}

static void take_segment(const struct core *core, struct segments *segments, const unsigned char *bytes)
{
	struct segment *segment = &segments->segment[segments->nr];
	uint64_t physical = FIELD(core, bytes, Phdr, p_paddr);

	if (FIELD(core, bytes, Phdr, p_type) != PT_LOAD)
		return;
	segment->address = FIELD(core, bytes, Phdr, p_vaddr);
	segment->offset = FIELD(core, bytes, Phdr, p_offset);
	segment->size = FIELD(core, bytes, Phdr, p_filesz);
	/* A dump of a machine's memory without page tables has only physical addresses. */
	if (segment->address == 0)
		segment->address = physical;
	segments->nr++;
}

const char *core_read(struct segments *segments, struct stream *stream)
{
	unsigned char header[sizeof(Elf64_Ehdr)] = {0}, bytes[256];
	struct core core;
	uint64_t nr, entry_size, start = stream->position;
	size_t size, least;

	memset(segments, 0, sizeof(*segments));
	if (stream_read(stream, header, sizeof(Elf32_Ehdr)) < sizeof(Elf32_Ehdr))
		return "the ELF header is not complete";
	core.is_64 = header[EI_CLASS] == ELFCLASS64;
	core.is_big = header[EI_DATA] == ELFDATA2MSB;
	size = core.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	least = core.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (size > sizeof(Elf32_Ehdr) &&
	    stream_read(stream, header + sizeof(Elf32_Ehdr), size - sizeof(Elf32_Ehdr)) < size - sizeof(Elf32_Ehdr))
		return "the ELF header is not complete";
	nr = count(&core, header, stream);
	entry_size = FIELD(&core, header, Ehdr, e_phentsize);
	if (nr == 0 || nr > SEGMENTS_MAX || entry_size < least || entry_size > sizeof(bytes))
		return "the table of segments is damaged";
	if (!stream_seek(stream, start + FIELD(&core, header, Ehdr, e_phoff)))
		return "the table of segments cannot be reached";
	segments->segment = must(calloc(nr, sizeof(*segments->segment)));
	for (uint64_t i = 0; i < nr && stream_read(stream, bytes, entry_size) == entry_size; i++)
		take_segment(&core, segments, bytes);
	return segments->nr > 0 ? NULL : "it has no segment of memory";
}
