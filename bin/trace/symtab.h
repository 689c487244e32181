/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a module, sorted by their addresses.  libdw has a function that finds the symbol of an address, but it
 * goes through all symbols for each address: 10 ms for a program with 100,000 of them.
 */
#ifndef TXTRACE_TRACE_SYMTAB_H
#define TXTRACE_TRACE_SYMTAB_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct symtab;

/* Read the symbols of a module.  They are valid as long as its session.  Never return NULL. */
struct symtab *symtab_new(Dwfl_Module *module);
void symtab_free(struct symtab *symtab);

/*
 * Find the symbol that contains the address, and the offset of the address in it.  Return false if there is none.  If
 * several symbols contain it, take one that other files can see, then the one that begins last, then that of the
 * stronger binding, then the smaller one, then the first one of the table.  A function without a size, as assembly code
 * has it, contains what follows it in its section, up to the next symbol.
 */
bool symtab_find(const struct symtab *symtab, uint64_t address, const char **name, uint64_t *offset);

#endif
