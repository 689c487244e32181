/* SPDX-License-Identifier: MIT */
/*
 * The table is sorted by the first address of the symbols.  Symbols may lie inside others, so the search goes back from
 * the last symbol that begins at or before the address, as long as a symbol before may reach it: each entry has the
 * end of the one that reaches farthest, up to and with itself.
 */
#include "trace/symtab.h"

#include <stdlib.h>

#include "base/memory.h"

struct entry {
	uint64_t first, end; /* end of a symbol without a size: that of its section */
	uint64_t reach;	     /* the greatest end of symbols with a size, of this entry and all before it */
	const char *name;
	uint32_t number; /* in the table of the file */
	uint8_t rank;	 /* global: 3, weak: 2, local: 1, other: 0 */
	bool is_seen;	 /* other files can see it */
	bool has_size, is_function;
};

struct symtab {
	struct entry *entry;
	size_t nr;
};

static uint8_t rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	default:
		return 0;
	}
}

static bool is_place(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_SECTION:
	case STT_FILE:
	case STT_TLS:
		return false;
	default:
		return symbol->st_shndx != SHN_UNDEF;
	}
}

/* Return the end of the section of a symbol, whose file has this distance from its own addresses. */
static uint64_t end_of_section(Elf *elf, GElf_Word number, GElf_Addr bias)
{
	Elf_Scn *section = elf && number < SHN_LORESERVE ? elf_getscn(elf, number) : NULL;
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) ? header.sh_addr + header.sh_size + bias : 0;
}

static bool read_entry(Dwfl_Module *module, int number, int first_global, struct entry *entry)
{
	GElf_Word section;
	GElf_Addr address, bias;
	GElf_Sym symbol;
	Elf *elf;
	const char *name = dwfl_module_getsym_info(module, number, &symbol, &address, &section, &elf, &bias);

	if (!name || !*name || !is_place(&symbol))
		return false;
	*entry = (struct entry){.first = address,
				.end = symbol.st_size > 0 ? address + symbol.st_size :
							    end_of_section(elf, section, bias),
				.name = name,
				.number = (uint32_t)number,
				.rank = rank_of(&symbol),
				.is_seen = first_global < 0 || number >= first_global,
				.has_size = symbol.st_size > 0,
				.is_function = GELF_ST_TYPE(symbol.st_info) == STT_FUNC};
	return entry->has_size || entry->is_function || entry->is_seen;
}

static int compare(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->first != other->first)
		return one->first < other->first ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

struct symtab *symtab_new(Dwfl_Module *module)
{
	struct symtab *symtab = must(calloc(1, sizeof(*symtab)));
	int nr = dwfl_module_getsymtab(module), first_global = dwfl_module_getsymtab_first_global(module);
	uint64_t reach = 0;

	if (nr <= 0)
		return symtab;
	symtab->entry = must(calloc((size_t)nr, sizeof(*symtab->entry)));
	for (int i = 0; i < nr; i++)
		symtab->nr += read_entry(module, i, first_global, &symtab->entry[symtab->nr]);
	qsort(symtab->entry, symtab->nr, sizeof(*symtab->entry), compare);
	for (size_t i = 0; i < symtab->nr; i++) {
		struct entry *entry = &symtab->entry[i];

		if (entry->has_size && entry->end > reach)
			reach = entry->end;
		entry->reach = reach;
	}
	return symtab;
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->entry);
	free(symtab);
}

/* Return true if an address belongs to `one`.  Both have a size, and contain it. */
static bool is_better(const struct entry *one, const struct entry *other)
{
	if (one->is_seen != other->is_seen)
		return one->is_seen;
	if (one->first != other->first)
		return one->first > other->first;
	if (one->rank != other->rank)
		return one->rank > other->rank;
	if (one->end != other->end)
		return one->end < other->end;
	return one->number < other->number;
}

/* Return how many symbols begin at or before the address. */
static size_t count_until(const struct symtab *symtab, uint64_t address)
{
	size_t low = 0, high = symtab->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symtab->entry[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A label inside a function is local, has no type, and is not among the entries. */
static bool is_in_unsized(const struct entry *last, uint64_t address)
{
	return !last->has_size && last->is_function && last->reach <= last->first && last->end > address;
}

bool symtab_find(const struct symtab *symtab, uint64_t address, const char **name, uint64_t *offset)
{
	size_t nr = count_until(symtab, address);
	const struct entry *found = NULL;

	for (size_t i = nr; i > 0 && symtab->entry[i - 1].reach > address; i--) {
		const struct entry *entry = &symtab->entry[i - 1];

		if (entry->has_size && entry->end > address && (!found || is_better(entry, found)))
			found = entry;
	}
	if (!found && nr > 0 && is_in_unsized(&symtab->entry[nr - 1], address))
		found = &symtab->entry[nr - 1];
	if (!found)
		return false;
	*name = found->name;
	*offset = address - found->first;
	return true;
}
