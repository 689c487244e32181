/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#define ASK_NS UINT64_C(1000000000) /* the bound of the kernel grows by 0.5 ms in this time */

/* Fill in the log's part of a checkpoint: the state of the log after the write of all staged events. */
static void fill_checkpoint(const struct px_log *log, struct px_checkpoint_log *to)
{
	const struct px_log_cursor *staged = &log->staged;

	*to = (struct px_checkpoint_log){
		.last_ns = staged->last_ns,
		.nr_lost = log->nr_lost,
		.nr_begun = log->nr_begun,
		.volume = px_log_volume_number(&log->header, log->stage_position),
		.base_ns = staged->stamps.base_ns,
		.ticks = staged->stamps.ticks,
		.real = staged->stamps.real,
		.has_stamps = staged->stamps.begun,
		.has_stop = staged->has_stop,
		.wants_stop = log->wants_stop,
		.serial = log->translator ?
				  px_call_objects_serial(px_translator_objects(log->translator)) :
				  log->serial,
		.ran = log->ran,
		.ran_priority = log->ran_priority,
		.is_idle = px_log_is_idle_after_stage(log),
		.ends_stopped = staged->ends_stopped,
	};
}

void px_log_keep_checkpoint(struct px_log *log, struct px_checkpoint *checkpoint)
{
	if (!log->checkpoint_file)
		return;
	fill_checkpoint(log, &checkpoint->log);
	px_checkpoint_file_keep(log->checkpoint_file, checkpoint);
}

/*
 * Call this function after all other steps that can fail.  Each commit in the file has a serial, and the checkpoint
 * file has a checkpoint with the same serial.
 */
int px_log_write_commit(struct px_log *log, struct px_checkpoint *checkpoint)
{
	struct px_checkpoint_file *checkpoint_file = log->checkpoint_file;
	int error;

	if (checkpoint)
		fill_checkpoint(log, &checkpoint->log);
	if (checkpoint_file)
		px_checkpoint_file_publish(checkpoint_file,
					   checkpoint ? checkpoint : checkpoint_file->base,
					   log->commit.serial + 1);
	log->commit.serial++;
	px_log_seal_commit(&log->commit);
	error = px_log_write_all(log, &log->commit, sizeof(log->commit), log->commit_at);
	if (error)
		log->commit.serial--;
	else if (checkpoint_file && checkpoint)
		px_checkpoint_file_keep(checkpoint_file, checkpoint);
	return error;
}

uint64_t px_log_nr_lost(const struct px_log *log)
{
	return log->nr_lost + log->staged.nr_overwritten;
}

/* A process that traces itself asks once, because it may get a filter of its system calls at any time. */
static bool asks_error(struct px_log *log, uint64_t now_ns)
{
	bool is_first = log->next_error_ns == 0;

	if (now_ns < log->next_error_ns)
		return false;
	log->next_error_ns = log->remote_pid ? now_ns + ASK_NS : UINT64_MAX;
	return log->remote_pid || (is_first && px_log_clocks_may_ask());
}

void px_log_read_clocks(struct px_log *log, const struct px_log_state *state)
{
	struct px_clock_reading reading;

	if (!log->reads_clocks || state->offset_ns == 0)
		return;
	reading = px_log_clocks_read(state->offset_ns);
	if (asks_error(log, reading.time_ns))
		reading.error_ns = px_log_clocks_error();
	log->reads_clocks = px_log_clocks_add(&log->commit.clocks, &reading, &log->sleep);
}

void px_log_fill_commit(struct px_log *log, const struct px_log_state *state, size_t frame_size)
{
	struct px_log_commit *commit = &log->commit;

	commit->first = log->staged.first;
	commit->end = log->staged.end;
	commit->end_frame = log->frame + frame_size;
	commit->nr_unlisted = log->staged.nr_unlisted < UINT32_MAX ?
				      (uint32_t)log->staged.nr_unlisted :
				      UINT32_MAX;
	commit->modules_at = log->tail.modules;
	commit->wrappers_at = log->tail.wrappers;
	commit->names_at = log->tail.names;
	commit->nr_events = log->staged.nr_events;
	commit->nr_given_up = log->staged.nr_overwritten;
	commit->nr_shortened = log->staged.nr_shortened;
	commit->shortened_ns = log->staged.shortened_ns;
	commit->overwritten = state->loss.overwritten;
	commit->dropped = state->loss.dropped;
	commit->abandoned = state->loss.abandoned;
	commit->nr_lost = px_log_nr_lost(log);
	commit->stream_full = state->is_full;
	commit->stream_overrun = state->is_overrun;
	commit->log_full = log->is_full;
	commit->log_overrun = commit->nr_lost != 0 || log->lacks_others;
	commit->flush_error = log->first_error;
	px_log_read_clocks(log, state);
}
