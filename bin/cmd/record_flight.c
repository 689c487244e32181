/* SPDX-License-Identifier: MIT */
#include "cmd/record_flight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"

/* Put the number of a snapshot into the name of the log, before its last dot. Return false if the name is too long. */
static bool number_path(const char *path, unsigned int number, char numbered[PATH_MAX])
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');
	int length = dot && dot != (name ? name + 1 : path) ? (int)(dot - path) : (int)strlen(path);

	return snprintf(numbered, PATH_MAX, "%.*s.%u%s", length, path, number, path + length) <
	       PATH_MAX;
}

bool record_flight_take(struct recording *recording, struct snapshot_file *file)
{
	if (!snapshot_file_open(file))
		return false;
	if (!snapshot_file_close(file, txtrace_snapshot(recording->trace, file->fd)))
		return false;
	progress_end();
	if (!recording->options->is_quiet)
		message("%s: snapshot: the newest %llu of %llu events", file->path, file->nr_events,
			file->nr_events + file->nr_lost);
	return true;
}

/* If a file has the name of the next snapshot, another recorder may have written it: take the next number. */
void record_flight_take_numbered(struct recording *recording)
{
	struct snapshot_file file = {.overwrites = recording->options->overwrites};

	do {
		if (!number_path(recording->path, ++recording->nr_snapshots, file.path)) {
			message_error(ENAMETOOLONG, "%s", recording->path);
			return;
		}
	} while (!file.overwrites && access(file.path, F_OK) == 0);
	record_flight_take(recording, &file);
}
