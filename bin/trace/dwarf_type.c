/* SPDX-License-Identifier: MIT */
#include "trace/dwarf_type.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "trace/dwarf_members.h"

#define STEPS_MAX 50000000 /* entries that a search reads */
#define SCOPES_MAX 32	   /* levels of scopes around a type */

struct search {
	const char *name;
	bool is_struct, is_union; /* the kind that the reference names; neither: any kind */
	bool is_nested;		  /* look into functions and structures, too */
	bool is_declared;
	unsigned long nr_steps;
	Dwarf_Die found;
};

static bool has_kind(const struct search *search, int tag)
{
	bool is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;

	if (search->is_struct)
		return is_struct;
	if (search->is_union)
		return tag == DW_TAG_union_type;
	return is_struct || tag == DW_TAG_union_type || tag == DW_TAG_typedef || tag == DW_TAG_enumeration_type;
}

static bool is_scope(const struct search *search, int tag)
{
	if (tag == DW_TAG_namespace || tag == DW_TAG_module)
		return true;
	return search->is_nested && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
				     tag == DW_TAG_structure_type || tag == DW_TAG_class_type);
}

static bool is_it(struct search *search, Dwarf_Die *die)
{
	const char *name;
	Dwarf_Die type;

	if (!has_kind(search, dwarf_tag(die)))
		return false;
	name = dwarf_diename(die);
	if (!name || strcmp(name, search->name) != 0)
		return false;
	/* A typedef of a structure that is only declared here may lead to its definition in another unit. */
	if (!dwarf_members_complete(die, &type)) {
		search->is_declared = true;
		return false;
	}
	search->found = *die;
	return true;
}

static bool search_scope(struct search *search, Dwarf_Die *scope, unsigned int depth)
{
	Dwarf_Die die;
	int status = dwarf_child(scope, &die);

	for (; status == 0 && search->nr_steps < STEPS_MAX; status = dwarf_siblingof(&die, &die)) {
		search->nr_steps++;
		if (is_it(search, &die))
			return true;
		if (depth < SCOPES_MAX && is_scope(search, dwarf_tag(&die)) && search_scope(search, &die, depth + 1))
			return true;
	}
	return false;
}

static bool search_units(struct search *search, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (search->nr_steps < STEPS_MAX && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
		search->nr_steps++;
		if (search_scope(search, type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid ? &split : &die,
				 0))
			return true;
	}
	return false;
}

/* Use the description only if the parser gets the layout of the type from it. */
static bool is_right(const char *text, const struct px_fields_model *model, uint64_t size)
{
	struct px_fields_error error;
	struct px_fields *fields;
	bool is_right;

	if (px_fields_parse(text, strlen(text), model, &fields, &error) != 0)
		return false;
	is_right = fields->top && (fields->top->size == size || fields->top->last->is_rest);
	px_fields_free(fields);
	return is_right;
}

static enum dwarf_type_result describe(Dwarf_Die *die, const struct px_fields_model *model,
				      char text[PX_FIELDS_TEXT_MAX + 1], const char **why)
{
	uint64_t size;

	if (!dwarf_members_describe(die, model, text, &size, why))
		return DWARF_TYPE_UNFIT;
	if (is_right(text, model, size))
		return DWARF_TYPE_FOUND;
	*why = "has a layout that a description cannot have";
	return DWARF_TYPE_UNFIT;
}

enum dwarf_type_result dwarf_type_describe(Dwarf *dwarf, const char *reference, const struct px_fields_model *model,
					   char text[PX_FIELDS_TEXT_MAX + 1], const char **why)
{
	struct search search = {.name = reference};

	if (strncmp(reference, "struct ", strlen("struct ")) == 0)
		search = (struct search){.name = reference + strlen("struct "), .is_struct = true};
	else if (strncmp(reference, "union ", strlen("union ")) == 0)
		search = (struct search){.name = reference + strlen("union "), .is_union = true};
	if (search_units(&search, dwarf))
		return describe(&search.found, model, text, why);
	search.is_nested = true;
	search.nr_steps = 0;
	if (search_units(&search, dwarf))
		return describe(&search.found, model, text, why);
	return search.is_declared ? DWARF_TYPE_INCOMPLETE : DWARF_TYPE_ABSENT;
}
