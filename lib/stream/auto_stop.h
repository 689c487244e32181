/* SPDX-License-Identifier: MIT */
/*
 * The automatic STOP.  When a bounded stream becomes full, it stops.  The reader then reports one STOP event.
 *
 * A run is the time from a START to the next stop.  The segment holds the number of the run.  The automatic STOP of a
 * run is in one of these states, and becomes REPORTED at most once:
 *
 *	state		stored as				left by
 *	NONE		the state word is not AUTO_FULL		a ring is full: FILTERED or DUE
 *								START while full, after a STOP: CANCELLED
 *	CANCELLED	AUTO_FULL, run.settled is the run	the next run: NONE
 *	FILTERED	AUTO_FULL, STOP filtered at the stop	the next run: NONE
 *	DUE		AUTO_FULL, but neither of these two	all records are read: REPORTED
 *								START or FLUSH_START is recorded: MARKED
 *	MARKED		the marks of that record hold the run	the reader takes that record: QUEUED
 *	QUEUED		`queued` is the run			the next report: REPORTED
 *	REPORTED	`reported` is the run			the next run: NONE
 *
 * Clear changes every state to NONE, except REPORTED.  A STOP can be DUE and MARKED at the same time.  If it is already
 * REPORTED when the reader takes the record with the marks, the reader does not queue it again.  "Filtered at the stop"
 * means: when the stream stopped, its filter contained STOP.  As long as the filter does not change, this is the
 * current filter.  When the filter changes, run.is_filtered records whether the filter at the stop contained STOP.
 *
 * The stream itself also leaves AUTO_FULL.  It becomes RUNNING when it has room again and is armed.  It becomes STOPPED
 * when it is empty and not armed.
 *
 * If a stream was RUNNING when its controller died, recovery adds another STOP at the end of the log.  It is called the
 * last STOP:
 *
 *	state		stored as				left by
 *	NONE		last_stop_counter is 0			the stream runs, STOP is not filtered: UNDATED
 *	UNDATED		last_stop_counter is 1			a writer fills the stream: NONE; else: DUE
 *	DUE		last_stop_counter is that of STOP	recovery appends it to the log: LOGGED
 *	LOGGED		has_last_stop of the checkpoint		-
 *
 * Segment, checkpoint and checkpoint file together hold these states.  So a recovery can start from any state.  If it
 * is killed, the next recovery continues.  A full log ends with yet another STOP: see log/log.h.
 *
 * Callers hold the lock of the stream.
 */
#ifndef PX_STREAM_AUTO_STOP_H
#define PX_STREAM_AUTO_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "log/checkpoint.h"
#include "ring/segment.h"

/* The reader's part.  At the beginning all members are 0. */
struct px_auto_stop {
	uint32_t queued;	  /* a run whose STOP is QUEUED; 0: none */
	uint32_t reported;	  /* the last run that is REPORTED; 0: none */
	uint32_t reported_before; /* `reported` before the last STOP */
	bool has_last_stop;	  /* the last STOP is LOGGED */
	uint64_t settled_state;	  /* argument of the last px_auto_stop_settle() */
};

/* The runs of a stream. */

/* Begin a new run. */
void px_auto_stop_begin_run(const struct px_view *view);

/* Call this when a stream becomes AUTO_FULL but has not run since its last stop: then no STOP is due. */
void px_auto_stop_cancel(const struct px_view *view);

/*
 * Call this when the filter has changed while the stream was in this state.  If the stream was AUTO_FULL, record
 * whether the old filter, `filter`, contains STOP (FILT-1).
 */
void px_auto_stop_keep_filter(const struct px_view *view, uint64_t state,
			      const struct px_eventset *filter);

/* Return the run with a STOP that is DUE in this state, or 0.  The reader may have reported this STOP already. */
uint32_t px_auto_stop_due(const struct px_view *view, uint64_t state);

/*
 * Return true if this state word differs from the state word of the last call.  This happens once for each automatic
 * stop.  Then the reader may not see all reservations from before the stop yet.  The caller must make them visible, and
 * read again.
 */
bool px_auto_stop_settle(struct px_auto_stop *stop, uint64_t state);

/* Return true if the stream is AUTO_FULL and armed, and half of every ring is free (UFULL-7). */
bool px_auto_stop_can_restart(const struct px_view *view, uint64_t state);

/* Call this when the stream is empty.  If it is AUTO_FULL and not armed, it becomes STOPPED (AMB-8). */
void px_auto_stop_end(const struct px_view *view, uint64_t state);

/* The reader. */

/* Call this when the reader takes a record with marks.  run is the run in the marks, or 0. */
void px_auto_stop_queue(struct px_auto_stop *stop, uint32_t run);

PX_INLINE bool px_auto_stop_is_queued(const struct px_auto_stop *stop)
{
	return stop->queued != 0;
}

/* Return true if the STOP of this run must be reported, and make it REPORTED.  Return false for run 0. */
bool px_auto_stop_report(struct px_auto_stop *stop, uint32_t run);

/* Change the STOP that is QUEUED to REPORTED. */
void px_auto_stop_report_queued(struct px_auto_stop *stop);

/* Call this when the stream is cleared. */
void px_auto_stop_clear(struct px_auto_stop *stop);

/* Save the reader's part in a checkpoint.  If in_hand is true, save the last reported STOP as not reported yet. */
void px_auto_stop_save(const struct px_auto_stop *stop, bool in_hand,
		       struct px_checkpoint *checkpoint);

/* Load the reader's part from a checkpoint. */
void px_auto_stop_load(struct px_auto_stop *stop, const struct px_checkpoint *checkpoint);

/* Recovery. */

/*
 * Call this before you stop the stream.  It changes NONE to UNDATED if the stream is RUNNING in this state and its
 * filter does not contain STOP.
 */
void px_auto_stop_note_last(const struct px_view *view, uint64_t state,
			    struct px_checkpoint_content *file);

/*
 * Call this after you have stopped the stream.  It changes UNDATED to DUE.  If a writer has filled the stream first,
 * there is an automatic STOP instead: then it changes UNDATED to NONE.
 */
void px_auto_stop_date_last(const struct px_view *view, struct px_checkpoint_content *file);

/* Change DUE to LOGGED and return the counter of the last STOP.  Return 0 in all other states. */
uint64_t px_auto_stop_take_last(struct px_auto_stop *stop,
				const struct px_checkpoint_content *file);

#endif
