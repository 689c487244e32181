/* SPDX-License-Identifier: MIT */
#include "live/snapshot.h"

#include <errno.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/message.h"
#include "live/session.h"

bool snapshot_file_open(struct snapshot_file *file)
{
	file->fd = session_open_log(file->path, file->overwrites, &file->aside);
	return file->fd >= 0;
}

static void print_error(const char *path, int error)
{
	switch (error) {
	case ENOENT:
		message("%s: no snapshot: the stream has ended, or its log was removed", path);
		break;
	case EBUSY:
		message("%s: no snapshot: the log of the stream changes too fast; try again", path);
		break;
	case EACCES:
		message("%s: no snapshot: only the user of the controller can read the log of this stream", path);
		break;
	default:
		message_error(error, "%s: no snapshot", path);
	}
}

static unsigned long long count_events(int fd)
{
	struct txtrace_file_info info = {.nr_events = 0};
	trace_id_t trace;

	if (posix_trace_open(fd, &trace) != 0)
		return 0;
	txtrace_get_file_info(trace, &info);
	posix_trace_close(trace);
	return info.nr_events;
}

bool snapshot_file_close(struct snapshot_file *file, int error)
{
	file->nr_events = error ? 0 : count_events(file->fd);
	close(file->fd);
	if (error) {
		session_drop_log(file->path, &file->aside);
		print_error(file->path, error);
		return false;
	}
	session_keep_log(&file->aside);
	return true;
}
