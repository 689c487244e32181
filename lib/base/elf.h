/* SPDX-License-Identifier: MIT */
/*
 * Find symbols in the tables of an object that is loaded into this process, such as the vDSO or the C library.
 * Async-signal-safe: the functions only read memory, and call nothing.
 */
#ifndef PX_BASE_ELF_H
#define PX_BASE_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct px_elf {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;     /* NULL: none */
	const uint32_t *hash;	      /* NULL: none */
	const ElfW(Half) * versions;  /* NULL: none */
	const unsigned char *version_definitions;
};

/* Return false if the object has no symbols.  dynamic is the address of its dynamic section. */
bool px_elf_open(struct px_elf *elf, uintptr_t base, const ElfW(Dyn) * dynamic);

/* Do the same as px_elf_open(), if only the ELF header of the object is known. */
bool px_elf_open_image(struct px_elf *elf, const ElfW(Ehdr) * header);

/*
 * Return the number of the first symbol with this name after the symbol `after`, or 0 if there is none.  The object may
 * have several versions of a symbol.  In the first call, `after` is 0.
 */
uint32_t px_elf_next(const struct px_elf *elf, const char *name, uint32_t after);

/*
 * symbol: the number of an entry in the symbol table.  Return true if this entry is the default version of its symbol,
 * or if the object has no versions.
 */
static inline bool px_elf_is_default(const struct px_elf *elf, uint32_t symbol)
{
	return !elf->versions || !(elf->versions[symbol] & 0x8000);
}

/* Return the default version of a function, or NULL if the object does not define it, or has several variants. */
void *px_elf_function(const struct px_elf *elf, const char *name);

#endif
