/* SPDX-License-Identifier: MIT */
#include "log/archive_log_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfs.h"
#include "log/archive_origins.h"
#include "log/order.h"
#include "log/wrappers.h"
#include "registry/registry.h"
#include "txtb/file.h"

static bool read_all(int fd, void *data, size_t size, uint64_t offset)
{
	return px_txtb_file_read(fd, data, size, offset) == size;
}

/*
 * Read a part of the tail: `offset` bytes behind *at, a member of the commit.  The tail of a running log may move away
 * meanwhile.
 */
static bool read_tail(struct logreader *reader, void *data, size_t size, const uint64_t *at,
		      uint64_t offset)
{
	uint64_t before;
	bool is_read;

	do {
		before = *at;
		is_read = read_all(reader->file.fd, data, size, before + offset);
	} while (reader->file.is_running && px_archive_frames_look(reader->source, NULL) &&
		 *at != before);
	return is_read;
}

/* A log with packed wrapper statistics is complete, so nothing moves. */
static void unpack_wrappers(struct logreader *reader)
{
	uint64_t size = px_log_wrappers_size(&reader->file.header, &reader->file.commit);
	uint32_t nr = reader->file.commit.nr_wrappers;
	void *bytes;

	if (reader->wrappers || nr == 0 || size > (uint64_t)nr * PX_WRAPPERS_ROW_MAX)
		return;
	reader->wrappers = calloc(nr, sizeof(*reader->wrappers));
	bytes = malloc(size);
	if (reader->wrappers && bytes &&
	    read_all(reader->file.fd, bytes, size, reader->file.commit.wrappers_at))
		reader->nr_wrappers = px_wrappers_unpack(bytes, size, reader->wrappers, nr);
	free(bytes);
}

static bool packed_wrapper(struct logreader *reader, uint32_t i, struct px_wrapper_sum *sum)
{
	unpack_wrappers(reader);
	if (i >= reader->nr_wrappers)
		return false;
	*sum = reader->wrappers[i];
	return true;
}

static bool log_wrapper(struct px_archive *archive, uint32_t i, struct px_wrapper_sum *sum)
{
	struct logreader *reader = px_archive_log_of(archive);

	if (reader->file.header.version == PX_LOG_VERSION && reader->file.header.wrappers_bytes)
		return packed_wrapper(reader, i, sum);
	if (i >= reader->file.commit.nr_wrappers ||
	    !read_tail(reader, sum, sizeof(*sum), &reader->file.commit.wrappers_at,
		       i * sizeof(*sum)))
		return false;
	if (reader->is_swapped)
		px_order_wrapper(sum);
	sum->symbol[sizeof(sum->symbol) - 1] = '\0';
	sum->version[sizeof(sum->version) - 1] = '\0';
	return true;
}

/* Event types. */

static unsigned int log_type(struct px_archive *archive, uint32_t i)
{
	return px_archive_names_type(&px_archive_log_of(archive)->names, i);
}

static int log_type_name(struct px_archive *archive, unsigned int id, char name[PX_NAME_MAX + 1])
{
	return px_archive_names_get(&px_archive_log_of(archive)->names, id, name);
}

static size_t log_description(struct px_archive *archive, unsigned int id, char text[PX_FIELDS_TEXT_MAX])
{
	return px_archive_names_describe(&px_archive_log_of(archive)->names, id, text);
}

/* Objects. */

/* A free slot, and the slot for no thread, hold no object. */
static bool log_object(struct px_archive *archive, uint32_t i, struct px_archive_object *to)
{
	struct logreader *reader = px_archive_log_of(archive);
	struct px_log_object object;

	reader->window.nr_entries = 0; /* the source may reuse the memory of the window */
	if (!reader->source->kind->object(reader->source, i, &object))
		return false;
	archive->info.nr_volumes = reader->file.nr_volumes;
	memset(to, 0, sizeof(*to));
	if (object.object.handle == PX_NO_THREAD)
		return true;
	to->handle = object.object.handle;
	to->type = object.object.type;
	to->priority = object.object.type == PX_TXTB_THREAD ? object.object.priority : UINT32_MAX;
	to->pid = object.object.pid;
	to->tid = object.object.tid;
	to->address = object.address;
	to->site = object.site;
	memcpy(to->name, object.object.name, sizeof(to->name));
	if (to->type == PX_TXTB_EVENT_TYPE) /* the image has only a shortened name */
		log_type_name(archive, to->handle & 0xFFFFFF, to->name);
	return true;
}

static size_t log_modules(struct px_archive *archive, char *text, size_t size)
{
	struct logreader *reader = px_archive_log_of(archive);
	size_t length = reader->file.commit.modules_bytes;

	if (length > PX_LOG_MODULES_BYTES)
		length = PX_LOG_MODULES_BYTES;
	if (size > length)
		size = length;
	if (size > 0 && !read_tail(reader, text, size, &reader->file.commit.modules_at, 0))
		return 0;
	return length;
}

/* A log holds exact times, so the caller cannot set the length of a tick. */
static int log_set_tick(struct px_archive *archive, double ns)
{
	(void)archive;
	(void)ns;
	return EINVAL;
}

static void log_complete_info(struct px_archive *archive)
{
	(void)archive;
}

static void log_free(struct px_archive *archive)
{
	struct logreader *reader = px_archive_log_of(archive);

	px_archive_source_free(reader->source);
	if (reader->file.fd >= 0) /* fd is -1 if px_archive_log_open() has failed */
		close(reader->file.fd);
	px_archive_names_free(&reader->names);
	px_origins_free(&archive->origins);
	free(archive->described);
	free(reader->wrappers);
	free(reader);
}

/* Opening. */

/*
 * If the writer process lives, it may still have stopped writing: it may have called exec, or may have failed to
 * complete the log.  So if the log and this process use the same registry, check in the registry that the writer still
 * has streams.
 */
bool px_archive_log_is_written(const struct px_log_header *header)
{
	struct px_process_id writer = {.pid = header->writer_pid, .start = header->writer_start};
	struct px_registry_file ours = px_registry_file();
	char boot_id[40];

	px_log_boot_id(boot_id);
	if (strncmp(boot_id, header->boot_id, sizeof(boot_id)) != 0 ||
	    !px_procfs_is_same(writer.pid, writer.start))
		return false;
	if (ours.inode == 0 || ours.device != header->registry_device ||
	    ours.inode != header->registry_inode)
		return true;
	return px_registry_has(&writer);
}

/* If a damaged log has lost its names, take those of the image, which may be shortened. */
static void add_image_names(struct logreader *reader)
{
	struct px_log_object object;
	struct px_log_name name;

	for (uint32_t i = 0; reader->source->kind->object(reader->source, i, &object); i++) {
		if (object.object.type != PX_TXTB_EVENT_TYPE || object.object.name[0] == '\0')
			continue;
		memset(&name, 0, sizeof(name));
		name.id = object.object.handle & 0xFFFFFF;
		memcpy(name.text, object.object.name, sizeof(name.text) - 1);
		px_archive_names_add_name(&reader->names, &name);
	}
}

/* Names that are added later follow the existing names. */
static bool read_names(struct logreader *reader)
{
	struct px_log_name name;

	if (!px_archive_names_begin(&reader->names))
		return false;
	for (uint32_t i = reader->nr_listed; i < reader->file.commit.nr_names; i++) {
		if (!read_tail(reader, &name, sizeof(name), &reader->file.commit.names_at,
			       i * sizeof(name)))
			break;
		if (reader->is_swapped)
			px_order_name(&name);
		reader->nr_listed = i + 1;
		if (!px_archive_names_add(&reader->names, &name))
			return false;
	}
	if (reader->nr_listed < reader->file.commit.nr_names || reader->file.has_no_commit)
		add_image_names(reader);
	return true;
}

static void fill_archive(struct logreader *reader)
{
	const struct px_log_commit *commit = &reader->file.commit;
	const struct px_log_header *header = &reader->file.header;
	struct px_archive *archive = &reader->archive;
	uint64_t capacity = (uint64_t)header->nr_entries * header->nr_volumes;

	archive->attr = header->attr;
	archive->attr.name[PX_TRACE_NAME_MAX] = '\0';
	archive->attr.version[PX_TRACE_NAME_MAX] = '\0';
	archive->status = (struct px_archive_status){
		.is_full = commit->stream_full != 0,
		.is_overrun = commit->stream_overrun != 0,
		.log_is_full = commit->log_full != 0,
		.log_is_overrun = commit->log_overrun != 0,
		.flush_error = commit->flush_error,
	};
	archive->clocks = commit->clocks;
	archive->loss = (struct px_loss){.overwritten = commit->overwritten,
					 .dropped = commit->dropped,
					 .abandoned = commit->abandoned};
	archive->info = (struct px_archive_info){
		.is_swapped = reader->is_swapped,
		.model = px_log_model(header),
		.is_complete = commit->is_complete != PX_LOG_OPEN,
		.is_recovered = commit->is_complete == PX_LOG_RECOVERED,
		.tick_ns = header->tick_ns,
		.time_mask = UINT32_MAX,
		.name_size = reader->file.layout.name_size,
		.nr_registry_slots = reader->file.layout.nr_objects,
		.nr_volumes = reader->file.nr_volumes,
		.nr_entry_slots = capacity,
		.nr_entries = commit->end - commit->first,
		.nr_unlisted = commit->nr_unlisted,
		.nr_shortened = commit->nr_shortened,
		.shortened_ns = commit->shortened_ns,
		.is_running = reader->file.is_running,
		.format = header->version,
		.target_pid = header->target_pid,
		.serial = commit->serial,
		.is_damaged = reader->file.takes_damaged,
		.size = reader->file.size,
		.whole_size = commit->is_complete ? px_log_length(&reader->file.header, commit) : 0,
		.nr_events = commit->sum ? commit->nr_events - commit->nr_given_up : 0,
		.nr_lost = commit->nr_lost,
		.is_merged = px_archive_is_merged(header),
	};
	memcpy(archive->info.machine, header->machine.name, sizeof(archive->info.machine) - 1);
}

static int load(struct logreader *reader, int fd, unsigned int flags)
{
	struct px_archive_file *file = &reader->file;
	int error;

	file->fd = fd;
	reader->is_swapped = px_log_is_swapped(&file->header);
	file->is_running = (flags & PX_ARCHIVE_RUNNING) && px_archive_log_is_written(&file->header);
	file->takes_damaged = (flags & PX_ARCHIVE_DAMAGED) != 0;
	error = px_archive_source_open(file, &reader->source);
	if (error == EINVAL && file->takes_damaged && px_log_header_is_readable(&file->header))
		error = ENODATA; /* it has no commit and no frame */
	/* A writer or a recovery may still be moving a complete log. */
	if (!error && file->commit.is_complete && !file->layout.base)
		file->is_running = false;
	else if (!error && !file->is_running && px_archive_log_is_written(&file->header))
		error = EINVAL;
	/* If the log was cut before its first frame, only the image has events. */
	if (!error && file->takes_damaged && !px_archive_log_ensure(reader, file->commit.first))
		error = ENODATA;
	reader->window.nr_entries = 0;
	file->fd = error ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (file->fd < 0)
		return error ? error : errno;
	if (!read_names(reader))
		return ENOMEM;
	reader->nr_before = file->commit.nr_given_up;
	error = px_archive_origins(file, &reader->archive.origins);
	fill_archive(reader);
	px_archive_log_rewind(&reader->archive);
	return error;
}

/* What was missing until now stays missing.  After a clear, the log begins again. */
static int log_extend(struct px_archive *archive)
{
	struct logreader *reader = px_archive_log_of(archive);
	struct px_archive_file *file = &reader->file;
	uint32_t nr_clears = file->commit.nr_clears;
	uint64_t nr_missing = archive->info.nr_missing;

	reader->window.nr_entries = 0;
	if (file->is_running && !px_archive_frames_extend(reader->source))
		return EINVAL;
	if (!read_names(reader))
		return ENOMEM;
	fill_archive(reader);
	archive->info.is_running = file->is_running && px_archive_log_is_written(&file->header);
	archive->info.nr_missing = nr_missing;
	if (file->commit.nr_clears != nr_clears) {
		reader->nr_missed = nr_missing;
		reader->nr_before = file->commit.nr_given_up;
		px_archive_log_rewind(archive);
	}
	return 0;
}

static const struct px_archive_kind kind = {
	.next = px_archive_log_next,
	.rewind = px_archive_log_rewind,
	.go = px_archive_log_go,
	.type = log_type,
	.type_name = log_type_name,
	.description = log_description,
	.call = px_archive_log_call,
	.wrapper = log_wrapper,
	.object = log_object,
	.modules = log_modules,
	.set_tick = log_set_tick,
	.extend = log_extend,
	.complete_info = log_complete_info,
	.free = log_free,
};

/*
 * Return true if this is a log with a section that cannot be read, because the log is an incomplete copy.  The viewer
 * can open such a file.  But the exact times and names are in the section, so the caller must not read the file as a
 * plain trace buffer (MODEL-9).
 */
static bool is_unreadable_log(int fd)
{
	uint32_t no_thread = PX_NO_THREAD;
	struct px_txtb_object first;

	return read_all(fd, &first, sizeof(first), sizeof(struct px_txtb_header)) &&
	       first.type == PX_TXTB_THREAD &&
	       (first.handle == no_thread || first.handle == __builtin_bswap32(no_thread)) &&
	       strncmp(first.name, PX_NO_THREAD_NAME, sizeof(first.name)) == 0;
}

int px_archive_log_open(int fd, unsigned int flags, struct px_archive **archive)
{
	struct logreader *reader = calloc(1, sizeof(*reader));
	int error = ENOENT;

	if (!reader)
		return ENOMEM;
	reader->file.fd = -1;
	if (px_log_find(fd, &reader->file.header, &reader->file.layout))
		error = load(reader, fd, flags);
	if (error == ENOENT && is_unreadable_log(fd))
		error = flags & PX_ARCHIVE_DAMAGED ? ENODATA : EINVAL;
	if (error) {
		log_free(&reader->archive);
		return error;
	}
	reader->archive.kind = &kind;
	*archive = &reader->archive;
	return 0;
}
