/* SPDX-License-Identifier: MIT */
/*
 * The model of waits and locks, for logs and for ThreadX trace buffers.  The caller pushes the events of a file, in
 * their order.  The model reports to a listener when a wait begins and ends, when a thread takes and gives back an
 * object, and which thread ended a wait.  All commands that show waits or holders use this model.  doc/reports.md has
 * the rules.
 *
 * Memory use depends on the number of threads and objects, not on the number of events.
 */
#ifndef TXTRACE_WAITS_WAITS_H
#define TXTRACE_WAITS_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/filter.h"
#include "trace/source.h"

#define WAITS_RECENT 8
#define LONG_AGO INT64_MIN /* before the trace began */

struct awaited;
struct waiter;

/* A wait that has ended.  With such waits, the model finds out what a thread did in a period. */
struct stretch {
	int64_t begin_ns, end_ns;
	const struct awaited *object;
	const char *service;
};

/* A call that lets waiters of the object go on: a signal, a post, a message, an unlock. */
struct signal {
	uint64_t nr; /* number of signals so far; 0: none, and no other member is set */
	int64_t at_ns;
	const struct waiter *by;
	const char *service;
	unsigned int nr_waiters; /* number of waiting threads at that time */
};

struct wait {
	struct waiter *thread;
	struct awaited *object;
	unsigned int state;
	const char *service; /* name of the call */
	uint64_t number;     /* number of the event that began the wait */
	int64_t begin_ns, end_ns;
	bool has_ended; /* false: it lasts until the end of the trace */
	bool counts;	/* the filter and the range take its first event */
	int priority;	/* priority of the thread; -1: unknown */
	uintptr_t address;
	struct waiter *holder;	    /* holder at the start of the wait; if it was unknown then, the waker; or NULL */
	struct signal before;	    /* last signal of the object before the wait */
	const struct waiter *waker; /* NULL: no thread, or unknown */
	const char *waker_service;
	int result; /* an error number */
};

struct hold {
	struct waiter *thread;
	struct awaited *object;
	int64_t since_ns; /* LONG_AGO: before the trace began */
	uintptr_t address;
	unsigned int depth; /* number of nested acquisitions */
	int priority;	    /* of the thread when it took the object, or was first seen with it */
	bool is_shared;	    /* other threads may hold it too */
	bool counts;
	struct hold *next_of_thread, *next_of_object;
};

struct service {
	unsigned int native;
	const char *name;
	unsigned int object; /* 0: none */
	uintptr_t address;
};

struct waiter {
	unsigned int context;
	char *name;
	bool waits;
	struct wait wait; /* valid while the thread waits */
	struct hold *holds;
	struct stretch recent[WAITS_RECENT];
	unsigned int nr_recent;

	/*
	 * The last service that the thread called, the last one with an object of ThreadX, and the last one with a
	 * socket.
	 */
	struct service last, of_object, of_socket;
	int priority; /* priority in its last event; -1: unknown */
	size_t index;
	struct waiter *next; /* next thread, in the order of their first events */
};

struct awaited {
	unsigned int handle; /* 0: a wait without an object, for a state or a call */
	char *name;
	const char *kind; /* such as "mutex"; NULL: no object */
	struct hold *holds;
	struct signal signal;
	unsigned int nr_waiters, most_waiters;
	bool is_lock;	 /* the thread that takes it also gives it back */
	bool is_tracked; /* an event showed a thread that takes it or gives it back */
	bool is_ordered; /* part of the lock order */
	bool is_signal;	 /* a semaphore that a thread posted without taking it */
	size_t index;
	struct awaited *next;
};

struct waits;

struct waits_listener {
	void *arg;
	void (*began)(void *arg, const struct wait *wait);
	void (*ended)(void *arg, const struct wait *wait); /* the wait or the trace has ended */
	void (*broken)(void *arg, const struct wait *wait,
		       int64_t at_ns); /* an event at at_ns shows that the end of the wait is missing */
	void (*wanted)(void *arg, const struct waiter *thread, const struct awaited *object,
		       int64_t at_ns, uintptr_t address); /* a call that may wait begins */
	void (*taken)(void *arg, const struct hold *hold, bool has_waited);
	void (*learned)(void *arg, const struct hold *hold,
			int64_t at_ns); /* an event shows that the thread has held this since before the trace */
	void (*given)(void *arg, const struct hold *hold, int64_t at_ns); /* the hold or the trace has ended */
	void (*dropped)(void *arg, const struct hold *hold,
			int64_t at_ns); /* no longer held, but the event that gave it back is missing */
};

struct waits {
	struct source *source;
	const struct waits_listener *listener;
	struct map nr_of_name; /* key: hash of the name */
	struct map waiter_of, awaited_of;
	struct waiter *first_waiter, *last_waiter;
	struct awaited *first_awaited, *last_awaited;
	size_t nr_waiters, nr_awaited;
	int64_t now_ns, end_ns; /* time of the current event, and the latest time */
	uint64_t nr_broken;	/* waits with a missing end */
	bool counts;
};

/*
 * Callbacks of the listener may be NULL.  For a log, call calls_expand() first.  The caller frees the model with
 * waits_free().
 */
void waits_init(struct waits *waits, struct source *source, const struct waits_listener *listener);

/* Push the next event of the file.  `counts` is copied into the waits and holds that begin with this event. */
void waits_event(struct waits *waits, const struct event *event, bool counts);

/* Call this after the last event.  It reports the waits and holds that have not ended. */
void waits_end(struct waits *waits);

/* Push all events of the file, from its beginning to its end.  The caller frees the model with waits_free(). */
void waits_read(struct waits *waits, struct source *source, const struct selection *selection,
		const struct waits_listener *listener);
void waits_free(struct waits *waits);

/* Return the time from which on the model knows all waits of a thread.  It stores only the last WAITS_RECENT waits. */
int64_t waits_known_since(const struct waiter *thread);

/*
 * Return how long a thread waited between from_ns and until_ns, in ns, as far as its waits are known.  *longest becomes
 * the wait that takes most of this time.  If the thread did not wait, *longest stays unchanged.
 */
int64_t waits_within(const struct waiter *thread, int64_t from_ns, int64_t until_ns,
		     struct stretch *longest);

/* Write the kind and the name of an object: "mutex db lock", "queue 0". */
void waits_describe(const struct awaited *object, char *text, size_t size);

/* Return the newest hold of an object, or NULL if no thread is known to hold it. */
const struct hold *waits_holder(struct waits *waits, unsigned int handle);

/* Return the hold of this object by this thread, or NULL. */
const struct hold *waits_hold(const struct waiter *thread, const struct awaited *object);

#endif
