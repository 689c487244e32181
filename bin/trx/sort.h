/* SPDX-License-Identifier: MIT */
/*
 * Sort events by time.  The trace buffer is written after that.  The sorter stores the events in a file without a name,
 * so memory use does not grow with the number of events.
 *
 * The events arrive nearly in order.  If an event is older than a previous event, the sorter keeps the older event in
 * memory (a late event).  When the events are read, the sorter merges the late events with the events of the file.
 * Events with the same time keep their order.
 */
#ifndef TXTRACE_TRX_SORT_H
#define TXTRACE_TRX_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAS_THRESHOLD 0x80000000u /* the priority word has a preemption-threshold */

struct spooled {
	int64_t time_ns;
	uint32_t context, priority, id, info[4];
	uint32_t flags;
};

/* Flags of an entry. */
#define SPOOLED_MORE 1u	     /* the entry has more data of the previous event */
#define SPOOLED_LOG 2u	     /* an event of a log, not of a ThreadX buffer */
#define SPOOLED_NO_THREAD 4u /* the event has no thread */
#define SPOOLED_GAP 8u	     /* the recording stopped or lost events at this event */
#define SPOOLED_END 16u	     /* the thread ends with this event */
#define SPOOLED_DIES 32u     /* the thread ends with its process, and did not record this event itself */
#define SPOOLED_SCHED 64u    /* a scheduling record, with at most one of the next flags */
#define SPOOLED_IN 128u      /* the thread gets the CPU */
#define SPOOLED_OUT 256u     /* it loses the CPU, because it blocks or ends */
#define SPOOLED_SLICE 512u   /* it loses the CPU, because it was preempted or has yielded */
#define SPOOLED_LOST 1024u   /* the kernel lost records of the CPU from here on */
#define SPOOLED_LAST 2048u   /* no scheduling records follow */

#define SORT_WINDOW 1024

struct sorter {
	int fd;
	int error; /* an error number, or 0 if there was no error */
	int64_t newest_ns;
	uint64_t nr_events; /* number of events in the file */
	struct spooled *late;
	size_t nr_late, late_room;
	size_t nr_out; /* number of events in out[]; they are not yet in the file */
	struct spooled out[SORT_WINDOW];
};

/* A position in the sorted events.  A structure of zeros is the position before the first event. */
struct sort_cursor {
	uint64_t event; /* number of the next event in the file */
	size_t late;	/* index of the next event that the sorter keeps in memory */
	uint64_t window_first;
	size_t window_size;
	struct spooled window[SORT_WINDOW];
};

/*
 * Create the temporary file in the directory of path.  If that fails, create it in $TMPDIR.  If both fail, print a
 * message and return false.
 */
bool sort_open(struct sorter *sorter, const char *path);
void sort_close(struct sorter *sorter);

void sort_put(struct sorter *sorter, const struct spooled *event);

/* Call this after the last sort_put() and before sort_next().  After a failure, print a message and return false. */
bool sort_end(struct sorter *sorter);

/* Return the next event, or NULL after the last.  It is valid until the next call with this cursor. */
const struct spooled *sort_next(struct sorter *sorter, struct sort_cursor *cursor);

#endif
