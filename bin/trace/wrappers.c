/* SPDX-License-Identifier: MIT */
#include "trace/wrappers.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "trace/calltable.h"
#include "trace/elffile.h"

/* The wrappers of the preloaded object, with the group of each call. */

static const struct {
	const char *symbol, *call;
} wrappers[] = {
#define PX_WRAPPER(symbol, call) {#symbol, #call},
#include "../preload/wrappers.def"
};

const size_t nr_wrappers = sizeof(wrappers) / sizeof(wrappers[0]);

bool wrapper_is_lock(const char *symbol)
{
	static const char *const families[] = {"pthread_", "mtx_", "cnd_"};

	if (!strstr(symbol, "lock") && !strstr(symbol, "wait"))
		return false;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(symbol, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

struct wrapper wrapper_get(size_t i)
{
	const char *group = calltable_find(wrappers[i].call)->group;
	const char *symbol = wrappers[i].symbol;

	return (struct wrapper){
		.symbol = symbol,
		.call = wrappers[i].call,
		.group = group,
		.is_usual = strcmp(group, "heap") != 0 && strcmp(group, "signal") != 0,
		.is_lock = wrapper_is_lock(symbol),
	};
}

/* Files. */

/* Return true for a library to skip, because its calls are not calls of the program. */
static bool is_passed_over(const char *name)
{
	static const char *const beginnings[] = {
		"libc.so",    "ld-",	    "libpthread.so",	"librt.so",
		"libdl.so",   "libm.so",    "libanl.so",	"libresolv.so",
		"linux-vdso", "linux-gate", "libposixtrace.so", "libtxtrace-preload.so",
		"libasan.so", "libtsan.so", "libubsan.so"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static size_t find_wrapper(const char *symbol)
{
	size_t i = 0;

	while (i < nr_wrappers && strcmp(wrappers[i].symbol, symbol) != 0)
		i++;
	return i;
}

static void add_symbol(struct imports *imports, size_t file, const struct elffile_symbol *symbol)
{
	size_t wrapper = find_wrapper(symbol->name);

	if (wrapper < nr_wrappers && !symbol->is_defined)
		imports->takes[file * nr_wrappers + wrapper] = true;
	else if (wrapper < nr_wrappers && file == 0)
		imports->defines[wrapper] = true;
	if (symbol->is_defined)
		return;
	if (strcmp(symbol->name, "syscall") == 0 && !imports->calls_system)
		imports->calls_system = imports->file[file];
	if (strcmp(symbol->name, "dlopen") == 0)
		imports->opens_libraries = true;
}

/*
 * Return the language of a program, "Go" or "Rust", if a section in the file shows the language.  Return NULL for any
 * other program.
 */
static const char *language_of(const struct elffile *elf)
{
	size_t size;
	const void *comment;

	if (elffile_section(elf, ".go.buildinfo", &size) ||
	    elffile_section(elf, ".note.go.buildid", &size))
		return "Go";
	comment = elffile_section(elf, ".comment", &size);
	return comment && memmem(comment, size, "rustc", strlen("rustc")) ? "Rust" : NULL;
}

static void make_room(struct imports *imports)
{
	if (imports->nr_files < imports->room)
		return;
	imports->room = imports->room ? 2 * imports->room : 16;
	imports->file = must(reallocarray(imports->file, imports->room, sizeof(char *)));
	imports->takes = must(reallocarray(imports->takes, imports->room, nr_wrappers));
	if (!imports->defines)
		imports->defines = must(calloc(nr_wrappers, 1));
}

void imports_add(struct imports *imports, const char *path)
{
	struct elffile_symbol symbol;
	struct elffile elf;
	size_t i = 0, file = imports->nr_files;

	if ((file > 0 && is_passed_over(name_of(path))) || !elffile_open(&elf, path))
		return;
	make_room(imports);
	imports->nr_files++;
	imports->file[file] = must(strdup(name_of(path)));
	memset(imports->takes + file * nr_wrappers, 0, nr_wrappers);
	while (elffile_next_symbol(&elf, &i, &symbol))
		add_symbol(imports, file, &symbol);
	if (file == 0)
		imports->language = language_of(&elf);
	elffile_close(&elf);
}

bool imports_has(const struct imports *imports, size_t file, size_t wrapper)
{
	return imports->takes[file * nr_wrappers + wrapper];
}

bool imports_has_any(const struct imports *imports, size_t wrapper)
{
	for (size_t i = 0; i < imports->nr_files; i++)
		if (imports_has(imports, i, wrapper))
			return true;
	return false;
}

void imports_free(struct imports *imports)
{
	for (size_t i = 0; i < imports->nr_files; i++)
		free(imports->file[i]);
	free(imports->file);
	free(imports->takes);
	free(imports->defines);
	*imports = (struct imports){0};
}
