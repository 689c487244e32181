/* SPDX-License-Identifier: MIT */
#include "log/archive_source.h"

#include <errno.h>
#include <stdlib.h>

static const struct px_archive_source_kind *kind_of(const struct px_log_header *header)
{
	if (px_log_header_is_readable(header))
		return &px_archive_frames;
	return px_archive_slots_is_ours(header) ? &px_archive_slots : NULL;
}

int px_archive_source_open(struct px_archive_file *file, struct px_archive_source **source)
{
	const struct px_archive_source_kind *kind = kind_of(&file->header);
	struct px_archive_source *made;
	int error;

	if (!kind)
		return EINVAL;
	made = calloc(1, kind->size);
	if (!made)
		return ENOMEM;
	made->kind = kind;
	made->file = file;
	error = kind->open(made);
	if (error) {
		px_archive_source_free(made);
		return error;
	}
	*source = made;
	return 0;
}

void px_archive_source_free(struct px_archive_source *source)
{
	if (!source)
		return;
	source->kind->close(source);
	free(source);
}
