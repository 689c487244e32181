/* SPDX-License-Identifier: MIT */
#include "log/archive_origins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool px_archive_is_merged(const struct px_log_header *header)
{
	return header->version >= 3 && header->layouts.has_origins == 1;
}

static int make_one(const struct px_log_header *header, struct px_origins *origins)
{
	struct px_origin *origin = calloc(1, sizeof(*origin));

	if (!origin)
		return ENOMEM;
	origin->pid = header->target_pid;
	for (size_t i = 0; i < sizeof(header->uuid); i++)
		snprintf(origin->uuid + 2 * i, 3, "%02x", header->uuid[i]);
	memcpy(origin->boot_id, header->boot_id,
	       strnlen(header->boot_id, sizeof(origin->boot_id) - 1));
	origin->pid_space = px_log_pid_space(header);
	memcpy(origin->host_name, header->host,
	       strnlen(header->host, sizeof(origin->host_name) - 1));
	*origins = (struct px_origins){.origin = origin, .nr = 1};
	return 0;
}

int px_archive_origins(const struct px_archive_file *file, struct px_origins *origins)
{
	int error = ENOENT;

	if (px_archive_is_merged(&file->header))
		error = px_origins_read(file->fd, file->size, origins);
	else
		return make_one(&file->header, origins);
	if (error == ENOENT)
		return file->takes_damaged ? make_one(&file->header, origins) : EINVAL;
	return error;
}
