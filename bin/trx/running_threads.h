/* SPDX-License-Identifier: MIT */
/*
 * The threads of a trace buffer that is made from a log, and which CPU has which of them, as far as the events up to
 * now show.  A thread is on at most one CPU, and a CPU has at most one thread.
 */
#ifndef TXTRACE_TRX_RUNNING_THREADS_H
#define TXTRACE_TRX_RUNNING_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "trx/trx.h"

#define NO_CPU (-1)

struct running_thread {
	uint32_t handle, priority; /* priority is the priority word of the last event */
	int cpu;		   /* the CPU on which the thread runs, or NO_CPU */
	bool is_asleep, has_ended;
	bool is_blocked; /* is_asleep without a call: the kernel says that the thread is blocked */
	bool is_waiting; /* the last event of the thread begins a wait in a call, or ends the thread */
	/*
	 * The last SUSPEND of the thread comes when the kernel says that the thread is blocked, or that it has ended.
	 */
	bool is_going, is_ending;
	uint32_t state; /* if is_asleep or is_going: the state of the SUSPEND */
	int asleep_cpu; /* if is_asleep: the CPU of the SUSPEND */
};

struct running_threads {
	struct map by_handle; /* key: handle; value: index + 1 in thread[] */
	struct running_thread *thread;
	size_t nr_threads, room;
	uint32_t idle; /* handle of the thread "idle" */
	struct running_cpu {
		uint32_t thread; /* handle of the running thread, or 0 if none is known */
		int64_t last_ns; /* time of its last event */
	} cpu[TRX_CPUS];
	unsigned int nr_cpus; /* 1 + the largest number of a CPU with events */
};

/* Find a thread, or add it.  The result is valid until another thread is added. */
struct running_thread *running_thread(struct running_threads *threads, uint32_t handle);

/* Return true if this thread is known, and has a CPU. */
bool running_has_cpu(const struct running_threads *threads, uint32_t handle);

void running_leave_cpu(struct running_threads *threads, struct running_thread *thread);

/* The thread that had the CPU loses it. */
void running_enter_cpu(struct running_threads *threads, struct running_thread *thread, unsigned int cpu);

/* Return the running thread with the newest event, or "idle". */
uint32_t running_newest(const struct running_threads *threads);

void running_threads_free(struct running_threads *threads);

#endif
