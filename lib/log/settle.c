/* SPDX-License-Identifier: MIT */
/*
 * Move a log that was written once more, behind the end of its file, to the beginning of the file.
 *
 * A footer says where the log is.  Readers use it there until the log at the beginning is whole.  For the viewer, which
 * knows no footer, the image has no entries while it changes: the first entry is written last.  Each step can be
 * repeated, so another process can go on if this one dies.
 */
#include "log/settle.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "log/format.h"
#include "txtb/file.h"

static uint64_t entries_of(const struct px_txtb_header *header)
{
	return sizeof(*header) + header->registry_end - header->registry_start;
}

static int copy_parts(int fd, const struct px_log_sink *sink, const struct px_log_footer *footer,
		      uint64_t entries, void *chunk)
{
	const uint64_t parts[] = {0, sizeof(struct px_txtb_header), entries,
				  entries + sizeof(struct px_txtb_entry), footer->size};
	static const int order[] = {0, 1, 3, 2};
	int error = 0;

	for (int i = 0; !error && i < 4; i++)
		error = px_log_sink_copy(sink, chunk, fd, footer->base + parts[order[i]],
					 parts[order[i]], parts[order[i] + 1] - parts[order[i]]);
	return error;
}

int px_log_move(int fd, const struct px_log_sink *sink)
{
	static const struct px_txtb_entry none;
	struct px_log_footer footer;
	struct px_txtb_header header, moved;
	void *chunk;
	int error = 0;

	if (!px_log_find_footer(fd, &footer) || footer.base < footer.size)
		return 0;
	if (px_txtb_file_read(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    px_txtb_file_read(fd, &moved, sizeof(moved), footer.base) != sizeof(moved))
		return EIO;
	if (entries_of(&moved) + sizeof(none) > footer.size)
		return EINVAL;
	chunk = malloc(PX_LOG_COPY_CHUNK);
	if (!chunk)
		return ENOMEM;
	/* The viewer finds no entries until all of them are written. */
	if (entries_of(&header) < footer.base)
		error = px_log_sink_write(sink, &none, sizeof(none), entries_of(&header));
	if (!error)
		error = px_log_sink_write(sink, &none, sizeof(none), entries_of(&moved));
	if (!error)
		error = copy_parts(fd, sink, &footer, entries_of(&moved), chunk);
	free(chunk);
	return error ? error : px_log_sink_truncate(sink, footer.size);
}

/* Cut a complete log after its tail, if its writer died before it did so. */
static int cut_file(int fd, const struct px_log_sink *sink)
{
	struct px_log_header header;
	struct px_log_layout layout;
	struct px_log_commit commit;
	struct stat status;

	if (fstat(fd, &status) != 0 || !px_log_find(fd, &header, &layout) ||
	    !px_log_header_is_ours(&header) || !px_log_read_commit(fd, &header, &layout, &commit) ||
	    !commit.is_complete || layout.base != 0 ||
	    (uint64_t)status.st_size <= px_log_length(&header, &commit))
		return 0;
	return px_log_sink_truncate(sink, px_log_length(&header, &commit));
}

int px_log_settle(int fd)
{
	const struct px_log_sink sink = {.write = px_log_write_to_fd, .argument = &fd};
	int error = px_log_move(fd, &sink);

	return error ? error : cut_file(fd, &sink);
}
