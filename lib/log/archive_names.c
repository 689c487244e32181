/* SPDX-License-Identifier: MIT */
#include "log/archive_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool px_archive_names_begin(struct px_archive_names *names)
{
	if (!names->names)
		names->names = malloc(PX_EVENT_IDS * sizeof(*names->names));
	return names->names != NULL;
}

void px_archive_names_free(struct px_archive_names *names)
{
	free(names->names);
	free(names->descriptions);
	free(names->description);
}

void px_archive_names_add_name(struct px_archive_names *names, const struct px_log_name *from)
{
	struct px_log_name *name = &names->names[names->nr_names];

	if (from->id < PX_EVENT_USER_FIRST || from->id >= PX_EVENT_IDS || names->name_of[from->id])
		return; /* the object is damaged, or known */
	*name = *from;
	name->text[PX_NAME_MAX] = '\0';
	names->name_of[name->id] = (uint16_t)++names->nr_names;
}

/* Join the pieces of a description.  Return false if there is no memory.  A description that is too long is damaged. */
static bool add_description(struct px_archive_names *names, const struct px_log_name *piece)
{
	size_t length = strnlen(piece->text, sizeof(piece->text));

	if (!names->descriptions)
		names->descriptions = calloc(1, sizeof(*names->descriptions));
	if (!names->description)
		names->description = malloc(PX_FIELDS_TEXT_MAX);
	if (!names->descriptions || !names->description)
		return false;
	if (piece->id != names->described)
		names->description_bytes = 0;
	names->described = piece->id;
	if (length > PX_FIELDS_TEXT_MAX - names->description_bytes)
		names->description_bytes = length = 0;
	memcpy(names->description + names->description_bytes, piece->text, length);
	names->description_bytes += length;
	if (length == sizeof(piece->text))
		return true;
	(void)px_descriptions_add(names->descriptions, piece->id & ~PX_LOG_DESCRIPTION,
				  names->description, names->description_bytes);
	names->description_bytes = 0;
	return true;
}

bool px_archive_names_add(struct px_archive_names *names, const struct px_log_name *record)
{
	if (px_log_is_description(record))
		return add_description(names, record);
	px_archive_names_add_name(names, record);
	return true;
}

unsigned int px_archive_names_type(const struct px_archive_names *names, uint32_t i)
{
	if (i < PX_EVENT_SYSTEM_LAST)
		return PX_EVENT_ERROR + i;
	i -= PX_EVENT_SYSTEM_LAST;
	if (i == 0)
		return PX_EVENT_UNNAMED;
	return i <= names->nr_names ? names->names[i - 1].id : PX_EVENT_NONE;
}

int px_archive_names_get(const struct px_archive_names *names, unsigned int id, char name[PX_NAME_MAX + 1])
{
	if (id >= PX_EVENT_IDS)
		return EINVAL;
	if (id < PX_EVENT_USER_FIRST)
		return px_names_get(NULL, id, name);
	if (names->name_of[id] == 0)
		return EINVAL;
	memcpy(name, names->names[names->name_of[id] - 1].text, PX_NAME_MAX + 1);
	return 0;
}

size_t px_archive_names_describe(const struct px_archive_names *names, unsigned int id,
				 char text[PX_FIELDS_TEXT_MAX])
{
	return names->descriptions ? px_descriptions_get(names->descriptions, id, text) : 0;
}
