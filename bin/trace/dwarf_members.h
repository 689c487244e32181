/* SPDX-License-Identifier: MIT */
/* Write the description of a type of the debugging information; dwarf_type.h finds the type. */
#ifndef TXTRACE_TRACE_DWARF_MEMBERS_H
#define TXTRACE_TRACE_DWARF_MEMBERS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "../lib/fields/fields.h"

/* Get the type behind typedefs and qualifiers.  Return false if it has no definition here. */
bool dwarf_members_complete(Dwarf_Die *die, Dwarf_Die *type);

/*
 * Write the description of a type for this machine, with a null byte, and the size of the type in bytes.  Return false
 * if it cannot be described; *why is then the reason.
 */
bool dwarf_members_describe(Dwarf_Die *die, const struct px_fields_model *model, char text[PX_FIELDS_TEXT_MAX + 1],
			    uint64_t *size, const char **why);

#endif
