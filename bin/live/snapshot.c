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

static void count_events(struct snapshot_file *file)
{
	struct txtrace_file_info info = {.nr_events = 0};
	struct txtrace_loss loss = {0};
	trace_id_t trace;

	if (posix_trace_open(file->fd, &trace) != 0)
		return;
	txtrace_get_file_info(trace, &info);
	txtrace_get_loss(trace, &loss);
	posix_trace_close(trace);
	file->nr_events = info.nr_events;
	file->nr_lost = loss.overwritten + loss.dropped + loss.abandoned;
}

bool snapshot_file_close(struct snapshot_file *file, int error)
{
	file->nr_events = file->nr_lost = 0;
	if (!error)
		count_events(file);
	close(file->fd);
	if (error) {
		session_drop_log(file->path, &file->aside);
		print_error(file->path, error);
		return false;
	}
	session_keep_log(&file->aside);
	return true;
}
