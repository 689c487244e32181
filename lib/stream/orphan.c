/* SPDX-License-Identifier: MIT */
/* Make a stream from the segment of a dead controller, so that this process can complete its log. */
#include "stream/stream_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysv.h"
#include "event/calls.h"
#include "ring/growth.h"
#include "trace/callpoint.h"

static int attach(const struct px_checkpoint_content *file, bool all, struct px_view *view)
{
	char name[PX_SHM_NAME_MAX];
	struct px_mapping mapping;
	int error;

	px_registry_segment_name(file->index, file->generation, name);
	error = file->segment != 0 ? px_sysv_attach_own(file->segment, &mapping) :
				     px_shm_attach(name, false, &mapping);
	if (error)
		return error;
	if (!px_segment_view(&mapping, view) || view->rings.nr_rings != file->nr_rings)
		error = EINVAL;
	else if (all && !(view->grows == PX_GROWS_SHARED && px_growth_has_memory(view)) &&
		 !px_growth_finish(view))
		error = ENOMEM;
	if (error)
		px_shm_unmap(&mapping);
	return error;
}

static int resume(struct px_stream *stream, struct px_checkpoint_file *checkpoint_file)
{
	const struct px_checkpoint *base = checkpoint_file->base;
	int error;

	stream->index = checkpoint_file->file->index;
	stream->view.generation = checkpoint_file->file->generation;
	stream->target = checkpoint_file->file->target;
	stream->dropped_base = base->dropped_base;
	stream->given_up_base = base->given_up_base;
	stream->was_overrun = base->was_overrun != 0;
	stream->logging.checkpoint_file = checkpoint_file;
	stream->logging.is_suspended = base->is_suspended != 0;
	error = px_reader_init(&stream->reader, &stream->view, stream->target.pid, &base->timeline);
	if (error)
		return error;
	stream->reader.keeps_slots = stream->view.limit != 0;
	stream->reader.keeps_marks = true;
	stream->logging.data = malloc(stream->reader.held_capacity);
	stream->logging.checkpoint = px_checkpoint_make(stream->view.rings.nr_rings);
	if (!stream->logging.data || !stream->logging.checkpoint)
		return ENOMEM;
	return px_reader_resume(&stream->reader, base) ? 0 : EINVAL;
}

int px_stream_resume(struct px_checkpoint_file *checkpoint_file, bool all, struct px_stream **stream)
{
	struct px_stream *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return ENOMEM;
	error = attach(checkpoint_file->file, all, &made->view);
	if (error) {
		free(made);
		return error;
	}
	error = resume(made, checkpoint_file);
	if (error) {
		px_stream_free(made);
		return error;
	}
	*stream = made;
	return 0;
}

static bool has_memory(const struct px_view *view, const struct px_ring_control *control)
{
	uint64_t tail = px_read_once(&control->tail);

	return (int64_t)tail >= 0 ||
	       px_read_once(&control->head) <= tail + view->geometry.nr_slots;
}

/* A user event type may have another number in the next program. */
static bool has_only_calls(const struct px_typelist *types)
{
	char name[PX_NAME_MAX + 1];
	enum px_call call;
	unsigned int id;

	for (uint32_t i = 0; px_typelist_get(types, i, &id, name); i++)
		if (id != PX_EVENT_NONE && !px_call_of_event(id, &call))
			return false;
	return true;
}

bool px_stream_is_transferable(struct px_stream *stream)
{
	const struct px_view *view = &stream->view;
	struct px_loss loss;

	px_stream_loss(stream, &loss);
	if (loss.overwritten || loss.dropped || loss.abandoned || !view->limit ||
	    !has_only_calls(&view->segment->types) ||
	    px_state_of(px_load_acquire(&view->segment->state)) != PX_STATE_RUNNING)
		return false;
	for (uint32_t i = 0; i < view->rings.nr_rings; i++)
		if (!has_memory(view, px_rings_get(&view->rings, i).control))
			return false;
	return true;
}

void px_stream_copy_tables(struct px_stream *to, const struct px_stream *from)
{
	const struct px_typelist *types = &from->view.segment->types;
	const struct px_threads *threads = &from->view.segment->threads;
	uint64_t next = px_read_once(&threads->next);
	char name[PX_NAME_MAX + 1];
	struct px_object object;
	unsigned int id;

	for (uint32_t i = 0; px_typelist_get(types, i, &id, name); i++)
		if (id != PX_EVENT_NONE)
			px_view_add_type(&to->view, id, name);
	for (uint64_t i = next > PX_THREADS_MAX ? next - PX_THREADS_MAX : 0; i < next; i++)
		if (px_threads_get(threads, i, &object))
			px_view_add_thread(&to->view, &object);
}

/*
 * Both programs normally have the same version of the preloaded object, and so the same rows, or other ones at the end
 * if the programs are of different word sizes.
 */
void px_stream_add_calls(struct px_stream *to, const struct px_stream *from)
{
	struct px_ring_control *sum = px_rings_get(&to->view.rings, 0).control;
	const struct px_wrapper_stats *stats = &from->view.segment->wrapper_stats;
	const struct px_wrapper_row *rows;
	uint32_t nr_rows;

	if (!px_callpoint_rows || !(rows = px_callpoint_rows(&nr_rows)))
		return;
	px_wrapper_stats_write(&to->view.segment->wrapper_stats, rows, nr_rows);
	for (uint32_t i = 0; i < nr_rows; i++)
		for (uint32_t k = 0; px_wrapper_stats_has(stats, i) &&
				     strcmp(rows[i].symbol, stats->row[i].symbol) == 0 &&
				     k < from->view.rings.nr_rings;
		     k++)
			px_fetch_add(&sum->calls[i],
				     px_read_once(&px_rings_get(&from->view.rings, k).control->calls[i]));
}

/*
 * Do not record the last STOP in the stream: if this process died too, a second recovery would record another one.
 * Instead, px_stream_last_stop() synthesizes the last STOP after all events.  Before the exchange of the state, store
 * in the checkpoint file that STOP is due.  After the exchange, store the counter of STOP.
 */
void px_stream_stop_dead(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	struct px_checkpoint_content *file = stream->logging.checkpoint_file->file;
	uint64_t state = px_load_acquire(&segment->state);

	if (px_state_of(state) == PX_STATE_RUNNING && px_read_once(&segment->run.is_starting))
		px_stream_mark_late_drops(stream);
	/* The thread that filled the stream may have died before it stopped the stream. */
	if (stream->view.limit != 0 && px_view_is_full(&stream->view))
		px_view_auto_stop(&stream->view, state);
	state = px_load_acquire(&segment->state);
	px_auto_stop_note_last(&stream->view, state, file);
	PX_TESTPOINT("recover.stop.noted");
	px_stream_leave_running(stream);
	PX_TESTPOINT("recover.stop.stored");
	px_auto_stop_date_last(&stream->view, file);
}

/* Return true if processes have recorded until px_stream_stop_dead() stopped the stream, or may have. */
static bool has_living_writers(const struct px_stream *stream)
{
	const struct px_checkpoint_content *file = stream->logging.checkpoint_file->file;
	const uint64_t *member = stream->view.segment->member;

	if (!px_process_id_is(&file->target, &file->controller) &&
	    px_procfs_is_same(file->target.pid, file->target.start))
		return true;
	for (uint32_t i = 0; i < PX_SEGMENT_MEMBERS; i++) {
		uint64_t word = px_read_once(&member[i]);

		if (word != 0 && px_procfs_has_word(word))
			return true;
	}
	return false;
}

/*
 * If all processes of the stream have ended, nobody knows when: the log may be recovered days later.  Then STOP has the
 * time of the last event.
 */
bool px_stream_last_stop(struct px_stream *stream, struct px_report *report)
{
	static const int manual = 0;
	uint64_t counter;

	if (px_log_refuses(stream->logging.log))
		return false;
	counter = px_auto_stop_take_last(&stream->reader.stop,
					 stream->logging.checkpoint_file->file);
	if (counter == 0)
		return false;
	if (!has_living_writers(stream))
		counter = stream->reader.reported_counter;
	memset(report, 0, sizeof(*report));
	report->record.id = PX_EVENT_STOP;
	report->record.counter = counter;
	report->record.pid = stream->target.pid;
	report->time_ns = px_timeline_convert(&stream->reader.timeline, counter);
	report->length = report->copied = sizeof(manual);
	memcpy(stream->logging.data, &manual, sizeof(manual));
	return true;
}

void px_stream_end_dead(struct px_stream *stream)
{
	px_exchange(&stream->view.segment->state, (uint64_t)PX_STATE_ENDED);
	px_wakeup_wake(&stream->view.segment->waiting);
}
