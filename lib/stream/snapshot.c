/* SPDX-License-Identifier: MIT */
#include "stream/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_signals.h"
#include "base/wide.h"
#include "log/archive_log.h"
#include "log/copy.h"
#include "stream/rings_copy.h"
#include "trace/process.h"

#define COMMIT_ATTEMPTS 1000
#define EARLIER_NS 1000000000 /* for the clock of another controller, which may have been adjusted */

/* The log of the stream at one commit. */
struct log {
	int fd;
	struct px_archive *archive;
	struct px_checkpoint *checkpoint;
};

/* The log. */

static int open_log(const struct px_checkpoint_content *file, int *fd)
{
	struct stat status;

	*fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOTDIR ? ENOENT : errno;
	if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_dev == file->device &&
	    status.st_ino == file->inode)
		return 0;
	close(*fd);
	return ENOENT;
}

/*
 * Open the log at a commit that still has its checkpoint: the controller keeps the checkpoints of the two newest
 * commits.  A log that is complete belongs to a stream that ends.
 */
static int open_commit(const char *name, struct log *log)
{
	for (int i = 0; i < COMMIT_ATTEMPTS; i++) {
		int error = px_archive_log_open(log->fd, PX_ARCHIVE_RUNNING, &log->archive);

		if (error)
			return error == EINVAL ? ENOENT : error;
		log->archive->tells_losses = true;
		if (log->archive->info.is_complete) {
			log->archive->kind->free(log->archive);
			return ENOENT;
		}
		error = px_checkpoint_copy(name, log->archive->info.serial, &log->checkpoint);
		if (!error)
			return 0;
		log->archive->kind->free(log->archive);
		if (error != EAGAIN)
			return error;
	}
	return EBUSY;
}

static int find_log(const struct px_snapshot *snapshot, struct log *log)
{
	struct px_checkpoint_content file;
	char name[PX_SHM_NAME_MAX];
	int error;

	px_checkpoint_name(snapshot->index, &snapshot->slot, name);
	error = px_checkpoint_file_read(name, true, &file);
	if (!error)
		error = open_log(&file, &log->fd);
	if (error)
		return error;
	error = open_commit(name, log);
	if (error)
		close(log->fd);
	return error;
}

static void close_log(struct log *log)
{
	log->archive->kind->free(log->archive);
	free(log->checkpoint);
	close(log->fd);
}

/* The rings. */

/* All that was in a ring at the time of its copy may be in the log by now. */
static void skip_logged(struct px_rings_copy *rings, const struct px_checkpoint *checkpoint)
{
	for (uint32_t i = 0; i < rings->view.rings.nr_rings; i++) {
		struct px_ring_control *control = px_rings_get(&rings->view.rings, i).control;

		if ((int64_t)(checkpoint->ring[i].position - control->head) > 0)
			control->head = checkpoint->ring[i].position;
	}
}

/* Without a checkpoint, the reader begins at the tail of a ring, and counts no slots before the tail. */
static void begin_at_tail(struct px_reader *reader)
{
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		struct px_ring ring = px_rings_get(&reader->view->rings, i);
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_record record;
		uint64_t word;

		if (cursor->position == 0)
			cursor->extra = 0;
		else if (px_ring_look(&ring, cursor->position, ring.control->head, &word) ==
				 PX_LOOK_RECORD &&
			 px_record_read(&ring, cursor->position, word, &record, NULL, 0))
			cursor->extra -= (uint32_t)((uint32_t)cursor->extra - record.extra);
	}
}

/* Times do not go back, as in stream.c. */
static uint64_t time_of(const struct px_reader *reader, uint64_t counter, uint64_t *last_ns)
{
	const struct px_timeline *timeline = &reader->timeline;
	uint64_t ns;

	if ((int64_t)(counter - timeline->origin.counter) < 0)
		counter = timeline->origin.counter;
	ns = px_timeline_convert(timeline, counter);
	if (ns < *last_ns && (int64_t)(counter - reader->reported_counter) >= 0)
		ns = *last_ns;
	if (ns > *last_ns)
		*last_ns = ns;
	return ns;
}

/* Each slot holds one event at most, and the reader makes a few others. */
static uint64_t most_events(const struct px_view *view)
{
	return 3 * (uint64_t)view->geometry.nr_rings * view->geometry.nr_slots + 16;
}

static void copy_events(struct px_reader *reader, const struct px_rings_copy *rings, void *data,
			struct px_log_copy *copy)
{
	const struct px_view *view = &rings->view;
	const struct px_eventset *filter = &view->segment->filter[px_state_filter(rings->state)];
	struct px_report report;
	uint64_t last_ns = 0;

	reader->is_in_a_hurry = true;
	for (uint64_t left = most_events(view); left > 0; left--) {
		enum px_next next = px_reader_next(reader, filter, data, reader->held_capacity,
						   &report);

		if (next == PX_NEXT_NONE && view->limit != 0 &&
		    px_state_of(rings->state) == PX_STATE_AUTO_FULL &&
		    px_reader_make_stop(reader, px_auto_stop_due(view, rings->state), data,
					reader->held_capacity, &report))
			next = PX_NEXT_EVENT;
		if (next == PX_NEXT_NONE)
			break;
		if (next == PX_NEXT_PENDING)
			continue;
		report.time_ns = time_of(reader, report.record.counter, &last_ns);
		px_log_copy_append(copy, &report, data);
	}
}

static uint64_t count_given_up(const struct px_view *view)
{
	uint64_t given_up = 0;

	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		given_up += px_rings_get(&view->rings, i).control->given_up;
	return given_up;
}

static void fill_result(const struct px_snapshot *snapshot, const struct px_rings_copy *rings,
			const struct px_reader *reader, const struct log *log,
			struct px_log_copy_result *result)
{
	uint64_t base = log ? log->checkpoint->dropped_base + log->checkpoint->given_up_base : 0;

	result->loss = reader->loss;
	result->loss.dropped = px_view_dropped(&rings->view) + count_given_up(&rings->view) - base;
	/* The log may be younger than the copy of the rings. */
	if (log && result->loss.dropped < log->archive->loss.dropped)
		result->loss.dropped = log->archive->loss.dropped;
	result->is_full = px_view_is_full(&rings->view);
	result->is_overrun = (log && log->archive->status.is_overrun) ||
			     result->loss.overwritten + result->loss.dropped +
				     result->loss.abandoned != 0;
	result->tick_ns = (double)px_timeline_scale(snapshot->timeline) /
			  (double)(UINT64_C(1) << 48);
	if (!log)
		return;
	/* Events that the log overwrote before this call read them are missing only in the snapshot. */
	result->loss.overwritten += log->archive->info.nr_missing;
	result->nr_log_lost = log->archive->info.nr_lost;
	result->lacks_others = log->archive->status.log_is_overrun;
	result->flush_error = log->archive->status.flush_error;
}

/* Append what the rings have behind the log, and complete the snapshot. */
static int copy_rings(const struct px_snapshot *snapshot, struct px_rings_copy *rings,
		      const struct log *log, struct px_log_copy *copy)
{
	struct px_log_copy_result result = {.tick_ns = 1};
	struct px_reader reader;
	void *data;
	int end_error, error = px_reader_init(&reader, &rings->view, snapshot->target_pid,
				   log ? &log->checkpoint->timeline : snapshot->timeline);

	if (error)
		goto end;
	data = malloc(reader.held_capacity);
	if (!data)
		error = ENOMEM;
	else if (!log)
		begin_at_tail(&reader);
	else if (!px_reader_resume(&reader, log->checkpoint))
		error = ENOENT;
	if (!error) {
		copy_events(&reader, rings, data, copy);
		fill_result(snapshot, rings, &reader, log, &result);
	}
	free(data);
	px_reader_destroy(&reader);
end:
	end_error = px_log_copy_end(copy, &result);
	return error ? error : end_error;
}

static int write_all(const struct px_snapshot *snapshot, struct px_rings_copy *rings,
		     const struct log *log)
{
	const struct px_log_copy_setup setup = {.fd = snapshot->fd,
						.writer = px_process_id(),
						.attr = log ? &log->archive->attr : &snapshot->attr,
						.target_pid = snapshot->target_pid,
						.from = log ? log->archive : NULL,
						.view = snapshot->view,
						.namer = snapshot->namer};
	struct px_log_copy *copy;
	int error = px_log_copy_begin(&setup, &copy);

	if (error)
		return error;
	if (log) {
		px_log_copy_events(copy);
		skip_logged(rings, log->checkpoint);
	}
	return copy_rings(snapshot, rings, log, copy);
}

int px_snapshot_write(const struct px_snapshot *snapshot)
{
	struct px_rings_copy rings;
	struct px_write_signals signals;
	struct log log;
	int error = px_rings_copy_make(snapshot->view, &rings);

	if (error)
		return error;
	PX_TESTPOINT("snapshot.rings.copied");
	if (snapshot->slot.has_log)
		error = find_log(snapshot, &log);
	if (!error) {
		px_write_signals_hold(&signals);
		error = write_all(snapshot, &rings, snapshot->slot.has_log ? &log : NULL);
		px_write_signals_release(&signals);
		if (snapshot->slot.has_log)
			close_log(&log);
	}
	px_rings_copy_free(&rings);
	return error;
}

/* Streams of other processes. */

/*
 * The controller keeps the line from counters to times in its own memory.  Make another one, from the time at which the
 * stream was created up to now.
 */
static void make_timeline(const struct px_view *view, uint64_t create_ns,
			  struct px_timeline *timeline)
{
	struct px_clock clock = px_clock_best();
	uint64_t offset = px_clock_realtime_offset_ns(), age_ns, ticks;
	struct px_line *line = &timeline->line[0];

	clock.source = (enum px_clock_source)view->rings.source;
	if (clock.source == PX_CLOCK_MONOTONIC)
		clock.scale = UINT64_C(1) << 48;
	px_timeline_init(timeline, &clock, offset);
	age_ns = timeline->origin.ns + offset - create_ns;
	if (timeline->origin.ns + offset < create_ns)
		age_ns = 0;
	age_ns += EARLIER_NS;
	ticks = px_multiply_divide(age_ns, UINT64_C(1) << 48, clock.scale);
	if (ticks > timeline->origin.counter || age_ns > timeline->origin.ns)
		return; /* the counter began later */
	timeline->origin.counter -= ticks;
	timeline->origin.ns -= age_ns;
	line->counter = timeline->origin.counter;
	line->ns = timeline->origin.ns;
}

static void make_attr(const struct px_view *view, const struct px_registry_slot *slot,
		      struct px_attr *attr)
{
	const struct px_segment *segment = view->segment;
	char name[PX_TRACE_NAME_MAX + 1];

	memcpy(name, segment->name, sizeof(name));
	name[PX_TRACE_NAME_MAX] = '\0';
	px_attr_init(attr);
	px_attr_set_name(attr, name);
	attr->max_data_size = view->max_data;
	attr->inherited = slot->is_inherited != 0;
	attr->stream_policy = px_read_once(&segment->policy);
	attr->stream_size = px_geometry_guarantee(&view->geometry);
	attr->nr_rings = view->geometry.nr_rings;
	attr->create_time = px_attr_time_of(slot->create_ns);
}

int px_snapshot_write_slot(uint32_t index, uint32_t generation, int fd)
{
	struct px_snapshot snapshot = {.index = index, .fd = fd};
	struct px_timeline timeline;
	struct px_mapping mapping;
	struct px_view view;
	int error;

	if (!px_registry_read(index, &snapshot.slot) || snapshot.slot.generation != generation)
		return ENOENT;
	error = px_registry_attach(index, &snapshot.slot, false, &mapping);
	if (error)
		return error;
	if (px_segment_view(&mapping, &view)) {
		make_timeline(&view, snapshot.slot.create_ns, &timeline);
		make_attr(&view, &snapshot.slot, &snapshot.attr);
		snapshot.view = &view;
		snapshot.timeline = &timeline;
		snapshot.target_pid = snapshot.slot.target.pid;
		error = px_snapshot_write(&snapshot);
	} else {
		error = ENOENT;
	}
	px_shm_unmap(&mapping);
	return error;
}
