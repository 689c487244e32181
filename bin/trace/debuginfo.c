/* SPDX-License-Identifier: MIT */
#include "trace/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/symtab.h"

struct debuginfo_module {
	struct debuginfo_module *next;
	Dwfl_Module *dwfl;
	struct symtab *symtab; /* NULL: not read yet */
};

struct debuginfo {
	Dwfl *session;
	struct debuginfo_module *first;
};

/* A callback of libdw: return a descriptor of the separate file, or -1, and store its path. */
static int find_local(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
		      const char *link, GElf_Word sum, char **found)
{
	char path[256] = "/usr/lib/debug/.build-id/";
	const unsigned char *id;
	GElf_Addr address;
	int fd, size = dwfl_module_build_id(module, &id, &address);
	size_t length = strlen(path);

	(void)user, (void)name, (void)base, (void)file, (void)link, (void)sum;
	if (size < 2 || size > 64)
		return -1;
	for (int i = 0; i < size; i++)
		length += (size_t)snprintf(path + length, sizeof(path) - length, i == 0 ? "%02x/" : "%02x", id[i]);
	snprintf(path + length, sizeof(path) - length, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		*found = must(strdup(path));
	return fd;
}

struct debuginfo *debuginfo_new(bool is_local)
{
	static char *path; /* directory in which distributions put files with debug information */
	static const Dwfl_Callbacks anywhere = {.find_elf = dwfl_build_id_find_elf,
						.find_debuginfo = dwfl_standard_find_debuginfo,
						.debuginfo_path = &path};
	static const Dwfl_Callbacks local = {.find_elf = dwfl_build_id_find_elf, .find_debuginfo = find_local};
	struct debuginfo *info = must(calloc(1, sizeof(*info)));

	info->session = must(dwfl_begin(is_local ? &local : &anywhere));
	return info;
}

void debuginfo_free(struct debuginfo *info)
{
	if (!info)
		return;
	for (struct debuginfo_module *module = info->first, *next; module; module = next) {
		next = module->next;
		symtab_free(module->symtab);
		free(module);
	}
	dwfl_end(info->session);
	free(info);
}

static bool has_build_id(Dwfl_Module *module, const char *build_id)
{
	const unsigned char *id;
	GElf_Addr address;
	int size = dwfl_module_build_id(module, &id, &address);

	if (strcmp(build_id, "-") == 0 || strlen(build_id) != 2 * (size_t)(size > 0 ? size : 0))
		return size <= 0 && strcmp(build_id, "-") == 0;
	for (int i = 0; i < size; i++) {
		char hex[3];

		snprintf(hex, sizeof(hex), "%02x", id[i]);
		if (strncmp(build_id + 2 * (size_t)i, hex, 2) != 0)
			return false;
	}
	return true;
}

enum debuginfo_state debuginfo_add(struct debuginfo *info, const char *path, uint64_t base,
				   const char *build_id, struct debuginfo_module **module)
{
	Dwfl_Module *found;
	GElf_Addr bias;

	dwfl_report_begin_add(info->session);
	found = dwfl_report_elf(info->session, path, path, -1, base, true);
	dwfl_report_end(info->session, NULL, NULL);
	if (!found || !dwfl_module_getelf(found, &bias))
		return DEBUGINFO_NONE;
	if (!has_build_id(found, build_id))
		return DEBUGINFO_CHANGED;
	*module = must(calloc(1, sizeof(**module)));
	(*module)->dwfl = found;
	(*module)->next = info->first;
	info->first = *module;
	return DEBUGINFO_FOUND;
}

bool debuginfo_symbol(struct debuginfo_module *module, uint64_t address, const char **name,
		      uint64_t *offset)
{
	if (!module->symtab)
		module->symtab = symtab_new(module->dwfl);
	return symtab_find(module->symtab, address, name, offset);
}

/*
 * Return true if the scope is posix_trace_event().  A header defines this function inline, so the compiler puts its
 * body into the caller.
 */
static bool is_trace_point(Dwarf_Die *scope)
{
	const char *name = dwarf_diename(scope);

	return dwarf_tag(scope) == DW_TAG_inlined_subroutine && name &&
	       strcmp(name, "__posix_trace_point") == 0;
}

static bool get_number(Dwarf_Die *scope, unsigned int name, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(scope, name, &attribute) && dwarf_formudata(&attribute, number) == 0;
}

/* If the address is in an inlined posix_trace_event(), find the source line of that call. */
static bool line_of_trace_point(Dwfl_Module *module, uint64_t address, const char **file, int *line)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
	int nr = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
	Dwarf_Word file_number, line_number;
	Dwarf_Files *files;
	bool found = false;
	size_t nr_files;

	for (int i = 0; i < nr; i++) {
		if (!is_trace_point(&scopes[i]) ||
		    !get_number(&scopes[i], DW_AT_call_line, &line_number) ||
		    !get_number(&scopes[i], DW_AT_call_file, &file_number) ||
		    dwarf_getsrcfiles(unit, &files, &nr_files) != 0 || file_number >= nr_files)
			continue;
		*file = dwarf_filesrc(files, file_number, NULL, NULL);
		*line = (int)line_number;
		found = *file != NULL;
	}
	free(scopes);
	return found;
}

bool debuginfo_line(struct debuginfo_module *module, uint64_t address, const char **file, int *line)
{
	Dwfl_Line *found;

	if (line_of_trace_point(module->dwfl, address, file, line))
		return true;
	found = dwfl_module_getsrc(module->dwfl, address);
	if (!found)
		return false;
	*file = dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL);
	return *file != NULL;
}

enum dwarf_type_result debuginfo_type(struct debuginfo_module *module, const char *reference,
				      const struct px_fields_model *model, char *text, const char **why,
				      bool *has_types)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module->dwfl, &bias);

	*has_types = dwarf != NULL;
	return dwarf ? dwarf_type_describe(dwarf, reference, model, text, why) : DWARF_TYPE_ABSENT;
}

static void find_call(Dwarf_Die *unit, Dwarf_Die *scope, struct debuginfo_inline *found)
{
	Dwarf_Word file_number, line_number;
	Dwarf_Files *files;
	size_t nr_files;

	if (get_number(scope, DW_AT_call_line, &line_number) && get_number(scope, DW_AT_call_file, &file_number) &&
	    dwarf_getsrcfiles(unit, &files, &nr_files) == 0 && file_number < nr_files) {
		found->file = dwarf_filesrc(files, file_number, NULL, NULL);
		found->line = (int)line_number;
	}
}

static const char *name_of_scope(Dwarf_Die *scope)
{
	Dwarf_Attribute attribute;
	const char *name;

	if (dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute) && (name = dwarf_formstring(&attribute)))
		return name;
	return dwarf_diename(scope);
}

unsigned int debuginfo_inlines(struct debuginfo_module *module, uint64_t address,
			       struct debuginfo_inline inlines[DEBUGINFO_INLINES])
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module->dwfl, address, &bias), *scopes = NULL, innermost;
	int nr_scopes = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
	unsigned int nr = 0;

	if (nr_scopes <= 0)
		return 0;
	/* Around an inlined function, dwarf_getscopes() returns the scopes of its definition, not those of the code. */
	innermost = scopes[0];
	free(scopes);
	scopes = NULL;
	nr_scopes = dwarf_getscopes_die(&innermost, &scopes);
	for (int i = 0; i < nr_scopes && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
		const char *name = name_of_scope(&scopes[i]);

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine || !name || nr == DEBUGINFO_INLINES)
			continue;
		inlines[nr] = (struct debuginfo_inline){.name = name};
		find_call(unit, &scopes[i], &inlines[nr++]);
	}
	free(scopes);
	return nr;
}
