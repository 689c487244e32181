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

/* Not all file systems have files without a name. */
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

bool spool_open(struct spool *spool, const char *path)
{
	char *directory = directory_of(path);
	const char *temporary = getenv("TMPDIR");
	bool is_stdout = strcmp(path, "-") == 0;

	memset(spool, 0, sizeof(*spool));
	spool->newest_ns = INT64_MIN;
	spool->fd = directory && !is_stdout ? open_unnamed(directory) : -1;
	free(directory);
	if (spool->fd < 0)
		spool->fd = open_unnamed(temporary && *temporary ? temporary : "/tmp");
	if (spool->fd < 0)
		say_error(errno, "there is no place to keep events in until they are written");
	return spool->fd >= 0;
}

void spool_close(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->late);
	spool->fd = -1;
	spool->late = NULL;
}

static void flush(struct spool *spool)
{
	if (!spool->error)
		spool->error = write_all(spool->fd, spool->out,
					 spool->nr_out * sizeof(*spool->out));
	spool->nr_out = 0;
}

static void keep_late(struct spool *spool, const struct spooled *event)
{
	if (spool->nr_late == spool->late_room) {
		size_t room = spool->late_room ? 2 * spool->late_room : 256;
		struct spooled *late = reallocarray(spool->late, room, sizeof(*late));

		if (!late) {
			spool->error = ENOMEM;
			return;
		}
		spool->late = late;
		spool->late_room = room;
	}
	spool->late[spool->nr_late++] = *event;
}

void spool_put(struct spool *spool, const struct spooled *event)
{
	if (event->time_ns < spool->newest_ns) {
		keep_late(spool, event);
		return;
	}
	spool->newest_ns = event->time_ns;
	if (spool->nr_out == SPOOL_WINDOW)
		flush(spool);
	spool->out[spool->nr_out++] = *event;
	spool->nr_events++;
}

/* Stable, as qsort() need not be: by insertion into sorted halves. */
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
	memcpy(events, scratch, k * sizeof(*events)); /* what is left is in its place */
}

bool spool_end(struct spool *spool)
{
	struct spooled *scratch = reallocarray(NULL, spool->nr_late + 1, sizeof(*scratch));

	flush(spool);
	if (!scratch)
		spool->error = ENOMEM;
	else
		sort(spool->late, scratch, spool->nr_late);
	free(scratch);
	if (spool->error)
		say_error(spool->error, "events could not be kept until they are written");
	return !spool->error;
}

static const struct spooled *look_in_file(struct spool *spool, struct spool_cursor *cursor)
{
	uint64_t i = cursor->event - cursor->window_first;
	ssize_t got;

	if (cursor->event >= spool->nr_events)
		return NULL;
	if (i < cursor->window_size)
		return &cursor->window[i];
	cursor->window_first = cursor->event;
	do
		got = pread(spool->fd, cursor->window, sizeof(cursor->window),
			    (off_t)(cursor->event * sizeof(struct spooled)));
	while (got < 0 && errno == EINTR);
	cursor->window_size = got > 0 ? (size_t)got / sizeof(struct spooled) : 0;
	if (cursor->window_size == 0)
		spool->error = got < 0 ? errno : EIO;
	return cursor->window_size > 0 ? cursor->window : NULL;
}

const struct spooled *spool_next(struct spool *spool, struct spool_cursor *cursor)
{
	const struct spooled *event = look_in_file(spool, cursor);
	const struct spooled *late = cursor->late < spool->nr_late ? &spool->late[cursor->late] :
								     NULL;

	if (late && (!event || late->time_ns < event->time_ns)) {
		cursor->late++;
		return late;
	}
	if (event)
		cursor->event++;
	return event;
}
