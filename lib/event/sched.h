/* SPDX-License-Identifier: MIT */
/* The data of scheduling records.  <trace_ext.h> has the same structures, and explains them. */
#ifndef PX_EVENT_SCHED_H
#define PX_EVENT_SCHED_H

#include <stdint.h>

enum px_sched_state {
	PX_SCHED_UNKNOWN = 0,
	PX_SCHED_RUNNING = 1,
	PX_SCHED_READY = 2,
	PX_SCHED_BLOCKED = 3,
	PX_SCHED_ENDED = 4,
	PX_SCHED_RUNNABLE = 5
};

#define PX_SCHED_NAME 16
#define PX_SCHED_SWITCH_BYTES 16

struct px_sched_thread {
	uint32_t tid;
	uint32_t pid;
	uint32_t cpu;
	uint32_t state; /* enum px_sched_state */
	char name[PX_SCHED_NAME];
};

struct px_sched_gap {
	uint64_t nr_lost;
	uint32_t cpu;
	uint32_t ends; /* 0: the gap begins */
};

struct px_sched_count {
	uint32_t tid;
	uint32_t pid;
	uint64_t ran_ns;
	uint64_t ready_ns;
	char name[PX_SCHED_NAME];
};

enum px_sched_end {
	PX_SCHED_STOPPED = 0,
	PX_SCHED_CONTROLLER = 1, /* the controller died */
	PX_SCHED_CPUS = 2	 /* a CPU came online whose switches the kernel does not report */
};

#endif
