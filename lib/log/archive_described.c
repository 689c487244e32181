/* SPDX-License-Identifier: MIT */
/* Descriptions of event types, which readers of a log can replace. */
#include <errno.h>
#include <stdlib.h>

#include "log/archive.h"

int px_archive_describe(struct px_archive *archive, unsigned int id, const char *text, size_t length)
{
	char name[PX_NAME_MAX + 1];

	if (archive->info.is_foreign || id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END ||
	    archive->kind->type_name(archive, id, name) != 0)
		return EINVAL;
	if (!archive->described)
		archive->described = calloc(1, sizeof(*archive->described));
	return archive->described ? px_descriptions_add(archive->described, id, text, length) : ENOMEM;
}

size_t px_archive_description(struct px_archive *archive, unsigned int id, char text[PX_FIELDS_TEXT_MAX])
{
	size_t length = archive->described ? px_descriptions_get(archive->described, id, text) : 0;

	return length > 0 ? length : archive->kind->description(archive, id, text);
}
