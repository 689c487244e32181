/* SPDX-License-Identifier: MIT */
/*
 * The second pass of txtrace why: print the wait, the threads that held its object, what these threads waited for, and
 * so on.
 */
#ifndef TXTRACE_WAITS_WHY_CHAIN_H
#define TXTRACE_WAITS_WHY_CHAIN_H

#include "waits/wait_history.h"
#include "waits/why_doubt.h"
#include "waits/why_words.h"

#define WHY_DEPTH 12 /* the longest chain of threads that is printed */

struct why_chain {
	struct why_words to;
	const struct waits *waits;
	struct wait_history history;
	struct why_doubt doubt;

	/* During the output, the waits up to the current wait. */
	const struct kept_wait *chain[WHY_DEPTH];
	unsigned int depth;
};

/* Print the chain of the wait that the history explains. */
void why_chain_print(struct why_chain *why);

/* Print how long the thread waited for the object in all its waits, and which threads held the object. */
void why_chain_print_cost(struct why_chain *why, const struct wait *longest, uint64_t nr, int64_t ns);

/* Print what the thread of the question did in the whole trace, if scheduling records show it. */
void why_chain_print_times(const struct why_chain *why);

/* Print for how long this thread was blocked outside of recorded waits, if this is known. */
void why_chain_print_untraced(const struct why_chain *why, const struct unseen *unseen, unsigned int context);

#endif
