/* SPDX-License-Identifier: MIT */
#include "log/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "log/archive_log.h"
#include "log/archive_txtb.h"

int px_archive_open(int fd, unsigned int flags, struct px_archive **archive)
{
	int mode = fcntl(fd, F_GETFL);
	int error;

	if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY || (mode & O_PATH))
		return EINVAL; /* AMB-20 */
	error = px_archive_log_open(fd, flags, archive);
	if (error == ENOENT)
		return px_archive_txtb_open(fd, false, archive);
	if (error != ENODATA)
		return error;
	error = px_archive_txtb_open(fd, true, archive);
	if (!error)
		(*archive)->info.lost_section = (*archive)->info.is_damaged = true;
	return error;
}

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
