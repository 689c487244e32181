/* SPDX-License-Identifier: MIT */
/*
 * The symbol of an address (bin/trace/symtab.h): of symbols inside others, at one address, and without a size; and for
 * all symbols of this program and of its libraries as a search through all of them finds it.
 */
#include "support/common.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/message.h"
#include "trace/symtab.h"

/* For bin/base/memory.c, which then ends the process. */
void message(const char *format, ...)
{
	(void)format;
}

/* Thumb code has odd addresses, so there these would not be where they are written. */
#if !defined(__arm__)
#define HAVE_PLACES 1
#define SIZED(name, bytes) ".size " #name ", " #bytes "\n"
__asm__(".pushsection .px_symtab, \"ax\", %progbits\n"
	".balign 16\n"
	".globl px_outer, px_inner, px_alias, px_unsized, px_untyped, px_last\n"
	".weak px_weak\n"
	".type px_outer, %function\n"
	".type px_inner, %function\n"
	".type px_alias, %function\n"
	".type px_weak, %function\n"
	".type px_hidden, %function\n"
	".type px_unsized, %function\n"
	".type px_last, %function\n"
	"px_outer: .skip 16\n"
	"px_inner: .skip 16\n"
	"px_weak:\n"
	"px_alias: .skip 16\n"
	"px_hidden: .skip 16\n"
	"px_unsized: .skip 8\n"
	"px_label: .skip 8\n"
	"px_untyped: .skip 16\n"
	"px_last: .skip 16\n"
	".popsection\n"
	SIZED(px_outer, 64) SIZED(px_inner, 16) SIZED(px_weak, 8) SIZED(px_alias, 16) SIZED(px_hidden, 16));
extern const char px_outer[];

/* What is found at each distance from px_outer. */
static const struct {
	unsigned int at;
	const char *name;
	unsigned int offset;
} places[] = {
	{0, "px_outer", 0},    {15, "px_outer", 15}, {16, "px_inner", 0},
	{31, "px_inner", 15},  {32, "px_alias", 0}, /* stronger than px_weak, which is smaller */
	{47, "px_alias", 15},  {48, "px_outer", 48}, /* no other file can see px_hidden, which is inside */
	{63, "px_outer", 63},  {64, "px_unsized", 0}, {79, "px_unsized", 15}, /* the label is part of it */
	{80, NULL, 0},	       {95, NULL, 0}, /* px_untyped may be data */
	{96, "px_last", 0},    {111, "px_last", 15},
};
#endif

static Dwfl *own_modules(void)
{
	static char *path;
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo,
						 .debuginfo_path = &path};
	Dwfl *session = dwfl_begin(&callbacks);

	ck_assert_ptr_nonnull(session);
	dwfl_report_begin(session);
	ck_assert_int_eq(dwfl_linux_proc_report(session, getpid()), 0);
	ck_assert_int_eq(dwfl_report_end(session, NULL, NULL), 0);
	return session;
}

#ifdef HAVE_PLACES
START_TEST(symbols_in_and_beside_others)
{
	Dwfl *session = own_modules();
	Dwfl_Module *module = dwfl_addrmodule(session, (uintptr_t)px_outer);
	struct symtab *symtab = symtab_new(module);

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *name = NULL;
		uint64_t offset = 0;
		bool is_found = symtab_find(symtab, (uintptr_t)px_outer + places[i].at, &name, &offset);

		ck_assert_msg(is_found == (places[i].name != NULL), "at %u: %s", places[i].at,
			      is_found ? name : "none");
		if (!is_found)
			continue;
		ck_assert_str_eq(name, places[i].name);
		ck_assert_uint_eq(offset, places[i].offset);
	}
	symtab_free(symtab);
	dwfl_end(session);
}
END_TEST
#endif

/* One symbol with a size, as libdw tells it. */
struct told {
	const char *name;
	uint64_t first, size;
	int binding;
	bool is_seen;
};

static struct told *told;
static int nr_told;

static void tell(Dwfl_Module *module)
{
	int nr = dwfl_module_getsymtab(module), first_global = dwfl_module_getsymtab_first_global(module);

	nr_told = 0;
	told = calloc((size_t)(nr > 0 ? nr : 1), sizeof(*told));
	ck_assert_ptr_nonnull(told);
	for (int i = 0; i < nr; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		int type = GELF_ST_TYPE(symbol.st_info);

		if (name && *name && symbol.st_size > 0 && symbol.st_shndx != SHN_UNDEF && type != STT_TLS &&
		    type != STT_SECTION && type != STT_FILE)
			told[nr_told++] = (struct told){name, address, symbol.st_size, GELF_ST_BIND(symbol.st_info),
							i >= first_global};
	}
}

/* Return the sized symbol to which the address belongs, by the rules of symtab.h, each of which takes some away. */
static const struct told *search(uint64_t address)
{
	static const int bindings[] = {STB_GLOBAL, STB_WEAK, STB_LOCAL};
	uint64_t last = 0, smallest = UINT64_MAX;
	bool any_seen = false;

	for (int i = 0; i < nr_told; i++)
		any_seen |= address - told[i].first < told[i].size && told[i].is_seen;
	for (int i = 0; i < nr_told; i++)
		if (address - told[i].first < told[i].size && told[i].is_seen == any_seen && told[i].first > last)
			last = told[i].first;
	for (size_t k = 0; k < sizeof(bindings) / sizeof(bindings[0]); k++) {
		const struct told *found = NULL;

		for (int i = 0; i < nr_told; i++) {
			if (told[i].first == last && address - last < told[i].size && told[i].is_seen == any_seen &&
			    told[i].binding == bindings[k] && told[i].size < smallest) {
				smallest = told[i].size;
				found = &told[i];
			}
		}
		if (found)
			return found;
	}
	return NULL;
}

static void compare(const struct symtab *symtab, uint64_t address)
{
	const struct told *wanted = search(address);
	const char *name = NULL;
	uint64_t offset = 0;
	bool is_found = symtab_find(symtab, address, &name, &offset);

	if (!wanted)
		return; /* a function without a size, or none */
	ck_assert_msg(is_found && strcmp(name, wanted->name) == 0, "%#jx: %s, not %s", (uintmax_t)address,
		      is_found ? name : "none", wanted->name);
	ck_assert_uint_eq(offset, address - wanted->first);
}

/* Some hundred symbols of each module, because a search goes through all of them. */
static int compare_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, void *argument)
{
	struct symtab *symtab = symtab_new(module);
	int step;

	(void)data, (void)name, (void)base;
	tell(module);
	step = nr_told / 200 + 1;
	for (int i = 0; i < nr_told; i += step) {
		compare(symtab, told[i].first);
		compare(symtab, told[i].first + told[i].size / 2);
		compare(symtab, told[i].first + told[i].size - 1);
		compare(symtab, told[i].first + told[i].size);
		compare(symtab, told[i].first - 1);
		++*(int *)argument;
	}
	free(told);
	symtab_free(symtab);
	return DWARF_CB_OK;
}

START_TEST(all_modules_as_a_search_through_them)
{
	Dwfl *session = own_modules();
	int nr = 0;

	ck_assert_int_eq(dwfl_getmodules(session, compare_module, &nr, 0), 0);
	ck_assert_int_gt(nr, 200);
	dwfl_end(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symtab");
	TCase *tcase = tcase_create("symbols");

#ifdef HAVE_PLACES
	tcase_add_test(tcase, symbols_in_and_beside_others);
#endif
	tcase_add_test(tcase, all_modules_as_a_search_through_them);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
