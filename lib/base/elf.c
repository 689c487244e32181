/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include <elf.h>
#include <stddef.h>

/*
 * Do not call functions of the C library: an object may wrap such a function, and this code also runs before the
 * initialisation of that object.
 */
static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* If the dynamic section is read-only, its addresses are relative to the base. */
static const void *address_of(uintptr_t base, const ElfW(Dyn) * entry)
{
	ElfW(Addr) address = entry->d_un.d_ptr;

	return (const void *)(address < base ? address + base : address);
}

bool px_elf_open(struct px_elf *elf, uintptr_t base, const ElfW(Dyn) * dynamic)
{
	*elf = (struct px_elf){.base = base};
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *address = address_of(base, dynamic);

		if (dynamic->d_tag == DT_SYMTAB)
			elf->symbols = address;
		else if (dynamic->d_tag == DT_STRTAB)
			elf->strings = address;
		else if (dynamic->d_tag == DT_GNU_HASH)
			elf->gnu_hash = address;
		else if (dynamic->d_tag == DT_HASH)
			elf->hash = address;
		else if (dynamic->d_tag == DT_VERSYM)
			elf->versions = address;
		else if (dynamic->d_tag == DT_VERDEF)
			elf->version_definitions = address;
	}
	return elf->symbols && elf->strings && (elf->gnu_hash || elf->hash);
}

bool px_elf_open_image(struct px_elf *elf, const ElfW(Ehdr) * header)
{
	const char *image = (const char *)header;
	const ElfW(Phdr) *segment = (const void *)(image + header->e_phoff);
	const ElfW(Dyn) *dynamic = NULL;
	uintptr_t base = 0;
	bool is_loaded = false;

	for (int i = 0; i < header->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && !is_loaded) {
			base = (uintptr_t)image + segment->p_offset - segment->p_vaddr;
			is_loaded = true;
		} else if (segment->p_type == PT_DYNAMIC) {
			dynamic = (const void *)(image + segment->p_offset);
		}
	}
	return is_loaded && dynamic && px_elf_open(elf, base, dynamic);
}

static bool is_named(const struct px_elf *elf, uint32_t symbol, const char *name)
{
	return elf->symbols[symbol].st_shndx != SHN_UNDEF &&
	       is_same(elf->strings + elf->symbols[symbol].st_name, name);
}

/*
 * Symbols of a bucket are stored one after the other.  If the lowest bit of a hash is 1, its symbol is the last of the
 * bucket.
 */
static uint32_t next_by_gnu_hash(const struct px_elf *elf, const char *name, uint32_t after)
{
	const uint32_t *hash = elf->gnu_hash;
	const ElfW(Addr) *filter = (const void *)(hash + 4);
	const uint32_t *buckets = (const void *)(filter + hash[2]);
	const uint32_t *chain = buckets + hash[0];
	uint32_t wanted = 5381, i;

	for (const char *at = name; *at; at++)
		wanted = wanted * 33 + (unsigned char)*at;
	i = buckets[wanted % hash[0]];
	for (bool is_last = i < hash[1]; !is_last; i++) {
		uint32_t found = chain[i - hash[1]];

		is_last = found & 1;
		if (i > after && (found | 1) == (wanted | 1) && is_named(elf, i, name))
			return i;
	}
	return 0;
}

uint32_t px_elf_next(const struct px_elf *elf, const char *name, uint32_t after)
{
	if (elf->gnu_hash)
		return next_by_gnu_hash(elf, name, after);
	for (uint32_t i = after + 1; i < elf->hash[1]; i++)
		if (is_named(elf, i, name))
			return i;
	return 0;
}

void *px_elf_function(const struct px_elf *elf, const char *name)
{
	for (uint32_t i = 0; (i = px_elf_next(elf, name, i)) != 0;) {
		const ElfW(Sym) *symbol = &elf->symbols[i];

		if (px_elf_is_default(elf, i))
			return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ?
				       (void *)(elf->base + symbol->st_value) :
				       NULL;
	}
	return NULL;
}
