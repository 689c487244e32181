/* SPDX-License-Identifier: MIT */
/*
 * What a trace records about the wrappers: whether the C library has each function, which version, and whether
 * another object wraps it too.  Our constructor finds this for all wrappers at once in the symbol tables that the
 * dynamic loader uses.  dladdr() would read such a table from beginning to end for each address, which takes
 * milliseconds in total, and does not return versions.
 */
#include "hook.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#ifdef __GLIBC__

static struct px_wrapper_row rows[PX_WRAPPERS] = {
#define PX_WRAPPER(symbol, call) {PX_WRAPPER_MISSING, PX_CALL_##call, #symbol, ""},
#include "wrappers.def"
};

static void *const *const reals[PX_WRAPPERS] = {
#define PX_WRAPPER(symbol, call) (void *const *)&px_real.symbol,
#include "wrappers.def"
};

/* The tables of a library. */
struct library {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;
	const ElfW(Half) * versions;
	const unsigned char *definitions; /* version definitions */
};

/* If the dynamic section is read-only, its addresses are relative to the base. */
static const void *address_of(uintptr_t base, const ElfW(Dyn) * entry)
{
	ElfW(Addr) address = entry->d_un.d_ptr;

	return (const void *)(address < base ? address + base : address);
}

static void read_library(uintptr_t base, const ElfW(Dyn) * entry, struct library *library)
{
	*library = (struct library){.base = base};
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *address = address_of(base, entry);

		if (entry->d_tag == DT_SYMTAB)
			library->symbols = address;
		else if (entry->d_tag == DT_STRTAB)
			library->strings = address;
		else if (entry->d_tag == DT_GNU_HASH)
			library->hash = address;
		else if (entry->d_tag == DT_VERSYM)
			library->versions = address;
		else if (entry->d_tag == DT_VERDEF)
			library->definitions = address;
	}
}

static void put_version(const struct library *library, uint32_t symbol, char version[24])
{
	const unsigned char *at = library->definitions;
	uint32_t number = library->versions ? library->versions[symbol] & 0x7FFF : 0;

	while (at && number > 0) {
		const ElfW(Verdef) *definition = (const void *)at;
		const ElfW(Verdaux) *name = (const void *)(at + definition->vd_aux);

		if ((definition->vd_ndx & 0x7FFF) == number) {
			memset(version, 0, 24);
			strncpy(version, library->strings + name->vda_name, 23);
			return;
		}
		at = definition->vd_next > 0 ? at + definition->vd_next : NULL;
	}
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/*
 * Find the version of `function`.  A library may have several symbols of a name in a row: prefer the default
 * version.
 */
static bool find_version(const struct library *library, const char *name, uintptr_t function,
			 char version[24])
{
	const uint32_t *hash = library->hash;
	const ElfW(Addr) *filter = (const void *)(hash + 4);
	const uint32_t *buckets = (const void *)(filter + hash[2]);
	const uint32_t *chain = buckets + hash[0];
	uint32_t wanted = hash_of(name), i = buckets[wanted % hash[0]];
	bool is_found = false;

	for (bool is_last = i < hash[1]; !is_last; i++) {
		const ElfW(Sym) *symbol = &library->symbols[i];
		uint32_t found = chain[i - hash[1]];

		is_last = found & 1;
		if ((found | 1) != (wanted | 1) || library->base + symbol->st_value != function ||
		    strcmp(library->strings + symbol->st_name, name) != 0)
			continue;
		if (!is_found || !(library->versions && library->versions[i] & 0x8000))
			put_version(library, i, version);
		is_found = true;
	}
	return is_found;
}

/* Before glibc 2.34, threads and timers were in separate libraries. */
static bool is_c_library(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libpthread.so", 13) == 0 ||
	       strncmp(name, "librt.so", 8) == 0;
}

static void find_versions(const struct library *library)
{
	for (unsigned int i = 0; i < PX_WRAPPERS; i++) {
		uintptr_t function = (uintptr_t)*reals[i];

		if (rows[i].state == PX_WRAPPER_FOREIGN &&
		    find_version(library, rows[i].symbol, function, rows[i].version))
			rows[i].state = PX_WRAPPER_INSTALLED;
	}
}

static int inspect_library(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct library library;

	(void)size;
	(void)argument;
	if (!is_c_library(info->dlpi_name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		read_library(info->dlpi_addr,
			     (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
			     &library);
		if (library.hash && library.symbols && library.strings)
			find_versions(&library);
	}
	return 0;
}

static const struct px_wrapper_row *get_rows(uint32_t *nr_rows)
{
	*nr_rows = PX_WRAPPERS;
	return rows;
}

/* Runs after the constructor that looks up the real functions. */
__attribute__((constructor(102))) static void begin(void)
{
	for (unsigned int i = 0; i < PX_WRAPPERS; i++)
		rows[i].state = *reals[i] ? PX_WRAPPER_FOREIGN : PX_WRAPPER_MISSING;
	dl_iterate_phdr(inspect_library, NULL);
	px_callpoint_rows = get_rows;
}

#endif
