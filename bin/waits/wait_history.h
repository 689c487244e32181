/* SPDX-License-Identifier: MIT */
/*
 * txtrace why explains one wait.  This module stores what happened during this wait: the times of all waits of each
 * thread and of all holds of each object, and the details of the longest of them.  It stores the times of at most
 * STRETCHES waits and holds (48 MiB).  If there are more, it stores the time from which on waits are missing.
 *
 * It also adds up which threads held an object during all waits of one thread for this object, in the whole trace.
 */
#ifndef TXTRACE_WAITS_WAIT_HISTORY_H
#define TXTRACE_WAITS_WAIT_HISTORY_H

#include "waits/waits.h"

#define KEPT 32 /* limit of the stored waits of each thread, and of the stored holds of each object */

#define STRETCHES (UINT64_C(1) << 20)

/* A period. */
struct part {
	int64_t from_ns, until_ns;
};

/* A wait without its details, or a period in which it is not known what the thread did. */
struct stretch {
	int64_t begin_ns, end_ns;
	const struct awaited *object; /* NULL: it is not known what the thread did */
	const char *service;
	unsigned int state;
};

/* What a thread did for a time, from scheduling records. */
struct spent {
	int64_t from_ns, until_ns;
	enum thread_state state;
};

/* In this period a thread ran for ran_ns, by what it said of its CPU time. */
struct ran {
	int64_t from_ns, until_ns, ran_ns;
};

/* An estimate of what a thread did in a period outside of its waits. */
struct ran_estimate {
	int64_t known_ns, ran_ns; /* known_ns: the part of this time of which something is known */
};

/* A hold without its details. */
struct turn {
	int64_t from_ns, until_ns;
	const struct waiter *thread;
};

struct kept_wait {
	struct wait wait;
	struct signal after; /* the last signal of the object when the wait ended */
	struct stretch interrupted; /* the wait that the handler with this one interrupted; or no object */
};

/* A wait in a signal handler. */
struct nested_stretch {
	struct stretch stretch;
	uint64_t outer; /* number of the event that begins the wait that the handler interrupted */
};

struct kept_hold {
	struct hold hold;
	int64_t until_ns;
};

/* The holds of an object by one thread in a period. */
struct share {
	const struct waiter *thread;
	uint64_t nr;
	int64_t ns, longest_ns;
};

struct kept {
	struct kept_wait *wait; /* the longest waits of a thread */
	struct kept_hold *hold; /* the longest holds of an object */
	struct stretch *stretch; /* the waits of a thread in the order of their ends, but not those in handlers */
	struct nested_stretch *nested; /* those in handlers */
	struct turn *turn;	 /* all holds of an object, in the order of their ends */
	struct spent *spent;	 /* what a thread did */
	struct ran *ran;	 /* how long it ran, in the order of time */
	unsigned int nr_waits, nr_holds, nr_stretches, nr_nested, nr_turns, nr_spent, nr_ran;
};

/* The threads that held an object in a period, those with the longest time first.  The caller frees the list. */
struct shares {
	struct share *share;
	unsigned int nr;
	uint64_t nr_turns;
	int64_t longest_ns; /* the longest turn */
};

struct wait_history {
	struct part all;		 /* period of the explained wait */
	uint64_t number;		 /* number of the event that begins this wait */
	unsigned int context;		 /* context of the waiting thread */
	struct kept_wait target;	 /* the explained wait; its thread is NULL until the wait is found */
	uint64_t nr_stored;
	uint64_t nr_spent; /* at most STRETCHES are stored; also of nr_ran */
	uint64_t nr_ran;
	struct state_times target_times; /* what the thread `context` did in the whole trace */
	int64_t full_ns; /* from this time on, not all waits and holds are stored */

	/* The thread `context` and an object: all its waits for it, and the holds of other threads in this time. */
	bool has_cost;
	size_t cost_object; /* index of the object */
	struct kept cost;
	struct shares cost_shares;

	uint64_t nr_stacks;
	struct map stack_of; /* key: number of the event that begins a wait; value: pointer to a struct stack */
	struct map of_thread, of_object; /* key: index of a thread or an object; value: pointer to a struct kept */
};

/* A struct wait_history of zeros needs this call before the others. */
void wait_history_begin(struct wait_history *wait_history);

/*
 * Callbacks for the members `ended`, `stack`, `given`, `unknown`, `spent` and `ran` of a listener of waits_read().  arg
 * is the struct wait_history.
 */
void wait_history_wait(void *arg, const struct wait *wait);
void wait_history_stack(void *arg, const struct wait *wait, const struct stack *stack);
void wait_history_hold(void *arg, const struct hold *hold, int64_t at_ns);
void wait_history_unknown(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns);
void wait_history_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
			enum thread_state state, int64_t from_ns, int64_t until_ns);
void wait_history_ran(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns, int64_t ran_ns);
void wait_history_free(struct wait_history *wait_history);

/* Return the stack of a wait, or NULL.  The module stores STACKS stacks (5 MiB). */
#define STACKS (UINT64_C(1) << 14)
const struct stack *wait_history_stack_of(struct wait_history *wait_history, const struct wait *wait);

/* Return the stored waits of a thread; never NULL. */
struct kept *wait_history_of_thread(struct wait_history *wait_history, const struct waiter *thread);
/* Return the stored holds of an object; never NULL. */
struct kept *wait_history_of_object(struct wait_history *wait_history,
				    const struct awaited *object);

/* Add up the holds of an object by other threads than this one. */
struct shares wait_history_shares(const struct kept *kept, const struct waiter *but, struct part part);

/*
 * Return what a thread did in a period without a wait of which a call is recorded.  Time for which no scheduling record
 * shows what it did is unknown.
 */
struct state_times wait_history_rest(struct kept *kept, struct part part);

/*
 * The same from what the thread said of its CPU time.  A thread that says this once for a period outside of this one
 * and inside counts as if it had run evenly.
 */
struct ran_estimate wait_history_estimate(const struct kept *kept, struct part part);

/* Put the threads with the longest time first. */
void wait_history_sort_shares(struct shares *shares);

bool wait_history_is_longer(const struct wait *a, const struct wait *b);

/* Return the period in which two periods overlap. The result is empty if they do not overlap. */
struct part part_common(struct part part, int64_t from_ns, int64_t until_ns);

/* Return the length of a period in ns. */
int64_t part_length(struct part part);

/* Return the part of a hold that is in this period. The result is empty if they do not overlap. */
struct part wait_history_part(const struct kept_hold *hold, struct part part);

#endif
