/* SPDX-License-Identifier: MIT */
/*
 * The reader merges the rings of a stream into one sequence of events.
 *
 * For a snapshot, the reader reads a counter T, and then the heads of all rings.  If an event was completely recorded
 * before the snapshot, its counter is below T, and its position is below the head of its ring.  The reader reports the
 * events for which both conditions are true, in the order of their counters.  So if a program can observe that one
 * event came before another, the reader reports them in that order.  If two recordings overlap in time, the reader may
 * report their events in either order (EVENT-11).
 *
 * A heap orders the rings by the counter of their next record.  While that record is reserved and not committed, its
 * counter is not known.  The heap then uses the counter of the ring's last record, because the next record cannot be
 * older.  When such a ring is at the top of the heap, the reader waits for the writer.  Usually it waits for 50 ms.  It
 * waits only for 1 ms in two cases: the caller does not want to wait, or the kernel reports that the thread with the
 * claim is dead or stopped.  After that, the reader
 *
 *	- counts the record as abandoned and frees its slots, if the owner is dead,
 *	- sets the reservation aside if a living thread owns the slots, and reports its record later (reader_private.h),
 *	- revokes the reservation if no thread has claimed the slot: its writer then makes another one
 *	  (px_ring_revoke()).
 *
 * Cut-off rule: when writers have lapped some rings, each of these rings has an oldest surviving record.  The youngest
 * of these records is the cut-off.  In every ring, the reader counts all unread events before the cut-off as
 * overwritten.  So it always reports the most recent events (LOOP-2).  It reports the gap once, as OVERFLOW and RESUME
 * before the next event (LOOP-4, LOOP-5).
 *
 * The reader reports every record once, or counts it as lost once.  It counts by this rule: below a cursor there are
 * position - extra records.  When the reader jumps over lapped slots, it computes the number of records in them from
 * the ring's own extra (R7 in ring.h).  That extra may lack the slots of events that writers were recording at that
 * moment.  The next jump corrects the count, and px_reader_loss() corrects it when all events are read.  If a
 * reservation was revoked or freed, and its writer never adds it to extra, it counts as a lost event: as overwritten if
 * other events were written to its slots before the reader looked at them again, otherwise as abandoned.
 *
 * In a bounded stream with log, the reader keeps slots until their events are in the file (px_reader_release()).  So
 * the events survive if the controller dies.  A checkpoint (checkpoint.h) records where the reader of another process
 * continues: after the last reported event, or before it.
 *
 * The caller ensures with a lock that only one thread at a time uses a reader.  The reader keeps its state in private
 * memory.  Only the tails of the rings, below which slots are free, are in shared memory.
 */
#ifndef PX_STREAM_READER_H
#define PX_STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/checkpoint.h"
#include "log/log.h"
#include "ring/report.h"
#include "ring/segment.h"
#include "stream/auto_stop.h"

struct px_cursor {
	uint64_t position; /* next slot to read; the slots below are consumed */
	uint64_t head;	   /* head of the ring in the snapshot */
	uint64_t word;	   /* if is_record: slot word of the record at position */
	uint64_t counter;  /* the heap orders the rings by this counter */
	uint64_t last_counter;
	uint64_t extra; /* slots below position that began no record, as far as the reader knows */
	uint64_t nr_unseen; /* `extra` counts at most this many overwritten records as slots without a record */
	uint32_t nr_jumps;  /* how often extra was set from the ring's extra */
	bool is_guessed; /* no record survived the last lap: extra may also count later slots */
	bool is_record;
	uint64_t pending_until;	   /* the reader waits for the slots below this position */
	uint64_t pending_since_ns; /* start of this wait, CLOCK_MONOTONIC */
	uint64_t passed_until;	   /* end of the slots of a dead thread that the reader passed last */
	uint32_t passed_tid;	   /* tid of that thread */
	uint64_t nr_marked;	   /* nr_marked of the ring at the last look at its marks */
	uint64_t seen[PX_RING_MARKS]; /* if the reader keeps marks: those that it has seen */
	uint64_t overrun_until;	   /* laps up to this position were reported as overrun */
	uint64_t released;	   /* if the reader keeps slots: slots below this position may be freed */
	bool tail_is_held; /* the tail is lower than released: a reservation was set aside, or the ring is partial */
};

#define PX_READER_ASIDE_MAX 512

/* A reservation that was set aside (reader_private.h). */
struct px_aside {
	uint32_t ring;
	uint32_t tid;		  /* tid of the owner; 0: no thread has claimed the slots */
	uint64_t position, until; /* the slots that may still become a record */
	uint64_t word, counter;	  /* if is_ready: those of the record; else: a lower bound of counter */
	uint32_t nr_jumps;	  /* nr_jumps of the cursor when the entry was made */
	bool is_ready;
	bool is_counted; /* the record that the cursor counts for this entry was reported or lost */
	bool holds_tail;
};

/* The state of a cursor before the reader took the last record. */
struct px_taken {
	uint32_t ring;
	bool is_lapped; /* no cursor can go back: writers have overwritten the record, or it was set aside */
	uint64_t position, extra, last_counter;
	uint64_t reported_counter;
};

/* The kind of the last report. */
enum px_reported {
	PX_REPORTED_NOTHING,
	PX_REPORTED_RECORD,
	PX_REPORTED_HELD,
	PX_REPORTED_STOP,	 /* an automatic STOP after all other events */
	PX_REPORTED_MARKED_STOP, /* an automatic STOP before a held or silent record */
	PX_REPORTED_OVERFLOW,
	PX_REPORTED_RESUME,
	PX_REPORTED_LAST_OVERFLOW /* an OVERFLOW after all other events (px_stream_last_gap()) */
};

struct px_reader {
	const struct px_view *view;
	struct px_cursor *cursor; /* one for each ring */
	uint32_t *heap;		  /* numbers of rings: the ring with the lowest counter comes first */
	uint32_t nr_heap;
	bool keeps_slots; /* only px_reader_release() frees slots */
	bool keeps_marks; /* marks stay in the rings, for a process that continues the log */
	bool has_late;	  /* a record that was set aside may be readable, or `mark` is not empty */
	uint32_t nr_aside;
	uint64_t horizon; /* the counter T of the last snapshot */
	struct px_timeline timeline;
	struct px_loss loss;
	bool is_overrun;	    /* the reader has counted a loss that is not reported yet */
	uint64_t reported_given_up; /* number of given-up events that were reported */

	uint64_t *mark; /* counters of lost events for which no gap is noted yet (px_reader_pass_marks()) */
	uint32_t nr_marks, marks_capacity;

	struct px_aside *aside;
	uint32_t next_asked; /* index of the next owner to ask about */
	uint64_t asked_ns;   /* time of the last question, CLOCK_MONOTONIC */
	bool is_in_a_hurry;  /* do not wait for writers */

	/* The synthesized events that the reader still has to report, in this order, and the record after them. */
	struct px_auto_stop stop;
	bool has_waiting; /* at least one of these may be waiting */
	bool overflow_waits;
	bool resume_waits;
	bool held_waits;
	uint64_t overflow_counter, resume_counter;
	struct px_record held;
	unsigned char *held_data;
	size_t held_capacity;

	/* px_reader_checkpoint() needs these for a checkpoint before the last report. */
	enum px_reported reported;
	struct px_taken taken;

	/*
	 * True: the reader continues from a checkpoint that was made between the report of this event and the report of
	 * the record after it.  So OVERFLOW, or RESUME, is already in the log: do not report it again.
	 */
	bool skips_overflow, skips_resume;

	bool in_gap;		   /* events before the next record were lost */
	uint64_t gap_counter;	   /* counter of the first of these events */
	uint64_t cut;		   /* counter of the cut-off: older events count as overwritten */
	uint64_t reported_counter; /* the highest counter of a reported record */
	uint32_t target_pid;
};

/* Initialize a reader that begins at the tails of the view's rings.  Return 0 or ENOMEM. */
int px_reader_init(struct px_reader *reader, const struct px_view *view, uint32_t target_pid,
		   const struct px_timeline *timeline);
void px_reader_destroy(struct px_reader *reader);

/*
 * Return the next event, with at most capacity bytes of its data.  Synthesized events of the types in filter are
 * not reported (SYSEV-9).
 */
enum px_next px_reader_next(struct px_reader *reader, const struct px_eventset *filter, void *data,
			    size_t capacity, struct px_report *report);

/* What px_reader_run() takes. */
struct px_reader_run {
	bool has_bound;
	uint64_t bound; /* if has_bound: only records with an earlier counter */
	/* No record with an earlier time.  px_reader_run() sets this to the time of the last event. */
	uint64_t earliest_ns;
	size_t data_max; /* only records with at most this many bytes of data */
};

/*
 * Take the next records that are usual events of a log (usual.h), and stage them.  This does what px_reader_next() and
 * px_log_append() do for each of them, but for many records of one ring at a time.  Return their number.  It is 0 if
 * the next event needs anything else: another record, a wait for a writer, another snapshot of the rings, or a
 * synthesized event.  Then px_reader_next() returns it.
 */
uint64_t px_reader_run(struct px_reader *reader, struct px_log *log, struct px_reader_run *run);

/*
 * Report the automatic STOP of this run after all other events.  Call this only when px_reader_next() returns nothing.
 * Return false if there is no STOP to report (px_auto_stop_report()).
 */
bool px_reader_make_stop(struct px_reader *reader, uint32_t run, void *data, size_t capacity,
			 struct px_report *report);

/*
 * Fill in the position at which reading continues: before the last report if in_hand is true, otherwise after it.
 * checkpoint has room for all rings.
 */
void px_reader_checkpoint(const struct px_reader *reader, bool in_hand,
			  struct px_checkpoint *checkpoint);

/*
 * Continue at the checkpoint.  Call this directly after px_reader_init().  Return false if the rings of this view
 * cannot have the positions of the checkpoint.
 */
bool px_reader_resume(struct px_reader *reader, const struct px_checkpoint *checkpoint);

/* If the reader keeps slots, free the slots below the positions of this checkpoint. */
void px_reader_release(struct px_reader *reader, const struct px_checkpoint *checkpoint);

/*
 * Return true if the reader keeps so many slots of the ring with the last record that the writers may run out of slots.
 */
PX_INLINE bool px_reader_keeps_much(const struct px_reader *reader)
{
	const struct px_cursor *cursor = &reader->cursor[reader->taken.ring];

	return reader->keeps_slots && cursor->position - cursor->released > reader->view->limit / 4;
}

/*
 * Return the events lost since the beginning, or the last clear.  While writers record, this may count a
 * few events that are not lost.  It is exact when all events are read and no writer is recording.
 */
void px_reader_loss(struct px_reader *reader, struct px_loss *loss);

/*
 * Call this at the end of a log, when px_reader_next() returns nothing.  Count all records that were set aside as
 * abandoned.  Return true if some of them can be read after all, and do nothing.
 */
bool px_reader_give_up_late(struct px_reader *reader);

/* Forget all recorded events (CLEAR-1), and the losses. */
void px_reader_clear(struct px_reader *reader);

/*
 * Return true if unread events were overwritten, given up or abandoned since the last call that returned true.
 * This call or the next one reports a loss that happens during the call (STATUS-3).
 */
bool px_reader_report_overrun(struct px_reader *reader);

#endif
