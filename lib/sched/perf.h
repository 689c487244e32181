/* SPDX-License-Identifier: MIT */
/*
 * Scheduling records of the kernel: which thread gets and loses which CPU (perf_event_open(2), PERF_RECORD_SWITCH).
 *
 * A buffer for each CPU is shared with the kernel.  Each thread has an event for each CPU, because the kernel maps no
 * buffer of an inherited event for all CPUs.  Threads that a thread creates later inherit its events.  The kernel never
 * waits for a reader: if a buffer is full, it counts the records that it drops.
 *
 * The records of a buffer are in the order of their times, which are CLOCK_MONOTONIC.
 */
#ifndef PX_SCHED_PERF_H
#define PX_SCHED_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_perf;

enum px_perf_kind {
	PX_PERF_IN,
	PX_PERF_OUT, /* the thread still wants to run: see is_ready */
	PX_PERF_FORK,
	PX_PERF_EXIT,
	PX_PERF_NAME,
	PX_PERF_EXEC, /* also gives a name */
	PX_PERF_GAP_BEGINS,
	PX_PERF_GAP_ENDS
};

struct px_perf_record {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	enum px_perf_kind kind;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	bool is_ready;	  /* PX_PERF_OUT: the thread was preempted, or has yielded */
	uint64_t nr_lost; /* PX_PERF_GAP_ENDS */
	char name[16];	  /* PX_PERF_NAME, PX_PERF_EXEC */
};

/*
 * Map a buffer for each CPU that is online, and open the events of this thread.  inherits: the children of the process
 * inherit the events, too.  Return 0; EACCES or EPERM (perf_event_paranoid, or missing rights), ENOSYS or ENOTSUP (the
 * kernel has no such records), ENOENT (no list of the CPUs), EMFILE, ENOMEM (RLIMIT_MEMLOCK), ESRCH, or another error
 * of perf_event_open().
 */
int px_perf_open(uint32_t tid, bool inherits, struct px_perf **perf);

/* Open the events of one more thread.  The same errors. */
int px_perf_add(struct px_perf *perf, uint32_t tid);

/* Close the descriptors that only px_perf_add() needs.  The mappings keep the events. */
void px_perf_settle(struct px_perf *perf);

/* NULL does nothing.  A descriptor that the program has closed, or uses for another file, stays as it is. */
void px_perf_close(struct px_perf *perf);

/* Pass all records to take(), CPU by CPU. */
void px_perf_read(struct px_perf *perf, void (*take)(void *argument, const struct px_perf_record *record),
		  void *argument);

/* Return true if a CPU is online that has no buffer. */
bool px_perf_misses_cpu(const struct px_perf *perf);

/* Return the bytes of a buffer. */
size_t px_perf_buffer_bytes(const struct px_perf *perf);

#endif
