/* SPDX-License-Identifier: MIT */
#include "input/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/unnamed.h"
#include "input/relay.h"
#include "input/unpack.h"

#define COPY_BYTES 65536

/* Standard input can be read only once, and some commands open a file several times. */
struct spooled {
	struct spooled *next;
	int fd;
	const char *cut; /* why it does not have all, or NULL */
	char path[];
};

static struct spooled *spooled;

/* Copy all bytes of the stream.  Return 0 or an error number. */
static int copy(struct stream *stream, struct spooled *entry)
{
	unsigned char bytes[COPY_BYTES];
	size_t n;

	while ((n = stream_read(stream, bytes, sizeof(bytes))) > 0) {
		int error = write_all(entry->fd, bytes, n);

		if (error)
			return error;
	}
	if (stream->error)
		return stream->error;
	if (stream->fault)
		message("%s: %s; what is before that is read", entry->path, stream->fault);
	entry->cut = stream->fault;
	return 0;
}

static int receive(struct stream *stream, struct spooled *entry)
{
	int spare = unnamed_open_temporary();
	bool is_cut = false;
	int error = spare < 0 ? errno : relay_receive(stream, entry->path, entry->fd, spare, &is_cut);

	if (is_cut)
		entry->cut = "the stream ended before the log was complete";
	if (spare >= 0)
		close(spare);
	return error;
}

static int copy_plain(struct stream *stream, struct spooled *entry)
{
	const unsigned char *bytes;
	size_t size = stream_peek(stream, &bytes);

	return relay_is(bytes, size) ? receive(stream, entry) : copy(stream, entry);
}

static int copy_contents(struct stream *file, struct spooled *entry)
{
	const unsigned char *bytes;
	struct stream unpacked;
	const char *fault;
	int error;
	size_t size = stream_peek(file, &bytes);

	if (!unpack_kind(bytes, size))
		return copy_plain(file, entry);
	if (!unpack_open(&unpacked, file, file, UNPACK_RATIO, &fault)) {
		message("%s: %s", entry->path, fault);
		return 0;
	}
	error = copy_plain(&unpacked, entry);
	stream_close(&unpacked);
	return error;
}

static bool is_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char bytes[8];
	struct stat status;
	bool result = true;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

		result = n <= 0 || (!unpack_kind(bytes, (size_t)n) && !relay_is(bytes, (size_t)n));
	}
	if (fd >= 0)
		close(fd);
	return result;
}

static struct spooled *make_entry(const char *path, int fd)
{
	struct spooled *entry = must(malloc(sizeof(*entry) + strlen(path) + 1));

	strcpy(entry->path, path);
	entry->fd = fd;
	entry->cut = NULL;
	return entry;
}

/* Return NULL, with errno, after a failure. */
static struct spooled *spool(const char *path)
{
	struct spooled *entry = make_entry(path, unnamed_open_temporary());
	struct stream file;
	int error;

	if (entry->fd < 0 || !stream_open(&file, path)) {
		error = errno;
	} else {
		error = copy_contents(&file, entry);
		stream_close(&file);
	}
	if (error) {
		if (entry->fd >= 0)
			close(entry->fd);
		free(entry);
		errno = error;
		return NULL;
	}
	entry->next = spooled;
	spooled = entry;
	return entry;
}

static struct spooled *find(const char *path)
{
	struct spooled *entry;

	for (entry = spooled; entry && strcmp(entry->path, path) != 0; entry = entry->next)
		;
	return entry;
}

int spool_open(const char *path)
{
	struct spooled *entry = find(path);
	char name[64];

	if (!entry && strcmp(path, "-") != 0 && is_plain(path))
		return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (!entry)
		entry = spool(path);
	if (!entry)
		return -1;
	/* Each reader has an offset of its own. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", entry->fd);
	return open(name, O_RDONLY | O_CLOEXEC);
}

const char *spool_cut(const char *path)
{
	const struct spooled *entry = find(path);

	return entry ? entry->cut : NULL;
}

void spool_name(const char *name, int fd)
{
	struct spooled *entry = make_entry(name, fd);

	entry->next = spooled;
	spooled = entry;
}
