/* SPDX-License-Identifier: MIT */
/*
 * The data about wrappers that a trace records: their calls, whether the C library has the function, the version of the
 * function, and whether another object wraps it too.  Our constructor finds these data for all wrappers at once, in
 * the symbol tables that the dynamic loader uses.  dladdr() would not return versions.  It would also read such a table
 * from beginning to end for each address, which takes milliseconds in total.
 */
#include "c_library.h"
#include "hook.h"

#include <string.h>

static const struct px_callpoint_also also[] = {
#define PX_WRAPPER(symbol, call)
#define PX_ALSO(symbol, call, other) {PX_WRAPPER_##symbol, PX_CALL_##call, PX_CALL_##other},
#include "wrappers.def"
};

#ifdef __GLIBC__

static struct px_wrapper_row rows[PX_WRAPPERS] = {
#define PX_WRAPPER(symbol, call) {PX_WRAPPER_MISSING, PX_CALL_##call, #symbol, ""},
#include "wrappers.def"
};

static void *const *const reals[PX_WRAPPERS] = {
#define PX_WRAPPER(symbol, call) (void *const *)&px_real.symbol,
#include "wrappers.def"
};

static void put_version(const struct px_elf *library, uint32_t symbol, char version[24])
{
	const unsigned char *at = library->version_definitions;
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

/*
 * Find the version of `function`.  A library may have several symbols with this name.  Prefer the default version.
 */
static bool find_version(const struct px_elf *library, const char *name, uintptr_t function,
			 char version[24])
{
	bool is_found = false;

	for (uint32_t i = 0; (i = px_elf_next(library, name, i)) != 0;) {
		if (library->base + library->symbols[i].st_value != function)
			continue;
		if (!is_found || px_elf_is_default(library, i))
			put_version(library, i, version);
		is_found = true;
	}
	return is_found;
}

static void find_versions(const struct px_elf *library)
{
	for (unsigned int i = 0; i < PX_WRAPPERS; i++) {
		if (rows[i].state == PX_WRAPPER_FOREIGN &&
		    find_version(library, rows[i].symbol, (uintptr_t)*reals[i], rows[i].version))
			rows[i].state = PX_WRAPPER_INSTALLED;
	}
}

static const struct px_wrapper_row *get_rows(uint32_t *nr_rows)
{
	*nr_rows = PX_WRAPPERS;
	return rows;
}

static void find_rows(void)
{
	struct px_c_library library;

	for (unsigned int i = 0; i < PX_WRAPPERS; i++)
		if (reals[i])
			rows[i].state = *reals[i] ? PX_WRAPPER_FOREIGN : PX_WRAPPER_MISSING;
	px_c_library_open(&library);
	for (int i = 0; i < library.nr; i++)
		find_versions(&library.part[i]);
	px_callpoint_rows = get_rows;
}

#else

static void find_rows(void)
{
}

#endif

/* This constructor runs after the constructor that looks up the real functions. */
__attribute__((constructor(102))) static void begin(void)
{
	px_callpoint_also = also;
	px_callpoint_nr_also = PX_ARRAY_SIZE(also);
	find_rows();
}
