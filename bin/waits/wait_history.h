/* SPDX-License-Identifier: MIT */
/*
 * What went on while a thread waited: what threads waited for, and who had what.  Of each thread and of each object the
 * longest ones are kept, so that the memory used does not depend on the number of events.
 */
#ifndef TXTRACE_WAITS_WAIT_HISTORY_H
#define TXTRACE_WAITS_WAIT_HISTORY_H

#include "waits/waits.h"

#define KEPT 32 /* of each thread, of each object */

/* A stretch of time. */
struct part {
	int64_t from_ns, until_ns;
};

struct kept_wait {
	struct wait wait;
	struct signal after; /* the last one when it ended */
};

struct kept_hold {
	struct hold hold;
	int64_t until_ns;
};

/* All turns of one thread with an object. */
struct share {
	const struct waiter *thread;
	uint64_t nr;
	int64_t ns, longest_ns;
};

struct kept {
	struct kept_wait *wait; /* of the thread of this index */
	struct kept_hold *hold; /* of the object of this index */
	struct share *share;	/* likewise */
	unsigned int nr_waits, nr_holds, nr_shares;
};

struct wait_history {
	struct part all;		 /* while the wait lasted that is asked for, */
	uint64_t number;		 /* which begins with this event */
	unsigned int context;		 /* of this thread */
	struct kept_wait target;	 /* it; without a thread: it has not been met */
	struct map of_thread, of_object; /* by index -> struct kept */
};

/* For a listener of waits_read(), told is the struct keep. */
void wait_history_wait(void *arg, const struct wait *wait);
void wait_history_hold(void *arg, const struct hold *hold, int64_t at_ns);
void wait_history_free(struct wait_history *wait_history);

/* What is kept; never NULL. */
struct kept *wait_history_of_thread(struct wait_history *wait_history, const struct waiter *thread);
struct kept *wait_history_of_object(struct wait_history *wait_history,
				    const struct awaited *object);

bool wait_history_is_longer(const struct wait *a, const struct wait *b);

/* What a part has in common with another stretch; how long it is; how much of it someone had the object. */
struct part part_common(struct part part, int64_t from_ns, int64_t until_ns);
int64_t part_length(struct part part);
struct part wait_history_part(const struct kept_hold *hold, struct part part);

#endif
