/* SPDX-License-Identifier: MIT */
/*
 * txtrace why explains one wait. This module stores what happened during this wait: the longest waits of each thread
 * and the longest holds of each object. So memory use does not depend on the number of events.
 */
#ifndef TXTRACE_WAITS_WAIT_HISTORY_H
#define TXTRACE_WAITS_WAIT_HISTORY_H

#include "waits/waits.h"

#define KEPT 32 /* limit of the stored waits of each thread, and of the stored holds of each object */

/* A period. */
struct part {
	int64_t from_ns, until_ns;
};

struct kept_wait {
	struct wait wait;
	struct signal after; /* the last signal of the object when the wait ended */
};

struct kept_hold {
	struct hold hold;
	int64_t until_ns;
};

/* All holds of an object by one thread. */
struct share {
	const struct waiter *thread;
	uint64_t nr;
	int64_t ns, longest_ns;
};

struct kept {
	struct kept_wait *wait; /* the longest waits of a thread */
	struct kept_hold *hold; /* the longest holds of an object */
	struct share *share; /* all holds of an object, for each thread */
	unsigned int nr_waits, nr_holds, nr_shares;
};

struct wait_history {
	struct part all;		 /* period of the explained wait */
	uint64_t number;		 /* number of the event that begins this wait */
	unsigned int context;		 /* context of the waiting thread */
	struct kept_wait target;	 /* the explained wait; its thread is NULL until the wait is found */
	struct map of_thread, of_object; /* key: index of a thread or an object; value: pointer to a struct kept */
};

/* Callbacks for the members `ended` and `given` of a listener of waits_read(). arg is the struct wait_history. */
void wait_history_wait(void *arg, const struct wait *wait);
void wait_history_hold(void *arg, const struct hold *hold, int64_t at_ns);
void wait_history_free(struct wait_history *wait_history);

/* Return the stored waits of a thread; never NULL. */
struct kept *wait_history_of_thread(struct wait_history *wait_history, const struct waiter *thread);
/* Return the stored holds of an object; never NULL. */
struct kept *wait_history_of_object(struct wait_history *wait_history,
				    const struct awaited *object);

bool wait_history_is_longer(const struct wait *a, const struct wait *b);

/* Return the period in which two periods overlap. The result is empty if they do not overlap. */
struct part part_common(struct part part, int64_t from_ns, int64_t until_ns);

/* Return the length of a period in ns. */
int64_t part_length(struct part part);

/* Return the part of a hold that is in this period. The result is empty if they do not overlap. */
struct part wait_history_part(const struct kept_hold *hold, struct part part);

#endif
