/* SPDX-License-Identifier: MIT */
#include "trx/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"

/* If the file system does not support O_TMPFILE, create a file and unlink it. */
static int open_unnamed(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if (asprintf(&name, "%s/.txtrace.XXXXXX", directory) < 0)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

bool sort_open(struct sorter *sorter, const char *path)
{
	char *directory = directory_of(path);
	bool is_stdout = strcmp(path, "-") == 0;

	memset(sorter, 0, sizeof(*sorter));
	sorter->newest_ns = INT64_MIN;
	sorter->fd = directory && !is_stdout ? open_unnamed(directory) : -1;
	free(directory);
	if (sorter->fd < 0)
		sorter->fd = open_unnamed(temporary_directory());
	if (sorter->fd < 0)
		message_error(errno, "cannot create a temporary file for the events");
	return sorter->fd >= 0;
}

void sort_close(struct sorter *sorter)
{
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter->late);
	sorter->fd = -1;
	sorter->late = NULL;
}

static void flush(struct sorter *sorter)
{
	if (!sorter->error)
		sorter->error = write_all(sorter->fd, sorter->out,
					  sorter->nr_out * sizeof(*sorter->out));
	sorter->nr_out = 0;
}

static void keep_late(struct sorter *sorter, const struct spooled *event)
{
	if (sorter->nr_late == sorter->late_room) {
		size_t room = sorter->late_room ? 2 * sorter->late_room : 256;
		struct spooled *late = reallocarray(sorter->late, room, sizeof(*late));

		if (!late) {
			sorter->error = ENOMEM;
			return;
		}
		sorter->late = late;
		sorter->late_room = room;
	}
	sorter->late[sorter->nr_late++] = *event;
}

void sort_put(struct sorter *sorter, const struct spooled *event)
{
	if (event->time_ns < sorter->newest_ns) {
		keep_late(sorter, event);
		return;
	}
	sorter->newest_ns = event->time_ns;
	if (sorter->nr_out == SORT_WINDOW)
		flush(sorter);
	sorter->out[sorter->nr_out++] = *event;
	sorter->nr_events++;
}

/* Use a merge sort, because it is stable.  qsort() may be unstable. */
static void sort(struct spooled *events, struct spooled *scratch, size_t n)
{
	size_t half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	sort(events, scratch, half);
	sort(events + half, scratch, n - half);
	while (i < half && j < n)
		scratch[k++] = events[j].time_ns < events[i].time_ns ? events[j++] : events[i++];
	while (i < half)
		scratch[k++] = events[i++];
	memcpy(events, scratch, k * sizeof(*events)); /* the other events are already in place */
}

bool sort_end(struct sorter *sorter)
{
	struct spooled *scratch = reallocarray(NULL, sorter->nr_late + 1, sizeof(*scratch));

	flush(sorter);
	if (!scratch)
		sorter->error = ENOMEM;
	else
		sort(sorter->late, scratch, sorter->nr_late);
	free(scratch);
	if (sorter->error)
		message_error(sorter->error, "cannot store the events in a temporary file");
	return !sorter->error;
}

static const struct spooled *peek_in_file(struct sorter *sorter, struct sort_cursor *cursor)
{
	uint64_t i = cursor->event - cursor->window_first;
	ssize_t got;

	if (cursor->event >= sorter->nr_events)
		return NULL;
	if (i < cursor->window_size)
		return &cursor->window[i];
	cursor->window_first = cursor->event;
	do
		got = pread(sorter->fd, cursor->window, sizeof(cursor->window),
			    (off_t)(cursor->event * sizeof(struct spooled)));
	while (got < 0 && errno == EINTR);
	cursor->window_size = got > 0 ? (size_t)got / sizeof(struct spooled) : 0;
	if (cursor->window_size == 0)
		sorter->error = got < 0 ? errno : EIO;
	return cursor->window_size > 0 ? cursor->window : NULL;
}

const struct spooled *sort_next(struct sorter *sorter, struct sort_cursor *cursor)
{
	const struct spooled *event = peek_in_file(sorter, cursor);
	const struct spooled *late = cursor->late < sorter->nr_late ? &sorter->late[cursor->late] :
								      NULL;

	if (late && (!event || late->time_ns < event->time_ns)) {
		cursor->late++;
		return late;
	}
	if (event)
		cursor->event++;
	return event;
}
