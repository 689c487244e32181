/* SPDX-License-Identifier: MIT */
/*
 * The list of the dynamic linker contains all loaded objects.  This file reads the list without a call:
 * dl_iterate_phdr() takes a lock, and another object may define that function.  The list may change at the same time.
 * This does no harm, because the C library is never unloaded.
 */
#include "c_library.h"

#include <stddef.h>

#ifdef __GLIBC__

static bool is_c_library(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return px_c_library_begins_with(name, "libc.so") || px_c_library_begins_with(name, "libpthread.so") ||
	       px_c_library_begins_with(name, "librt.so");
}

void px_c_library_open(struct px_c_library *library)
{
	library->nr = 0;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (library->nr < PX_C_LIBRARIES_MAX && map->l_name && is_c_library(map->l_name) &&
		    px_elf_open(&library->part[library->nr], map->l_addr, map->l_ld))
			library->nr++;
}

#else

void px_c_library_open(struct px_c_library *library)
{
	library->nr = 0;
}

#endif

void *px_c_library_function(const struct px_c_library *library, const char *name)
{
	void *found = NULL;

	for (int i = 0; i < library->nr && !found; i++)
		found = px_elf_function(&library->part[i], name);
	return found;
}
