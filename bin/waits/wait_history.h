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

struct keep {
	struct part all;		 /* while the wait lasted that is asked for, */
	uint64_t number;		 /* which begins with this event */
	unsigned int context;		 /* of this thread */
	struct kept_wait target;	 /* it; without a thread: it has not been met */
	struct map of_thread, of_object; /* by index -> struct kept */
};

/* For a listener of waits_read(), told is the struct keep. */
void keep_wait(void *told, const struct wait *wait);
void keep_hold(void *told, const struct hold *hold, int64_t at_ns);
void keep_free(struct keep *keep);

/* What is kept; never NULL. */
struct kept *keep_of_thread(struct keep *keep, const struct waiter *thread);
struct kept *keep_of_object(struct keep *keep, const struct awaited *object);

bool keep_is_longer(const struct wait *a, const struct wait *b);

/* What a part has in common with another stretch; how long it is; how much of it someone had the object. */
struct part part_common(struct part part, int64_t from_ns, int64_t until_ns);
int64_t part_length(struct part part);
struct part keep_part(const struct kept_hold *hold, struct part part);

#endif
