/* SPDX-License-Identifier: MIT */
/*
 * The shared memory of one stream: the members that never change, the state word, the filters, the counts of lost
 * events, the tables of threads and event types, and the rings.
 *
 * The state word decides whether an event is recorded.  Threads change it as a whole, by compare-exchange or exchange.
 * It holds two versions.  Each change of the filter raises the version of the filter.  A controller that sets a new
 * state raises the version of the window.  A controller that only clears the armed bit does not, because no writer
 * reads that bit.  After 256 changes of the filter, its version begins again, and the version of the window rises, too.
 * So if a writer finds the word unchanged, nothing happened in between:
 *
 *	writer		load the word (RUNNING), test the filter it names, reserve, load the word again;
 *			if only the filter has changed, test the new filter; otherwise give the slots up
 *			and begin again
 *	stop		exchange the word for STOPPED, make all CPUs pass a barrier (C5 in cpuring.h), then
 *			take the counter of STOP
 *	start		record START, then store RUNNING
 *	filter		write the next of four sets, exchange the word, make all CPUs pass the same barrier, then
 *			record FILTER
 *
 * If a writer's second load returns RUNNING, the writer took its counter before stop took the counter of STOP.  If its
 * first load returns RUNNING, the writer takes its counter after START got its counter.  So START is the first event,
 * STOP is the last event, and an event recorded after FILTER was tested against the new set.
 *
 * The counter of STOP must be read after the exchange is visible to all CPUs.  Otherwise a writer could read a later
 * counter than STOP and still load RUNNING.  On aarch64 an exchange alone does not ensure this.  It takes a DSB, which
 * completes the exchange, and then an ISB, because a DSB does not keep the CPU from reading the counter early.  Each
 * read of the counter begins with the ISB (clock.h).  So these are the paths:
 *
 *	stop, filter	exchange, DSB (settle_writers()), px_clock_read_later(), counter of STOP or FILTER
 *	recovery	the same, and px_clock_read_later() gives the counter of the last STOP
 *	automatic stop	No thread reads a counter for it.  Before the next START the controller has loaded AUTO_FULL
 *			and passes the DSB; the writers that saw RUNNING had read their counters before.
 *	writer		counter, exchange of head that depends on it, load with acquire of the state word
 *
 * tests/tree/aarch64.sh looks for these steps in the code of a compiler.
 *
 * Both versions together have 56 bits.  The word is the same again after 2^56 changes of the filter, or after 2^48
 * changes of the state.  The fastest controller takes 0.35 us for a change of the filter and 0.16 us for a change of
 * the state.  So a writer would have to sleep between its two loads for at least 1.4 years, while a controller does
 * nothing else.
 *
 * When the version of the window rises with the filter, a writer between its loads begins again, as after a stop.  If
 * it has just filled the stream, it leaves the automatic stop to the thread that changes the filter.  That thread looks
 * after the change whether the stream is full.
 *
 * In a segment of zeros, the state means "ended".  A retired mapping holds only zeros (see px_shm_retire()).
 */
#ifndef PX_RING_SEGMENT_H
#define PX_RING_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/layout.h"
#include "base/shm.h"
#include "event/attr.h"
#include "event/descriptions.h"
#include "event/eventset.h"
#include "event/threads.h"
#include "event/typelist.h"
#include "ring/record.h"
#include "ring/wrapper_stats.h"

/* All rings of a stream, at their addresses in this process. */
struct px_rings {
	char *base;
	size_t stride;
	uint32_t nr_rings;
	uint32_t nr_shared; /* the shared rings come first; each other ring belongs to one CPU (cpuring.h) */
	uint32_t nr_slots;
	uint32_t source; /* enum px_clock_source */
	uint32_t shift;	 /* stamp = counter >> shift */
	size_t slots_at; /* px_ring_slots_offset(nr_slots) */
};

PX_INLINE struct px_ring px_rings_get(const struct px_rings *rings, uint32_t i)
{
	char *base = rings->base + i * rings->stride;

	return (struct px_ring){
		.control = (struct px_ring_control *)base,
		.entries = (struct px_txtb_entry *)(base + PX_RING_ENTRIES_OFFSET),
		.slots = (struct px_slot *)(base + rings->slots_at),
		.mask = rings->nr_slots - 1,
	};
}

#define PX_SEGMENT_MAGIC PX_LAYOUT_MAGIC(0x747845636176)
#define PX_SEGMENT_FILTERS 4
#define PX_THREAD_TIME_WAIT_NS 50000 /* the question to the kernel takes less than 2 % of this time */
#define PX_SEGMENT_MEMBERS 1024

enum px_state {
	PX_STATE_ENDED = 0,
	PX_STATE_STOPPED = 1, /* created, or stopped by a call */
	PX_STATE_RUNNING = 2,
	PX_STATE_AUTO_FULL = 3 /* stopped automatically: no room for events */
};

/* Bits 0-3 state, 4 restart armed, 8-15 version of the filter (8-9 filter), 16-63 version of the window. */
#define PX_STATE_ARMED UINT64_C(0x10)
#define PX_STATE_FILTERS UINT64_C(0xFF00)
#define PX_STATE_FILTER_BIT 8
#define PX_STATE_WINDOW_BIT 16

PX_INLINE enum px_state px_state_of(uint64_t word)
{
	return (enum px_state)(word & 15);
}

PX_INLINE unsigned int px_state_filter(uint64_t word)
{
	return word >> PX_STATE_FILTER_BIT & (PX_SEGMENT_FILTERS - 1);
}

/* Return true if the words differ in the filter only, or not at all. */
PX_INLINE bool px_state_is_same_window(uint64_t a, uint64_t b)
{
	return ((a ^ b) & ~PX_STATE_FILTERS) == 0;
}

/*
 * Return true if there was no START, no stop by a call and no clear between these words.  It may be false after a
 * change of the filter, because the version of the window may rise with it.
 */
PX_INLINE bool px_state_is_same_run(uint64_t a, uint64_t b)
{
	return (a ^ b) >> PX_STATE_WINDOW_BIT == 0;
}

/* Return the word that opens a new window with this state. */
PX_INLINE uint64_t px_state_next(uint64_t word, enum px_state state, bool armed)
{
	return ((word & ~UINT64_C(0xFF)) | (armed ? PX_STATE_ARMED : 0) | (uint64_t)state) +
	       (UINT64_C(1) << PX_STATE_WINDOW_BIT);
}

/*
 * Return the word with the next filter, in the same window, or in the next one if the version of the filter begins
 * again.  The low bits of the version are the filter.
 */
PX_INLINE uint64_t px_state_next_filter(uint64_t word)
{
	return word + (UINT64_C(1) << PX_STATE_FILTER_BIT);
}

/* Sizes of a stream: rings, and slots of one ring. */
struct px_geometry {
	uint32_t nr_rings;
	uint32_t nr_shared; /* threads on any CPU write to these rings; the others belong to CPU 0, 1, ... */
	uint32_t nr_slots;
	uint32_t event_slots; /* slots of the largest user event */
	uint32_t user_limit;  /* user events may reserve this many slots that are not yet consumed */
};

/*
 * The runs of a stream.  A run lasts from a START to the next stop.  Only the controller uses this structure.  It is in
 * the segment because another process needs it to complete the log of a dead controller (UFULL-2).
 */
struct px_run {
	uint32_t serial;      /* serial of the last run; 0: no run yet */
	uint32_t settled;     /* serial of a run that needs no automatic STOP, whatever the state is */
	uint32_t judged;      /* serial of a run whose filter changed during its automatic stop */
	uint32_t is_filtered; /* 1: before that change, the filter of run `judged` excluded STOP */
	uint32_t is_starting; /* 1: the stream runs, but losses during START may not be marked yet */
	uint32_t reserved;
	uint64_t dropped;     /* px_view_unmarked_drops() at the last START */
	uint64_t start_counter; /* counter of the last START */
};

struct px_segment {
	/* The creator writes these members once, before other processes can find the segment. */
	uint64_t magic;
	uint64_t size;
	struct px_geometry geometry;
	uint32_t bounded; /* 0: the rings loop */
	uint32_t source;  /* enum px_clock_source */
	uint32_t shift;
	uint32_t policy;   /* enum px_full_policy; stream_list.h reads the policy and the name */
	uint32_t grows;	   /* enum px_grows: if it is not 0, rings may be partial (growth.h) */
	uint32_t aggregates; /* 1: calls that do not wait are counted (trace/counted.h) */
	uint32_t word_bytes; /* size of a pointer of the controller, and so of the log */
	uint64_t max_data; /* bytes */
	uint32_t stacks;	   /* PX_STACKS_NONE, ... (attr.h) */
	px_wide_word stack_ticks; /* the bound of the attribute `stacks`, in ticks of the counter */
	/* 1: there are no scheduling records, so threads record their CPU times after waits of at least wait_ticks */
	uint32_t has_thread_times;
	px_wide_word wait_ticks;
	char name[PX_TRACE_NAME_MAX + 1];

	/* Controllers write the state, and so does the writer that fills a bounded ring.  All writers read it. */
	uint64_t state __attribute__((aligned(PX_CACHE_LINE)));
	uint32_t waiting; /* enum px_waiting (wakeup.h) */

	/*
	 * Counter of the first event that was dropped since the last start; 0: none.  The rings count the dropped
	 * events.
	 */
	uint64_t first_dropped __attribute__((aligned(PX_CACHE_LINE)));
	uint64_t horizon; /* counter of the reader's last snapshot; 0: no snapshot yet */

	struct px_run run __attribute__((aligned(PX_CACHE_LINE)));

	struct px_eventset filter[PX_SEGMENT_FILTERS] __attribute__((aligned(PX_CACHE_LINE)));
	struct px_threads threads;
	struct px_typelist types;
	struct px_descriptions descriptions; /* of these types */
	struct px_wrapper_stats wrapper_stats;

	/* The processes that inherited the stream (inherit.h), as words of px_procfs_word(); 0: free entry. */
	uint64_t member[PX_SEGMENT_MEMBERS];
};

_Static_assert(offsetof(struct px_segment, name) == 104 && sizeof(struct px_segment) == 781184,
	       "the same for each word size (layout.h)");

/* The rings begin on the next page. */
#define PX_SEGMENT_RINGS_OFFSET                                                                    \
	((sizeof(struct px_segment) + PX_RING_PAGE - 1) & ~(size_t)(PX_RING_PAGE - 1))

PX_INLINE size_t px_segment_size(const struct px_geometry *geometry)
{
	return PX_SEGMENT_RINGS_OFFSET +
	       (size_t)geometry->nr_rings * px_ring_stride(geometry->nr_slots);
}

/*
 * A segment as one process sees it.  It holds checked copies of the fixed members, and this process never reads these
 * members from the segment again.  No thread changes a published view.  The view is freed when no writer can be using
 * it any more (trace/inside.h).
 */
struct px_view {
	struct px_segment *segment;
	struct px_rings rings;
	struct px_geometry geometry;
	uint64_t limit; /* limit of px_ring_reserve() for user events; 0: the rings loop */
	struct px_bound bound; /* the same limit, as a restartable sequence compares it for one slot */
	uint64_t max_data;
	/*
	 * The same for the events of the program.  0: the words of this process have another size than those of the
	 * log, so readers of the log would misread the data.
	 */
	uint64_t max_user_data;
	/*
	 * The same as max_data, but 0 if calls may be counted, or if the stream wants a stack after each call.  So one
	 * comparison finds the calls that the usual path of a wrapper does not record (callpoint.c).
	 */
	uint64_t max_call_data;
	uint64_t stack_ticks; /* a call that waited for at least this time has a stack */
	uint32_t stacks; /* the attribute of the stream (attr.h) */
	uint32_t aggregates; /* 1: calls that do not wait are counted (trace/counted.h) */
	uint32_t grows;	 /* enum px_grows: if it is not 0, rings may be partial (growth.h) */
	uint32_t nr_own; /* number of CPU rings that this process may write to: all, or 0 */
	struct px_mapping mapping;
	uint32_t generation; /* generation of the registry slot */
};

/*
 * The least number of slots: START with its marks, and two largest user events.  With fewer slots, START could fill the
 * stream.
 */
#define PX_GEOMETRY_LEAST_SLOTS(event_slots)                                                       \
	(px_record_slots(sizeof(struct px_eventset) + sizeof(struct px_marks)) + 2 * (event_slots))

/*
 * Compute the geometry of a stream with nr_rings shared rings.  Each ring has room for min_bytes of user records, of
 * any mix of sizes, and for one more user event of the largest size (ATTR-4, UFULL-9).  It also has room for control
 * events (UFULL-10).  Return false if a ring cannot have that many slots.
 */
bool px_geometry_init(struct px_geometry *geometry, uint64_t min_bytes, uint64_t max_data,
		      uint32_t nr_rings);

/*
 * Return for how many bytes of user records a ring always has room.  With this number as min_bytes, px_geometry_init()
 * computes the same geometry.
 */
uint64_t px_geometry_guarantee(const struct px_geometry *geometry);

/* Turn zeroed memory into a stream: stopped, empty, no filter.  Also fill the view. */
void px_segment_init(const struct px_mapping *mapping, const struct px_geometry *geometry,
		     bool bounded, uint64_t max_data, uint32_t source, uint32_t shift,
		     struct px_view *view);

/* Check a segment of another process, and fill the view.  Return false if it is not a segment, or is damaged. */
bool px_segment_view(const struct px_mapping *mapping, struct px_view *view);

/*
 * Return true if any ring has no room for a user event of the largest size.  A ring that loops has no room if a writer
 * would have to overwrite records.
 */
bool px_view_is_full(const struct px_view *view);

/*
 * Return true if this ring (NULL: any ring) is above its high-water mark: more than half of the room for user events is
 * used, or more than an eighth and 8192 slots.  A partial ring gets more memory instead (growth.h).
 */
bool px_view_is_high(const struct px_view *view, const struct px_ring *ring);

/* Return the number of slots reserved in all rings since the stream was created.  Each event changes this number. */
uint64_t px_view_heads(const struct px_view *view);

/* Return the number of events dropped since the stream was created. */
uint64_t px_view_dropped(const struct px_view *view);

/* Return the number of those events whose loss the controller has to tell, and not a mark of their writer. */
uint64_t px_view_unmarked_drops(const struct px_view *view);

/*
 * A record has the gap that begins at this counter.  Reset first_dropped, unless it is later.  The record comes first:
 * if the controller dies in between, the reader calls this function when it reads the record.
 */
void px_view_forget_first_dropped(const struct px_view *view, uint64_t counter);

/*
 * Get the statistics of wrapper i, with its calls in all rings.  tick_ns is the length of a tick in nanoseconds.
 * Return false if there is no wrapper i.
 */
bool px_view_wrapper(const struct px_view *view, uint32_t i, double tick_ns,
		     struct px_wrapper_sum *sum);

/*
 * Stop a bounded stream automatically, with restart armed, if it still runs in the window of this state word.  If
 * several threads call this, the first one stops the stream.
 */
void px_view_auto_stop(const struct px_view *view, uint64_t state);

/*
 * Add a thread, or a named event type, to its table in the segment.  Add it also to the image of each ring while the
 * images have room.  Half of that room is for threads, half for types.
 */
void px_view_add_thread(const struct px_view *view, const struct px_object *object);
void px_view_add_type(const struct px_view *view, unsigned int id, const char *name);

#endif
