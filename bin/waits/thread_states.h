/* SPDX-License-Identifier: MIT */
/*
 * What each thread did at each time, from the scheduling records of a log: it ran, was ready and had no CPU, was
 * blocked, or the log does not show it.  The model of waits (waits.h) feeds this one, and tells it when a thread waits
 * in a call and when another thread woke it.  doc/reports.md has the rules.
 *
 * The times of a thread add up to its life, as far as the trace covers it.  Memory use depends on the number of
 * threads.
 */
#ifndef TXTRACE_WAITS_THREAD_STATES_H
#define TXTRACE_WAITS_THREAD_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"

enum thread_state {
	THREAD_UNKNOWN,
	THREAD_RUNNING,
	THREAD_PREEMPTED, /* ready, since it lost its CPU */
	THREAD_WOKEN,	  /* ready, since another thread woke it, or since it was created */
	THREAD_BLOCKED,	  /* if no event shows when it was woken, it may have been ready at the end of this time */
	THREAD_STATES
};

struct state_times {
	int64_t ns[THREAD_STATES];
};

/*
 * A thread in one program.  If it executes another program, it goes on as another one of these.  The sign of that is
 * its handle: each program has its own.
 */
struct sched_thread {
	pid_t pid, tid;
	char name[16];	      /* from the records; empty if they have no name */
	unsigned int context; /* the handle, or 0 if no event shows it */
	enum thread_state state;
	int64_t since_ns, begin_ns, end_ns; /* end_ns is valid from the end of the thread or of the trace on */
	bool has_ended;
	bool has_exited; /* has_ended, and not only because the trace has ended */
	unsigned int cpu; /* of the last switch, if has_cpu */
	bool has_cpu;
	struct state_times times; /* up to since_ns */
	uint64_t nr_switches, nr_preempted, nr_blocked, nr_migrations;
	uint64_t nr_woken; /* number of wake-ups with a known time */

	/* The thread that took the CPU when this one was preempted last; NULL: one of another program, or not known. */
	const struct sched_thread *taker;

	/* Until the first record: the thread ran since the records began if this record takes its CPU away. */
	bool is_first;
	/* For the model of waits. */
	bool is_in_wait;
	/* the newest time blocked in the wait; the listener does not know it yet */
	int64_t slept_from_ns, slept_until_ns;
	bool has_slept;

	size_t index;
	size_t first_index; /* the index of the thread's first program */
	const struct sched_thread *former; /* the same thread in the program before, or NULL */
	struct sched_thread *next; /* the next thread in the order of first records */
};

struct thread_states_listener {
	void *arg;
	/*
	 * The thread was in this state from from_ns to until_ns.  Time blocked in a wait comes late: when the wait has
	 * ended.  cpu is valid if the thread ran.
	 */
	void (*spent)(void *arg, const struct sched_thread *thread, enum thread_state state, int64_t from_ns,
		      int64_t until_ns);
};

/*
 * The scheduling records of a log, or of a host.  A merged log can have several logs and hosts.  The records of a log
 * say nothing about the threads of another one.  They name its first process, and its children are of the same log.
 * For other processes it is not known of which log they are, so the records of all logs of the host count for them.
 */
struct sched_scope {
	unsigned int number, host;
	unsigned int nr_logs; /* of a host */
	unsigned int nr_open_gaps;
	bool has_records, has_event;
	int64_t first_ns, last_ns; /* the times of the first event and of the last one */
	bool is_valid; /* from valid_ns on, the records show all switches */
	bool is_whole; /* no gap since valid_ns */
	int64_t valid_ns;
};

#define SCHED_HOSTS 214

struct thread_states {
	struct thread_states_listener listener;
	struct map thread_of; /* key: pid and tid; value: pointer to the thread that lives */
	struct map in_gap;    /* key: scope and CPU; value: 1 if records of this CPU are missing */
	struct map scope_of; /* key: pid; value: pointer to the scope of its log */
	struct map preempted_on; /* key: CPU; value: pointer to the thread that lost it, until another one takes it */
	struct sched_thread *first, *last;
	size_t nr_threads;
	int64_t first_ns, now_ns; /* the times of the first event and of the newest one */
	bool has_event;
	bool has_records; /* a log has scheduling records */
	uint64_t nr_gaps;
	struct sched_scope host[SCHED_HOSTS];
	struct sched_scope **log; /* those of a merged log */
	unsigned int nr_logs;
};

/* spent may be NULL.  The caller frees the model with thread_states_free(). */
void thread_states_init(struct thread_states *states, const struct thread_states_listener *listener);
void thread_states_free(struct thread_states *states);

/* This is the first process of one of the logs that were merged.  Call this before the first event. */
void thread_states_add_log(struct thread_states *states, pid_t pid);

/* The process is of the log of its parent. */
void thread_states_add_child(struct thread_states *states, pid_t pid, pid_t parent);

/* Return whether an event of the process `of` can say something about the process `about`. */
bool thread_states_can_concern(const struct thread_states *states, pid_t of, pid_t about);

/* Return whether there were scheduling records of threads such as this one. */
bool thread_states_has_records(const struct thread_states *states, pid_t pid);

/* Push the next event of the file.  Return true if it is a scheduling record. */
bool thread_states_event(struct thread_states *states, const struct event *event);

/* Call this after the last event. */
void thread_states_end(struct thread_states *states);

/* Return the thread that has this tid now. */
struct sched_thread *thread_states_get(struct thread_states *states, pid_t pid, pid_t tid);

/*
 * From now on the thread has this handle: after an exec it has another one.  Then the former thread ends, and this
 * returns the one of the new program, which goes on in the same state.
 */
struct sched_thread *thread_states_set_context(struct thread_states *states, struct sched_thread *thread,
					       unsigned int context);

/* Return what the thread did from its beginning until at_ns, a time that is not before its last record. */
struct state_times thread_states_until(const struct sched_thread *thread, int64_t at_ns);

/* Return the thread that was blocked longest, or NULL if no thread was. */
const struct sched_thread *thread_states_most_blocked(const struct thread_states *states);

/* A wait of the thread begins, in a call. */
void thread_states_wait_begins(struct sched_thread *thread);

/* The thread was woken at this time, in the wait that now ends.  Call this before thread_states_wait_ends(). */
void thread_states_woken(struct thread_states *states, struct sched_thread *thread, int64_t at_ns);
void thread_states_wait_ends(struct thread_states *states, struct sched_thread *thread);

/* Return the time for which the thread was ready, but had no CPU. */
int64_t state_times_ready(const struct state_times *times);
int64_t state_times_sum(const struct state_times *times);
/* Return what the thread did between two results of thread_states_until(). */
struct state_times state_times_between(const struct state_times *from, const struct state_times *until);

#endif
