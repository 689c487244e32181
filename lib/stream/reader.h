/* SPDX-License-Identifier: MIT */
/*
 * The reader: the rings of a stream merged into one sequence of events.
 *
 * A snapshot is a counter T and then, read after it, the heads of all rings.  Every event whose
 * recording was over when the snapshot began has a counter below T and lies below the heads; so
 * reporting what is below both, in the order of counters, keeps every order that a program can know
 * of.  Only events whose recording overlapped in time may come in the other order (EVENT-11).
 *
 * In a heap, each ring stands with the counter of its next record; or, while that is reserved and
 * not committed, with the counter of its last one, since the next cannot be older.  When such a
 * ring comes to the top, the reader waits for its writer: 50 ms, or only 1 ms if it has claimed the
 * slot and the kernel says that it is dead or stopped.  Then the record counts as lost, and its
 * slots are passed for good.
 *
 * Cut rule: when writers have lapped a ring, everything unread that is older than the youngest
 * oldest survivor of the lapped rings counts as overwritten too, so that what is reported is always
 * the most recent (LOOP-2).  The gap is reported once, as OVERFLOW and RESUME ahead of the next
 * event (LOOP-4, LOOP-5).
 *
 * Every record is reported or counted as lost, once: below a cursor lie position - extra records.
 * What a jump passes is counted by the ring's own extra (R7 in ring.h), which may lack what was in
 * flight at that moment; the next jump, or a look at the losses when all is read, makes up for it.
 *
 * In a bounded stream with log, what is read is not freed before it is in the file, so that it is still there
 * if the controller dies: px_reader_release().  A checkpoint (checkpoint.h) says from where another reader, in
 * another process, goes on.  It stands behind the last report or ahead of it.
 *
 * One thread at a time; the caller locks.  Private memory, except for the tails.
 */
#ifndef PX_STREAM_READER_H
#define PX_STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/checkpoint.h"
#include "ring/report.h"
#include "ring/segment.h"
#include "stream/auto_stop.h"

struct px_cursor {
	uint64_t position; /* next slot to look at; what is below is consumed */
	uint64_t head;	   /* of the snapshot */
	uint64_t word;	   /* of the record at position, when is_record */
	uint64_t counter;  /* key in the heap */
	uint64_t last_counter;
	uint64_t extra; /* slots below position that began no record, as far as we know */
	bool is_guessed; /* nothing survived the last lap, so extra may be of beyond its end */
	bool is_record;
	uint64_t pending_until;	   /* positions below this are waited for since ... */
	uint64_t pending_since_ns; /* CLOCK_MONOTONIC */
	uint64_t passed_until;	   /* behind the last reservation that was given up, ... */
	uint32_t passed_tid;	   /* and its owner; 0: unknown */
	uint64_t given_up;	   /* of the ring, when slots of the dead were last looked for */
	uint64_t arg;		   /* overwriting up to here was told as overrun */
	uint64_t released;	   /* the ring's tail, where slots are kept */
};

/* Where a cursor was before the last record was taken. */
struct px_taken {
	uint32_t ring;
	bool is_lapped; /* and no cursor can go back there */
	uint64_t position, extra, last_counter;
	uint64_t reported_counter;
};

/* What the last report was. */
enum px_reported {
	PX_REPORTED_NOTHING,
	PX_REPORTED_RECORD,
	PX_REPORTED_HELD,
	PX_REPORTED_STOP,	 /* behind everything else, */
	PX_REPORTED_MARKED_STOP, /* or ahead of a held or silent record */
	PX_REPORTED_OVERFLOW,
	PX_REPORTED_RESUME
};

struct px_reader {
	const struct px_view *view;
	struct px_cursor *cursor; /* one a ring */
	uint32_t *heap;		  /* rings, the lowest counter first */
	uint32_t nr_heap;
	bool keeps_slots; /* what is read is freed by px_reader_release() only */
	uint64_t horizon; /* T */
	struct px_timeline timeline;
	struct px_loss loss;
	bool is_overrun;      /* a lap was passed that is not told yet */
	uint64_t told_others; /* events given up and abandoned that were told */

	/* Made events, in the order in which they are reported, and the record behind them. */
	struct px_auto_stop stop;
	bool overflow_waits;
	bool resume_waits;
	bool held_waits;
	uint64_t overflow_counter;
	struct px_record held;
	unsigned char *held_data;
	size_t held_capacity;

	/* For a checkpoint ahead of the last report. */
	enum px_reported reported;
	struct px_taken taken;

	/* A checkpoint stood between these and the record that they belong to. */
	bool skips_overflow, skips_resume;

	bool in_gap;		   /* events were lost ahead of the next record */
	uint64_t gap_counter;	   /* of the first of them */
	uint64_t cut;		   /* what is older than this counts as overwritten */
	uint64_t reported_counter; /* of the last record reported */
	uint32_t target_pid;
};

/* Begin at the tails of the view's rings.  0 or ENOMEM. */
int px_reader_init(struct px_reader *reader, const struct px_view *view, uint32_t target_pid,
		   const struct px_timeline *timeline);
void px_reader_destroy(struct px_reader *reader);

/*
 * The next event, with at most capacity bytes of its data.  filter: made events of these types are
 * not reported (SYSEV-9).
 */
enum px_next px_reader_next(struct px_reader *reader, const struct px_eventset *filter, void *data,
			    size_t capacity, struct px_report *report);

/*
 * The automatic STOP of this run, after everything else: the caller knows that px_reader_next() has nothing.
 * False: there is none to report (px_auto_stop_report()).
 */
bool px_reader_make_stop(struct px_reader *reader, uint32_t run, void *data, size_t capacity,
			 struct px_report *report);

/*
 * Where reading goes on.  in_hand: at the last report, which nobody has taken over yet; else behind it.
 * checkpoint has room for all rings.
 */
void px_reader_checkpoint(const struct px_reader *reader, bool in_hand,
			  struct px_checkpoint *checkpoint);

/* Go on there, right after px_reader_init().  False: that is nowhere in these rings. */
bool px_reader_resume(struct px_reader *reader, const struct px_checkpoint *checkpoint);

/* Free what is below the positions of this checkpoint, if slots are kept. */
void px_reader_release(struct px_reader *reader, const struct px_checkpoint *checkpoint);

/* True if so much of a ring is read and kept that its writers might miss it. */
PX_INLINE bool px_reader_keeps_much(const struct px_reader *reader)
{
	const struct px_cursor *cursor = &reader->cursor[reader->taken.ring];

	return reader->keeps_slots && cursor->position - cursor->released > reader->view->limit / 4;
}

/*
 * Events lost since the beginning, or the last clear.  While writers are at work a few may be
 * counted that were not lost; not any more when all is read and nobody is in the middle of an
 * event.
 */
void px_reader_loss(struct px_reader *reader, struct px_loss *loss);

/* Forget everything that is recorded (CLEAR-1), and the losses. */
void px_reader_clear(struct px_reader *reader);

/*
 * True if unread events were overwritten, given up or abandoned since the last call that said so.
 * A loss that happens meanwhile is told by this call or the next (STATUS-3).
 */
bool px_reader_tell_overrun(struct px_reader *reader);

#endif
