/* SPDX-License-Identifier: MIT */
/*
 * The first pass of txtrace why chooses the thread and the wait to explain.
 *
 * With a time, it is the wait of the thread at this time.  Without a time: if the thread can never continue because of
 * a deadlock, it is its last wait.  Otherwise it is the longest wait for the object that cost the thread most time in
 * all.  Without a thread, it is a thread in a deadlock, or else the thread that waited most.
 */
#ifndef TXTRACE_WAITS_WHY_CHOICE_H
#define TXTRACE_WAITS_WHY_CHOICE_H

#include "trace/source.h"
#include "trace/time_arg.h"
#include "waits/unseen.h"
#include "waits/waits.h"

/* All waits of a thread for one object. */
struct why_cost {
	uint64_t nr; /* 0: none */
	int64_t ns;
	struct wait longest;
};

struct why_choice {
	struct waits waits; /* the pointers in the other members are valid as long as this */
	struct unseen unseen;
	unsigned int context;
	bool has_thread; /* false if no thread waited */
	bool is_found;
	struct wait found;
	struct why_cost cost; /* of the object of this wait; nr is 0 if only this wait is asked for */
	struct wait longest;  /* the longest wait of the thread */

	/* If no wait is found: the last wait before the time, and the last wait with a missing end. */
	bool has_nearest, has_broken;
	struct wait nearest, broken;
};

/*
 * `thread` is the name of a thread, its handle in hex digits, or its tid.  `main` is the main thread, if no thread has
 * this name.  NULL means any thread.  If there is no such thread, or if there are several, print a message and return
 * false.  The caller frees the choice with why_choice_free(), also after a failure.
 */
bool why_choose(struct source *source, const char *thread, const struct time_arg *at,
		struct why_choice *choice);
void why_choice_free(struct why_choice *choice);

#endif
