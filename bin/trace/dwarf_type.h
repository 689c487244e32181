/* SPDX-License-Identifier: MIT */
/*
 * Types of a program, from its debugging information, as descriptions (lib/fields/fields.h): struct order becomes
 * "u32 id; pad 4; f64 load; char name[24]".  The description has the short form, with each gap as pad, so that it needs
 * no knowledge of the machine.
 *
 * The debugging information is untrusted: the functions end after a bounded number of steps, and use a description only
 * if it has the size of the type.
 */
#ifndef TXTRACE_TRACE_DWARF_TYPE_H
#define TXTRACE_TRACE_DWARF_TYPE_H

#include <stddef.h>

#include "../lib/fields/fields.h"

typedef struct Dwarf Dwarf;

enum dwarf_type_result {
	DWARF_TYPE_FOUND,
	DWARF_TYPE_ABSENT,
	DWARF_TYPE_INCOMPLETE, /* there are only declarations of it */
	DWARF_TYPE_UNFIT       /* it cannot be described */
};

/*
 * Find the type of a reference ("struct order", "order_t") in a program for the machine of this model.  After
 * DWARF_TYPE_FOUND, text is its description, with a null byte.  After DWARF_TYPE_UNFIT, *why is the reason, as a
 * sentence about the type without its subject.
 */
enum dwarf_type_result dwarf_type_describe(Dwarf *dwarf, const char *reference, const struct px_fields_model *model,
					   char text[PX_FIELDS_TEXT_MAX + 1], const char **why);

#endif
