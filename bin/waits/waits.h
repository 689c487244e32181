/* SPDX-License-Identifier: MIT */
/*
 * The model of waits and locks, for logs and for ThreadX trace buffers.  The caller pushes the events of a file in
 * their order.  The model calls a listener when a wait begins or ends, and when a thread takes an object or gives it
 * back.  The listener also learns which thread ended a wait.  All commands that show waits or holders use this model.
 * doc/reports.md has the rules.
 *
 * Memory use depends on the number of threads and objects, not on the number of events.
 */
#ifndef TXTRACE_WAITS_WAITS_H
#define TXTRACE_WAITS_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/selection.h"
#include "trace/source.h"
#include "trace/stack.h"
#include "waits/thread_states.h"

#define LONG_AGO INT64_MIN /* a time before the trace began, or in a gap of the trace */

struct awaited;
struct waiter;

/* What a thread did in a period, from the scheduling records of a log. */
struct period {
	struct state_times before; /* until the period began */
	struct state_times times;  /* valid after the period */
};

/*
 * What the holder of an object did while another thread waited for the object (holder_watch.h).  The period begins
 * with the wait, or when the holder became known.  It ends with the wait, or when the holder gave the object back.
 */
struct holder_activity {
	bool is_watched;
	bool is_known; /* false if events of the holder are missing, or if no holder was known during the wait */
	int64_t from_ns, until_ns;
	int64_t waited_before_ns; /* for how long the holder had waited at from_ns */
	int64_t waited_ns;	  /* for how long the holder itself waited in the period */
	int64_t longest_ns;	  /* the longest of these waits; 0 if there was none */
	const struct awaited *object;
	const char *service;
	struct period spent; /* what the holder did in the period */
};

/* A call that lets waiters of the object go on: a signal, a post, a message, an unlock. */
struct signal {
	uint64_t nr; /* number of signals so far; if it is 0, no other member is set */
	int64_t at_ns;
	const struct waiter *by;
	const char *service;
	unsigned int nr_waiters; /* number of threads that waited at that time */
};

#define WAKES 8 /* number of the newest signals of an object that the model keeps */

struct wait {
	struct waiter *thread;
	struct wait *outer; /* the wait that a signal handler interrupted, and in which this one began; or NULL */
	struct wait *next_waiting, *next_watcher; /* the next wait for the object, and that watches the holder */
	struct awaited *object;
	unsigned int state;
	const char *service; /* name of the call */
	uint64_t number;     /* number of the event that began the wait */
	int64_t begin_ns, end_ns;
	bool has_ended; /* false if the wait lasts until the end of the trace, or of the process */
	/*
	 * Another wait of the thread began during this one.  Either a signal handler waited, or the thread left the
	 * call by longjmp(), and its end will never come.  Only this end shows it.
	 */
	bool is_doubtful;
	bool counts;	/* the filter and the range take its first event */
	int priority;	/* priority of the thread, or -1 if unknown */
	uint64_t address;
	/*
	 * The holder at the start of the wait.  If it is unknown: the first thread that took the object during the
	 * wait, or the waker, or NULL.  It is the waiting thread itself if this thread locks its own lock again.
	 */
	struct waiter *holder;
	struct holder_activity did;
	struct signal before;	    /* the last signal of the object before the wait */
	const struct waiter *waker; /* NULL if no thread ended the wait, or if the thread is unknown */
	const char *waker_service;
	int result; /* an error number */
	struct period spent; /* what the thread did during the wait; all is unknown without scheduling records */
};

struct hold {
	struct waiter *thread;
	struct awaited *object;
	int64_t since_ns;   /* LONG_AGO if no event shows that the thread took the object */
	bool is_own; /* if since_ns is LONG_AGO: an event of the thread itself shows that it has the object */
	/*
	 * Another thread names the owner, whose event that it took the object is still to come: it has recorded other
	 * events since the last gap, and so has nothing from before.  The hold began at learned_ns, or a little before.
	 */
	bool is_foretold;
	int64_t learned_ns;
	/*
	 * Only events of other threads show the hold, and the thread has recorded an event since, at doubted_ns.  It
	 * may have given the object back: a thread of a log records that it unlocks before it does so.  So if a gap, or
	 * the beginning of the trace, hides that record, another thread may still name the thread as owner.
	 */
	bool is_doubtful;
	int64_t doubted_ns;
	bool is_named_again; /* after that, by another thread */
	uint64_t address;
	unsigned int depth; /* number of nested acquisitions */
	int priority;	    /* priority of the thread in the event that first shows the hold */
	bool is_shared;	    /* other threads may hold the object at the same time */
	bool counts;
	struct period spent; /* what the thread did during the hold; valid for the listener's given() */
	/* The longest time in which it was preempted then, and the thread that took its CPU; NULL: not known. */
	int64_t preempted_ns;
	const struct sched_thread *taker;
	struct hold *next_of_thread, *next_of_object;
};

struct service {
	unsigned int native;
	const char *name;
	unsigned int object; /* 0 if there is no object */
	uint64_t address;
};

struct waiter {
	unsigned int context;
	char *name;
	bool waits;
	struct wait wait; /* valid while the thread waits: the innermost wait, if a signal handler waits */
	uint64_t interrupted; /* number of the wait in which its last recorded signal handler began */
	bool awaits_stack; /* a wait has ended, and the next event of the thread may be its stack */
	struct wait ended; /* valid while awaits_stack: this wait */
	struct hold *holds;
	int64_t waited_ns; /* the sum of its waits that have ended, without those inside of other waits */
	uint64_t nr_waits; /* the number of its waits that have ended */

	/* Since unknown_since_ns, a gap of the trace hides what the thread does. */
	bool is_unknown;
	int64_t unknown_since_ns;

	/* The process of the thread ended at this time.  What it waited for and held is kept, to explain it. */
	bool has_died;
	int64_t died_ns;
	struct state_times died_times; /* what the thread had done until then, from scheduling records */

	struct wait *watchers; /* the waits of other threads that watch this thread */
	/* The times of its last event, and of the one before.  LONG_AGO: there was none since the last gap. */
	int64_t last_ns, before_ns;

	/*
	 * The last service that the thread called, its last service with an object of ThreadX, and its last service
	 * with a socket.
	 */
	struct service last, of_object, of_socket;
	int priority; /* priority in the last event of the thread, or -1 if unknown */
	struct sched_thread *sched; /* NULL if no scheduling record names the thread */
	/* What the thread last said of its CPU time (thread_time.h). */
	bool has_told;
	int64_t told_at_ns, told_ran_ns;
	size_t index;
	struct waiter *next; /* the next thread in the order of first events */
};

struct awaited {
	unsigned int handle; /* 0 if this entry stands for waits without an object in a state or a call */
	char *name;
	const char *kind; /* a word such as "mutex", or NULL without an object */
	struct hold *holds;
	struct signal signal;
	struct signal wake[WAKES]; /* the newest signals; that with number nr is at nr % WAKES */
	struct wait *waiting; /* the waits for it */
	unsigned int nr_waiters, most_waiters;
	bool is_lock;	 /* the thread that takes it also gives it back */
	bool is_tracked; /* an event showed that a thread took the object or gave it back */
	bool is_ordered; /* the object is part of the lock order */
	uint64_t nr_counted; /* calls with this object that were counted: which thread held it then is unknown */
	bool is_signal;	 /* a semaphore that a thread posted, but had not taken */
	size_t index;
	struct awaited *next;
};

struct waits;

struct waits_listener {
	void *arg;
	void (*began)(void *arg, const struct wait *wait);
	/* A wait has ended, or the trace or the process of the thread has ended during the wait. */
	void (*ended)(void *arg, const struct wait *wait);
	/* The stack of a wait that has ended just before. */
	void (*stack)(void *arg, const struct wait *wait, const struct stack *stack);
	/* The end of a wait is missing.  The event at at_ns shows this, or at this time the trace has a gap. */
	void (*broken)(void *arg, const struct wait *wait, int64_t at_ns);
	/* The process of the thread has ended. */
	void (*died)(void *arg, const struct waiter *thread, int64_t at_ns);
	/* The trace does not show what the thread did in this period, because events are missing. */
	void (*unknown)(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns);
	/* The trace has a gap: it is unknown which thread holds or waits for an object. */
	void (*gap)(void *arg, int64_t at_ns);
	/* The thread took the object nr times, in calls that did not wait and that were counted instead of recorded. */
	void (*counted)(void *arg, const struct awaited *object, uint64_t nr, uint64_t address);
	/* A call begins that may wait. */
	void (*wanted)(void *arg, const struct waiter *thread, const struct awaited *object,
		       int64_t at_ns, uint64_t address);
	void (*taken)(void *arg, const struct hold *hold, bool has_waited);
	/*
	 * An event shows that the thread already holds the object.  It took the object before the trace began, or
	 * taken() follows for this hold, because the thread records later that it took the object.
	 */
	void (*learned)(void *arg, const struct hold *hold, int64_t at_ns);
	/* A hold has ended, or the trace has ended during the hold. */
	void (*given)(void *arg, const struct hold *hold, int64_t at_ns);
	/* The thread no longer holds the object, but no event shows when the thread gave it back. */
	void (*dropped)(void *arg, const struct hold *hold, int64_t at_ns);
	/* The thread had the object at all its events so far, which was doubtful. */
	void (*kept)(void *arg, const struct hold *hold);
	/*
	 * In a log without scheduling records: the thread ran for ran_ns in this period, which goes from the end of a
	 * wait to the end of a later one.
	 */
	void (*ran)(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns, int64_t ran_ns);
	/* What a thread did in a period; see thread_states.h.  waiter is NULL if the thread has recorded no event. */
	void (*spent)(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		      enum thread_state state, int64_t from_ns, int64_t until_ns);
};

struct waits {
	struct source *source;
	const struct waits_listener *listener;
	struct thread_states states; /* empty if the file has no scheduling records */
	struct map nr_of_name; /* key: hash of the name */
	struct map waiter_of, awaited_of;
	struct map shared_at; /* key: hash of a place in shared memory */
	struct waiter *first_waiter, *last_waiter;
	struct awaited *first_awaited, *last_awaited;
	size_t nr_waiters, nr_awaited;
	int64_t now_ns, end_ns; /* now_ns is the time of the current event, end_ns is the latest time of all events */
	uint64_t nr_broken;	/* number of waits with a missing end */
	uint64_t nr_calls;	/* number of recorded calls in a log */
	uint64_t nr_counted;	/* number of calls that were counted instead of recorded */
	uint64_t nr_gaps;	/* number of times at which events were not recorded */
	bool has_beginning;	/* the log begins with the beginning of a program */
	bool is_beyond_start;	/* the following calls do not show whether the log has the beginning */
	unsigned int first_context;
	bool counts;
	bool has_ended;	 /* waits_end() reports the waits and holds that have not ended */
	/* Key: first process of a log that was merged, or 0; value: 1 + the time at which it stopped, or 0. */
	struct map stopped_at;
};

/*
 * Callbacks of the listener may be NULL.  For a log, call calls_expand() first.  The caller frees the model with
 * waits_free().
 */
void waits_init(struct waits *waits, struct source *source, const struct waits_listener *listener);

/* Push the next event of the file.  The model copies `counts` into the waits and holds that begin with this event. */
void waits_event(struct waits *waits, const struct event *event, bool counts);

/* Call this after the last event.  It reports the waits and holds that have not ended. */
void waits_end(struct waits *waits);

/* Push all events of the file, from its beginning to its end.  The caller frees the model with waits_free(). */
void waits_read(struct waits *waits, struct source *source, const struct selection *selection,
		const struct waits_listener *listener);
void waits_free(struct waits *waits);

/* If the file is a log without calls, print a message that says how to record them. */
void waits_report_no_calls(const struct waits *waits);

/* Write the kind and the name of an object: "mutex db lock", "queue 0". */
void waits_describe(const struct awaited *object, char *text, size_t size);

/* Return the newest hold of an object, or NULL if no holder is known. */
const struct hold *waits_holder(struct waits *waits, unsigned int handle);

/*
 * Return the thread that must act before a waiting thread can go on, or NULL.  It is the thread itself if it waits for
 * its own lock.
 */
struct waiter *waits_holder_for(struct waits *waits, const struct wait *wait);

/* Return the wait of a waiting thread that began first: the outermost one. */
const struct wait *waits_outermost(const struct waiter *thread);

/* Return the hold of this object by this thread, or NULL. */
const struct hold *waits_hold(const struct waiter *thread, const struct awaited *object);

#endif
