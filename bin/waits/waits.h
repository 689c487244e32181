/* SPDX-License-Identifier: MIT */
/*
 * The model of waits and locks, for files of both kinds.  The caller pushes the events of a file, in their order.  The
 * model reports to a listener when a wait begins and ends, when a thread takes and gives back an object, and which
 * thread ended a wait.  All commands that show waits or holders use this model.  doc/reports.md has the rules.
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

/* One that was over: so that it can be told what a thread did in a stretch of time. */
struct stretch {
	int64_t begin_ns, end_ns;
	const struct awaited *object;
	const char *service;
};

/* Whatever lets others go on that wait for the object: a signal, a post, a message, a lock that is given back. */
struct signal {
	uint64_t nr; /* so many there were; 0: none, and nothing else is set */
	int64_t at_ns;
	const struct waiter *by;
	const char *service;
	unsigned int nr_waiters; /* then */
};

struct wait {
	struct waiter *thread;
	struct awaited *object;
	unsigned int state;
	const char *service; /* what was called */
	uint64_t number;     /* of the event with which it began */
	int64_t begin_ns, end_ns;
	bool has_ended; /* false: the trace ends first */
	bool counts;	/* the filter takes its beginning, which lies in the range */
	int priority;	/* of the thread; -1: not told */
	uintptr_t address;
	struct waiter *
		holder; /* who had the object then, or gave it back at last; of a join: the thread; NULL */
	struct signal before;	    /* the last one, when it began */
	const struct waiter *waker; /* NULL: no thread, or not told */
	const char *waker_service;
	int result; /* an error number */
};

struct hold {
	struct waiter *thread;
	struct awaited *object;
	int64_t since_ns; /* LONG_AGO: it was had when the trace began */
	uintptr_t address;
	unsigned int depth; /* taken so often */
	int priority;	    /* of the thread then */
	bool is_shared;	    /* others may have it too */
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
	struct wait wait; /* valid while it waits */
	struct hold *holds;
	struct stretch recent[WAITS_RECENT];
	unsigned int nr_recent;

	/* The last services that it called: the last one, the last one with an object of ThreadX, with a socket. */
	struct service last, of_object, of_socket;
	int priority; /* of its last event; -1: not told */
	size_t index;
	struct waiter *next; /* made after this one */
};

struct awaited {
	unsigned int handle; /* 0: it is no object, but a state, or a call that waits for none */
	char *name;
	const char *kind; /* "mutex", ...; NULL: it is no object */
	struct hold *holds;
	struct signal signal;
	unsigned int nr_waiters, most_waiters;
	bool is_lock;	 /* it is given back by those who took it */
	bool is_tracked; /* somebody was seen to take it, or to give it back */
	bool is_ordered; /* and belongs to the order of locks */
	bool is_signal;	 /* a semaphore that was posted by one who had not taken it */
	size_t index;
	struct awaited *next;
};

struct waits;

struct waits_listener {
	void *arg;
	void (*began)(void *arg, const struct wait *wait);
	void (*ended)(void *arg, const struct wait *wait); /* at the end of the trace, the others */
	void (*broken)(void *arg, const struct wait *wait,
		       int64_t at_ns); /* its end is missing; this shows at at_ns */
	void (*wanted)(void *arg, const struct waiter *thread, const struct awaited *object,
		       int64_t at_ns, uintptr_t address); /* it would wait, if need be */
	void (*taken)(void *arg, const struct hold *hold, bool has_waited);
	void (*learned)(void *arg, const struct hold *hold,
			int64_t at_ns); /* held since before the trace, as an event shows */
	void (*given)(void *arg, const struct hold *hold, int64_t at_ns); /* also at the end */
	void (*dropped)(void *arg, const struct hold *hold,
			int64_t at_ns); /* held no more, but no event shows since when */
};

struct waits {
	struct source *source;
	const struct waits_listener *listener;
	struct map nr_of_name; /* by its hash */
	struct map waiter_of, awaited_of;
	struct waiter *first_waiter, *last_waiter;
	struct awaited *first_awaited, *last_awaited;
	size_t nr_waiters, nr_awaited;
	int64_t now_ns, end_ns; /* time of the current event, and the latest time */
	uint64_t nr_broken;	/* waits of which the end is missing, where events were lost */
	bool counts;
};

/* Members of a listener may be NULL.  source_expand() must be in effect for a log.  Free with waits_free(). */
void waits_init(struct waits *waits, struct source *source, const struct waits_listener *listener);

/* Push the next event of the file.  counts: becomes the member of waits and holds that begin here. */
void waits_event(struct waits *waits, const struct event *event, bool counts);

/* After the last event: report the waits and holds that have not ended. */
void waits_end(struct waits *waits);

/* Push all events of the file, from its beginning to its end.  Free with waits_free(). */
void waits_read(struct waits *waits, struct source *source, const struct selection *selection,
		const struct waits_listener *listener);
void waits_free(struct waits *waits);

/* Since when the waits of a thread are known: only the last ones are kept. */
int64_t waits_known_since(const struct waiter *thread);

/* How long a thread waited in a stretch of time, as far as it is known, and in which wait most of it; NULL: in none. */
int64_t waits_within(const struct waiter *thread, int64_t from_ns, int64_t until_ns,
		     struct stretch *longest);

/* What an object is, and how it is called: "mutex db lock", "queue 0". */
void waits_describe(const struct awaited *object, char *text, size_t size);

/* The hold of the thread that took the object last; NULL: no thread is known to hold it. */
const struct hold *waits_holder(struct waits *waits, unsigned int handle);

/* Whether one has the object. */
const struct hold *waits_hold(const struct waiter *thread, const struct awaited *object);

#endif
