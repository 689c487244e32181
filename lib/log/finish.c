/* SPDX-License-Identifier: MIT */
/*
 * Cut the unused parts of a completed log.
 *
 * The writer writes a small log again, as a whole.  It first writes this copy behind the end of the file, with a footer
 * that has the offset of the copy.  Then it writes the copy to the beginning of the file.  Until the log at the
 * beginning is whole, readers use the copy behind it.  The viewer does not know the footer.  So while the image at the
 * beginning changes, it has no entries for the viewer.
 *
 * Of a larger log, the writer cuts only the last volume.  It writes the section and the tail once more, into the part
 * of the image that has no entries.  Then one write of the header of the image makes the image shorter.
 *
 * At every instant the file is a whole log, so nothing is lost if the writer dies.
 */
#include "log/log_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "txtb/file.h"

#define SMALL_MAX (UINT64_C(4) << 20) /* maximum bytes of a small log */

/* The last volume, as it is in the file. */
struct last {
	uint64_t at;
	uint32_t nr_entries; /* number of entries in use */
	uint64_t frames;     /* bytes of the frames in use */
	bool is_first;	     /* the last volume is the only one */
};

static struct last last_of(const struct px_log *log)
{
	uint64_t number = log->nr_begun - 1;
	const struct px_log_volume *volume = &log->volumes[log->loops ? number : 0];
	bool is_round = log->loops && log->written.end >= log->capacity;
	struct last last = {.at = log->loops ? number * log->layout.size : log->volume_at,
			    .nr_entries = log->header.nr_entries,
			    .frames = log->loops ? volume->frames_end : log->frames_end,
			    .is_first = log->nr_begun == 1};

	if (!is_round && log->written.end / log->header.nr_entries == number)
		last.nr_entries = px_log_slot_in_volume(&log->header, log->written.end);
	return last;
}

/* Return the offsets of the areas in a tail that begins at this offset, and has no unused room. */
static struct px_log_tail tail_at(const struct px_log_commit *commit, uint64_t at)
{
	struct px_log_tail tail;

	tail.wrappers = at;
	tail.names = tail.wrappers + commit->nr_wrappers * sizeof(struct px_wrapper_sum);
	tail.modules = tail.names + commit->nr_names * sizeof(struct px_log_name);
	tail.size = tail.modules + commit->modules_bytes - at;
	return tail;
}

static void set_tail(struct px_log_commit *commit, const struct px_log_tail *tail)
{
	commit->modules_at = tail->modules;
	commit->wrappers_at = tail->wrappers;
	commit->names_at = tail->names;
}

static int truncate_to(struct px_log *log, uint64_t size)
{
	int error;

	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error)
		return error;
	return ftruncate(log->fd, (off_t)size) == 0 ? 0 : errno;
}

/*
 * Only the writer moves parts of its log.  While the writer lives, no other process opens the log.  But while a process
 * recovers a log, other processes may have it open.  They must find all parts of the log at their old offsets.
 */
static bool may_move(const struct px_log *log)
{
	return log->commit.is_complete == PX_LOG_COMPLETE;
}

/* Larger logs. */

/* Write the last commit to this offset. */
static int commit_at(struct px_log *log, const struct px_log_state *state, uint64_t at,
		     const struct px_log_tail *tail)
{
	set_tail(&log->commit, tail);
	log->tail = *tail;
	log->commit_at = at;
	return px_log_write_commit(log, state->checkpoint);
}

/* Make the image as long as its entries. */
static int cut_image(struct px_log *log, const struct last *last)
{
	struct px_txtb_header header;

	px_txtb_header_init(&header, log->layout.nr_objects, last->nr_entries);
	return px_log_write_all(log, &header, sizeof(header), last->at);
}

/* Cut the last volume.  The unused part of the image has room for the section and the tail. */
static int cut_volume(struct px_log *log, const struct px_log_state *state, const struct last *last,
		      int reader, uint64_t *end)
{
	const struct px_log_layout *old = &log->layout;
	struct px_log_layout new = px_log_layout(old->nr_objects, last->nr_entries, last->frames);
	struct px_log_tail tail = tail_at(&log->commit, last->at + new.frames + last->frames);
	int error;

	*end = tail.wrappers + tail.size;
	error = px_log_copy(log, reader, last->at + old->header, last->at + new.header, PX_LOG_PAGE);
	if (!error)
		error = px_log_copy(log, reader, last->at + old->frames, last->at + new.frames,
				    last->frames);
	if (!error)
		error = px_log_copy_tail(log, reader, &tail);
	if (error)
		return error;
	if (!last->is_first) {
		error = cut_image(log, last);
		return error ? error : commit_at(log, state, log->commit_at, &tail);
	}
	error = commit_at(log, state, new.commit, &tail);
	return error ? error : cut_image(log, last);
}

static int finish_large(struct px_log *log, const struct px_log_state *state,
			const struct last *last, int reader)
{
	uint64_t entries_end = px_txtb_image_size(log->layout.nr_objects, last->nr_entries);
	uint64_t end = last->at + log->layout.frames + last->frames;
	struct px_log_tail tail = tail_at(&log->commit, end);
	int error;

	if (may_move(log) &&
	    px_log_page_up(entries_end) + 2 * PX_LOG_PAGE + last->frames + tail.size <=
		   log->layout.header) {
		error = cut_volume(log, state, last, reader, &end);
	} else if (end + tail.size <= log->tail.modules) {
		end += tail.size;
		error = px_log_copy_tail(log, reader, &tail);
		if (!error)
			error = commit_at(log, state, log->commit_at, &tail);
	} else {
		return EFBIG;
	}
	return error ? error : truncate_to(log, end);
}

/* Write only the last commit. */
static int finish_in_place(struct px_log *log, const struct px_log_state *state)
{
	uint64_t end = log->tail.names + log->commit.nr_names * sizeof(struct px_log_name);
	int error = px_log_write_commit(log, state->checkpoint);

	return error ? error : truncate_to(log, end);
}

/* Small logs. */

/* A whole log in memory. */
struct copy {
	unsigned char *bytes;
	size_t size;
	uint32_t nr_objects;
	struct px_log_layout layout;
};

static uint32_t count_objects(const struct px_log *log, const struct px_log_volume *volume)
{
	uint32_t nr_contexts = px_log_nr_objects(&log->header) - log->header.nr_type_slots;
	uint32_t count = volume->nr_types;

	for (uint32_t i = 0; i < nr_contexts; i++)
		count += volume->context[i].handle != 0;
	/* With this number of slots, no entry crosses a page boundary. */
	count = (count + 3) / 8 * 8 + 4;
	return count == PX_LOG_OBJECTS_2 ? count + 8 : count;
}

static void put_object(struct copy *copy, uint32_t *slot, const struct px_object *object)
{
	struct px_txtb_object shown;

	px_txtb_object_init(&shown, (enum px_txtb_object_type)object->type, object->handle,
			    object->priority, object->name);
	memcpy(copy->bytes + px_txtb_entries_offset((*slot)++), &shown, sizeof(shown));
}

static void put_objects(struct px_log *log, const struct px_log_volume *volume, struct copy *copy)
{
	uint32_t nr_contexts = px_log_nr_objects(&log->header) - log->header.nr_type_slots;
	uint32_t slot = 0;

	for (uint32_t i = 0; i < nr_contexts; i++) {
		const struct px_object shown = px_log_shown_object(&volume->context[i]);

		if (volume->context[i].handle)
			put_object(copy, &slot, &shown);
	}
	for (uint32_t i = 0; i < volume->nr_types; i++) {
		struct px_object type = px_log_type_object(log, volume->type[i]);

		put_object(copy, &slot, &type);
	}
}

static bool read_part(int fd, struct copy *copy, uint64_t to, uint64_t from, uint64_t size)
{
	return px_txtb_file_read(fd, copy->bytes + to, (size_t)size, from) == size;
}

/*
 * The copy has the same oldest entry as the file.  Only the header in the file tells which entry that is, because a
 * failed write may have left entries behind the newest one.
 */
static bool put_header(struct px_log *log, const struct last *last, int reader, struct copy *copy)
{
	struct px_txtb_header header, old;

	if (px_txtb_file_read(reader, &old, sizeof(old), 0) != sizeof(old))
		return false;
	px_txtb_header_init(&header, copy->nr_objects, last->nr_entries);
	header.current = header.buffer_start + (old.current - old.buffer_start);
	memcpy(copy->bytes, &header, sizeof(header));
	memcpy(copy->bytes + copy->layout.header, &log->header, sizeof(log->header));
	return true;
}

/* Make the copy.  Return false if a part of the log cannot be read. */
static bool make_copy(struct px_log *log, const struct last *last, int reader, struct copy *copy,
		      const struct px_log_tail *tail)
{
	const struct px_log_commit *commit = &log->commit;

	if (!put_header(log, last, reader, copy))
		return false;
	put_objects(log, &log->volumes[0], copy);
	return read_part(reader, copy, copy->layout.entries, log->layout.entries,
			 last->nr_entries * sizeof(struct px_txtb_entry)) &&
	       read_part(reader, copy, copy->layout.frames, log->layout.frames, last->frames) &&
	       read_part(reader, copy, tail->wrappers, log->tail.wrappers,
			 commit->nr_wrappers * sizeof(struct px_wrapper_sum)) &&
	       read_part(reader, copy, tail->names, log->tail.names,
			 commit->nr_names * sizeof(struct px_log_name)) &&
	       read_part(reader, copy, tail->modules, log->tail.modules, commit->modules_bytes);
}

/* Write bytes at this offset, or, if data is NULL, truncate the file to offset bytes.  Return 0 or an error number. */
typedef int writer(void *argument, const void *data, size_t size, uint64_t offset);

/* Move the log that a footer describes to the beginning of the file.  fd: a descriptor for reading. */
static int settle(int fd, writer *write, void *argument)
{
	struct px_log_footer footer;
	struct px_txtb_header header;
	unsigned char *bytes;
	static const struct px_txtb_entry none;
	uint64_t old, new;
	int error;

	if (!px_log_find_footer(fd, &footer) || footer.size > 2 * SMALL_MAX ||
	    footer.size < sizeof(header) + sizeof(none))
		return 0;
	bytes = malloc((size_t)footer.size);
	if (!bytes)
		return ENOMEM;
	if (px_txtb_file_read(fd, bytes, (size_t)footer.size, footer.base) != footer.size) {
		free(bytes);
		return EIO;
	}
	new = sizeof(header) + ((const struct px_txtb_header *)bytes)->registry_end -
	      ((const struct px_txtb_header *)bytes)->registry_start;
	error = new + sizeof(none) > footer.size ? EINVAL :
		px_txtb_file_read(fd, &header, sizeof(header), 0) == sizeof(header) ? 0 : EIO;
	old = sizeof(header) + header.registry_end - header.registry_start;
	/* Until the log is whole, the viewer must find no entries. */
	if (!error && old < footer.base)
		error = write(argument, &none, sizeof(none), old);
	if (!error)
		error = write(argument, &none, sizeof(none), new);
	if (!error)
		error = write(argument, bytes, sizeof(header), 0);
	if (!error)
		error = write(argument, bytes + sizeof(header), new - sizeof(header), sizeof(header));
	if (!error)
		error = write(argument, bytes + new + sizeof(none), footer.size - new - sizeof(none),
			      new + sizeof(none));
	if (!error)
		error = write(argument, bytes + new, sizeof(none), new);
	free(bytes);
	if (!error)
		error = write(argument, NULL, 0, footer.size);
	return error;
}

static int write_moved(void *argument, const void *data, size_t size, uint64_t offset)
{
	struct px_log *log = argument;

	return data ? px_log_write_all(log, data, size, offset) : truncate_to(log, offset);
}

static int write_plainly(void *argument, const void *data, size_t size, uint64_t offset)
{
	const char *from = data;
	int fd = *(const int *)argument;

	if (!data)
		return ftruncate(fd, (off_t)offset) == 0 ? 0 : errno;
	while (size > 0) {
		ssize_t written = pwrite(fd, from, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? errno : EIO;
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}

/* Cut a complete log after its tail.  The writer may have died before it did this. */
static int cut_file(int fd)
{
	struct px_log_header header;
	struct px_log_layout layout;
	struct px_log_commit commit;
	struct stat status;

	if (fstat(fd, &status) != 0 || !px_log_find(fd, &header, &layout) ||
	    !px_log_header_is_ours(&header) || !px_log_read_commit(fd, &header, &layout, &commit) ||
	    !commit.is_complete || layout.base != 0 ||
	    (uint64_t)status.st_size <= px_log_length(&commit))
		return 0;
	return write_plainly(&fd, NULL, 0, px_log_length(&commit));
}

int px_log_settle(int fd)
{
	int error = settle(fd, write_plainly, &fd);

	return error ? error : cut_file(fd);
}

/* *is_moving: set to true when the copy is whole, and readers use the copy. */
static int finish_small(struct px_log *log, const struct last *last, int reader, struct copy *copy,
			const struct px_log_tail *tail, bool *is_moving)
{
	struct px_log_footer footer = {.magic = PX_LOG_FOOTER_MAGIC, .size = copy->size};
	struct px_log_commit commit = log->commit;
	int error;

	if (!make_copy(log, last, reader, copy, tail))
		return EIO;
	/* The checkpoint must have the serial of this commit. */
	commit.serial++;
	set_tail(&commit, tail);
	px_log_seal_commit(&commit);
	memcpy(copy->bytes + copy->layout.commit, &commit, sizeof(commit));
	footer.base = px_log_page_up(log->tail.names + log->commit.nr_names * sizeof(struct px_log_name));
	memcpy(footer.uuid, log->header.uuid, sizeof(footer.uuid));
	error = truncate_to(log, footer.base); /* the application may have allocated more */
	if (!error)
		error = px_log_write_all(log, copy->bytes, copy->size, footer.base);
	if (!error)
		error = px_log_write_all(log, &footer, sizeof(footer), footer.base + copy->size);
	if (error) {
		truncate_to(log, footer.base);
		return error;
	}
	*is_moving = true;
	return settle(reader, write_moved, log);
}

/* Return true if this is a small log, and store the offsets of its new tail. */
static bool is_small(const struct px_log *log, const struct last *last, struct copy *copy,
		     struct px_log_tail *tail)
{
	struct stat status;

	if (!last->is_first || fstat(log->fd, &status) != 0)
		return false;
	/* After a failed write, the volume in memory may be the volume after the last. */
	if (!log->loops && !log->ends_volume && log->stage_position >= log->header.nr_entries)
		return false;
	copy->nr_objects = count_objects(log, &log->volumes[0]);
	copy->layout = px_log_layout(copy->nr_objects, last->nr_entries, last->frames);
	*tail = tail_at(&log->commit, copy->layout.frames + last->frames);
	copy->size = (size_t)(tail->wrappers + tail->size);
	return copy->size <= SMALL_MAX;
}

/* Write the last commit, and cut the unused parts of the file. */
static int finish(struct px_log *log, const struct px_log_state *state)
{
	struct last last = last_of(log);
	const struct px_log_commit commit = log->commit;
	const struct px_log_tail old_tail = log->tail;
	const uint64_t old_at = log->commit_at;
	int error = EFBIG, reader = px_log_open_reader(log);
	struct px_log_tail tail;
	struct copy copy = {0};
	bool is_moving = false;

	if (reader >= 0 && may_move(log) && is_small(log, &last, &copy, &tail))
		copy.bytes = calloc(1, copy.size);
	if (copy.bytes)
		error = finish_small(log, &last, reader, &copy, &tail, &is_moving);
	free(copy.bytes);
	/* If there is no room for a copy, cut only the last volume. */
	if (error && !is_moving && reader >= 0)
		error = finish_large(log, state, &last, reader);
	/*
	 * Even if only the last step failed, readers still find the old commit and the old tail.  So restore their
	 * offsets.
	 */
	if (error && !is_moving) {
		set_tail(&log->commit, &old_tail);
		log->commit.serial = commit.serial;
		log->tail = old_tail;
		log->commit_at = old_at;
		error = finish_in_place(log, state);
	}
	if (reader >= 0)
		close(reader);
	return error;
}

/* Completion. */

/* If the log is empty, lay out the fillers: the viewer shows nothing for an image without entries. */
static void stage_if_empty(struct px_log *log)
{
	const struct timespec *time = &log->header.attr.create_time;

	if (log->staged.end == 0)
		px_log_begin_stamps(log,
				    (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
}

/* Return true if the file needs more than the names of event types and a commit. */
static bool has_unwritten(const struct px_log *log)
{
	return log->nr_staged > 0 || (log->wants_stop && !log->staged.has_stop) ||
	       log->is_cleared || log->has_hole || log->stage_position < log->spoiled;
}

static int write_rest(struct px_log *log, const struct px_log_state *state)
{
	int error;

	stage_if_empty(log);
	if (has_unwritten(log))
		return px_log_write(log, state);
	error = px_log_write_names(log);
	if (!error)
		px_log_fill_commit(log, state, 0);
	return error;
}

/*
 * Record how the log ended, and cut the file.  The target may have loaded more modules since the last list, so write
 * the list of modules again.  If that fails, the log has no list.
 */
static int end_file(struct px_log *log, const struct px_log_state *state, enum px_log_end end)
{
	if (end == PX_LOG_COMPLETE)
		px_log_write_modules(log);
	px_log_write_wrappers(log, state->tick_ns);
	log->commit.is_complete = end;
	return finish(log, state);
}

int px_log_complete(struct px_log *log, const struct px_log_state *state, enum px_log_end end)
{
	int error = px_log_ensure_descriptor(log);
	int first_error = error;

	if (!error)
		error = first_error = write_rest(log, state);
	/* The failed write has lost its events, but a second write, without them, may succeed. */
	if (error && end == PX_LOG_COMPLETE && px_log_ensure_descriptor(log) == 0)
		error = write_rest(log, state);
	if (!error)
		error = end_file(log, state, end);
	px_log_free(log);
	return first_error ? first_error : error;
}

